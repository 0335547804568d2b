//! Stop words: words that do not help to tell tools apart.

/// Common words, and the parts of contractions split at the apostrophe.
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

/// Returns whether a lowercase word is a stop word.
pub(crate) fn is_stop_word(word: &str) -> bool {
    STOP_WORDS.binary_search(&word).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stop_words_are_sorted_for_the_binary_search() {
        assert!(STOP_WORDS.is_sorted_by(|a, b| a < b));
    }
}
