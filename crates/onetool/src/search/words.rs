//! What English does to a query: words that say nothing about a tool, and verbs that mean the same.

/// Words that stand in every second request, and what is left of them when an apostrophe splits them.
#[rustfmt::skip]
const STOP_WORDS: &[&str] = &[
    "a", "about", "all", "also", "am", "an", "and", "any", "are", "as", "at", "be", "been", "being", "but", "by",
    "can", "could", "d", "did", "do", "does", "doing", "don", "each", "for", "from", "give", "given", "had", "has",
    "have", "having", "he", "help", "her", "here", "hers", "him", "his", "how", "i", "if", "in", "into", "is", "it",
    "its", "just", "let", "like", "ll", "m", "may", "me", "might", "my", "need", "needs", "no", "not", "of", "on",
    "or", "our", "out", "please", "re", "s", "shall", "she", "should", "so", "some", "such", "t", "tell", "than",
    "that", "the", "their", "them", "then", "there", "these", "they", "this", "those", "to", "too", "us", "ve",
    "very", "want", "was", "we", "were", "what", "when", "where", "which", "while", "who", "whose", "why", "will",
    "with", "would", "you", "your",
];

/// Verbs of tool names that users and authors exchange for one another, stemmed as the index stems them.
const VERBS: &[&[&str]] = &[
    &["get", "fetch", "read", "show", "retriev", "obtain", "load", "view", "display", "access"],
    &["search", "find", "queri", "lookup", "look", "discov", "locat", "seek", "explor"],
    &["creat", "add", "new", "make", "generat", "insert", "build", "regist"],
    &["delet", "remov", "drop", "eras", "clear", "destroy", "purg"],
    &["updat", "edit", "set", "modifi", "chang", "patch", "alter", "adjust"],
    &["list", "enumer", "brows", "index"],
    &["send", "post", "submit", "publish", "deliv", "share"],
    &["run", "execut", "invok", "call", "start", "launch", "trigger"],
    &["stop", "cancel", "end", "termin", "kill", "abort", "halt"],
    &["calcul", "comput", "evalu", "determin", "estim"],
    &["convert", "transform", "translat", "chang"],
    &["check", "verifi", "valid", "test", "confirm", "inspect"],
    &["analyz", "analys", "assess", "evalu", "examin"],
    &["write", "save", "store", "put"],
    &["download", "export", "pull"],
    &["upload", "import", "push"],
    &["book", "reserv", "schedul", "order"],
    &["buy", "purchas", "order"],
    &["summar", "summari", "digest"],
    &["recommend", "suggest", "propos"],
    &["compar", "diff"],
    &["join", "merg", "combin"],
    &["copi", "duplic", "clone"],
    &["move", "renam", "transfer"],
    &["track", "monitor", "watch", "follow"],
    &["plan", "organ", "arrang"],
];

/// Tells whether a lower-case word says nothing about what is wanted.
pub(super) fn is_stop_word(word: &str) -> bool {
    STOP_WORDS.binary_search(&word).is_ok()
}

/// Returns the stems of verbs that mean about the same as the given stem.
pub(super) fn same_verbs(stem: &str) -> impl Iterator<Item = &'static str> {
    VERBS
        .iter()
        .filter(move |group| group.contains(&stem))
        .flat_map(|group| group.iter().copied())
        .filter(move |other| *other != stem)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::search::tokenize::tokens;

    #[test]
    fn stop_words_are_sorted_for_the_binary_search() {
        assert!(STOP_WORDS.is_sorted_by(|a, b| a < b));
    }

    #[test]
    fn verbs_are_written_as_the_index_stems_them() {
        for verb in VERBS.iter().copied().flatten() {
            assert_eq!(tokens(verb).last().map(|token| &*token.text), Some(*verb));
        }
    }
}
