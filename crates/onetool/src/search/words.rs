//! What English does to a query: words that say nothing about a tool, and verbs that mean the same.

use std::collections::HashMap;
use std::sync::LazyLock;

use super::tokenize::tokens;

/// Words that stand in every second request, and what is left of them when an apostrophe splits them.
#[rustfmt::skip]
const STOP_WORDS: &[&str] = &[
    "a", "about", "after", "again", "all", "also", "am", "an", "and", "any", "are", "as", "at", "be", "because",
    "been", "before", "being", "between", "both", "but", "by", "can", "cannot", "could", "d", "did", "do", "does",
    "doing", "don", "during", "each", "few", "for", "from", "further", "give", "given", "had", "has", "have",
    "having", "he", "help", "her", "here", "hers", "herself", "him", "himself", "his", "how", "i", "if", "im", "in",
    "into", "is", "it", "its", "itself", "just", "let", "like", "ll", "m", "may", "me", "might", "more", "most",
    "my", "myself", "need", "needs", "no", "nor", "not", "now", "of", "off", "on", "once", "only", "or", "other",
    "our", "ours", "ourselves", "out", "over", "own", "please", "re", "s", "same", "shall", "she", "should", "so",
    "some", "such", "t", "tell", "than", "that", "the", "their", "theirs", "them", "themselves", "then", "there",
    "these", "they", "this", "those", "through", "to", "too", "under", "until", "up", "us", "ve", "very", "want",
    "was", "we", "were", "what", "when", "where", "which", "while", "who", "whose", "why", "will", "with", "would",
    "you", "your", "yours", "yourself",
];

/// Verbs that users and authors of tools exchange for one another.
const VERBS: &[&str] = &[
    "get fetch read show retrieve obtain load view display access",
    "search find query lookup look discover locate seek explore",
    "create add new make generate insert build register",
    "delete remove drop erase clear destroy purge",
    "update edit set modify change patch alter adjust",
    "list enumerate browse index",
    "send post submit publish deliver share",
    "run execute invoke call start launch trigger",
    "stop cancel end terminate kill abort halt",
    "calculate compute evaluate determine estimate",
    "convert transform translate change",
    "check verify validate test confirm inspect",
    "analyze analyse assess evaluate examine",
    "write save store put",
    "download export pull",
    "upload import push",
    "book reserve schedule order",
    "buy purchase order",
    "summarize summarise summary digest",
    "recommend suggest propose",
    "compare diff",
    "join merge combine",
    "copy duplicate clone",
    "move rename transfer",
    "track monitor watch follow",
    "plan organize organise arrange",
];

/// The groups that each verb is in, by its stem.
static GROUPS: LazyLock<HashMap<String, Vec<String>>> = LazyLock::new(|| {
    let mut groups: HashMap<String, Vec<String>> = HashMap::new();
    for verbs in VERBS {
        let stems: Vec<String> = tokens(verbs).into_iter().map(|token| token.text).collect();
        for stem in &stems {
            let others = stems.iter().filter(|other| *other != stem).cloned();
            groups.entry(stem.clone()).or_default().extend(others);
        }
    }
    groups
});

/// Tells whether a lower-case word says nothing about what is wanted.
pub(super) fn is_stop_word(word: &str) -> bool {
    STOP_WORDS.binary_search(&word).is_ok()
}

/// Returns the stems of verbs that mean about the same as the one with the given stem.
pub(super) fn same_verbs(stem: &str) -> &'static [String] {
    GROUPS.get(stem).map(Vec::as_slice).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stop_words_are_sorted_for_the_binary_search() {
        assert!(STOP_WORDS.is_sorted_by(|a, b| a < b));
    }

    #[test]
    fn a_verb_has_the_others_of_all_its_groups() {
        assert!(["purchas", "book"].iter().all(|verb| same_verbs("order").iter().any(|other| other == verb)));
        assert!(!same_verbs("order").iter().any(|other| other == "order"));
        assert!(same_verbs("weather").is_empty());
        assert!(VERBS.iter().all(|verbs| tokens(verbs).iter().all(|token| !token.is_stop_word)));
    }
}
