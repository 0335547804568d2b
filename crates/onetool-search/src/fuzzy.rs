//! Approximate matches: words that contain a query's word, and words that are one typo away from it.

use std::collections::{BTreeSet, HashMap};
use std::hash::{DefaultHasher, Hash, Hasher};

/// The position of a term in the index.
pub(crate) type TermId = u32;

/// Minimum length of words that are matched approximately; shorter ones occur in, or resemble, too many others.
pub(crate) const MIN_LETTERS: usize = 4;
/// Maximum length of words that are checked for typos, because each letter costs memory.
const MAX_LETTERS: usize = 32;

/// The words of tool names, indexed by their trigrams.
#[derive(Debug, Clone, Default)]
pub(crate) struct Substrings(HashMap<[char; 3], Vec<TermId>>);

impl Substrings {
    pub(crate) fn insert(&mut self, word: &str, term: TermId) {
        for trigram in trigrams(word) {
            let terms = self.0.entry(trigram).or_default();
            if let Err(at) = terms.binary_search(&term) {
                terms.insert(at, term);
            }
        }
    }

    pub(crate) fn remove(&mut self, word: &str, term: TermId) {
        for trigram in trigrams(word) {
            let Some(terms) = self.0.get_mut(&trigram) else { continue };
            if let Ok(at) = terms.binary_search(&term) {
                terms.remove(at);
            }
            if terms.is_empty() {
                self.0.remove(&trigram);
            }
        }
    }

    /// Returns candidates: all terms that contain `part`, and possibly others.
    pub(crate) fn candidates(&self, part: &str) -> &[TermId] {
        let lists = trigrams(part).map(|trigram| self.0.get(&trigram).map_or(&[][..], Vec::as_slice));
        lists.min_by_key(|terms| terms.len()).unwrap_or_default()
    }
}

fn trigrams(word: &str) -> impl Iterator<Item = [char; 3]> {
    let (second, third) = (word.chars().skip(1), word.chars().skip(2));
    word.chars().zip(second).zip(third).map(|((a, b), c)| [a, b, c])
}

/// All words, indexed by their deletions: the word itself, and the word without each of its letters. Two words that
/// differ by one insertion, deletion, substitution or transposition have a deletion in common.
///
/// Deletions are stored as hashes, so candidates still have to be compared.
#[derive(Debug, Clone, Default)]
pub(crate) struct Typos(BTreeSet<(u32, TermId)>);

impl Typos {
    pub(crate) fn insert(&mut self, word: &str, term: TermId) {
        self.0.extend(deletions(word).map(|hash| (hash, term)));
    }

    pub(crate) fn remove(&mut self, word: &str, term: TermId) {
        for hash in deletions(word) {
            self.0.remove(&(hash, term));
        }
    }

    /// Returns terms that may be one typo away from `word`, possibly with duplicates.
    pub(crate) fn candidates(&self, word: &str) -> impl Iterator<Item = TermId> {
        deletions(word).flat_map(|hash| self.0.range((hash, 0)..=(hash, TermId::MAX)).map(|(_, term)| *term))
    }
}

/// Returns the hashes of a word and of the word without each of its letters.
fn deletions(word: &str) -> impl Iterator<Item = u32> {
    let letters = word.chars().count();
    let is_checked = (MIN_LETTERS..=MAX_LETTERS).contains(&letters) && word.chars().all(char::is_alphabetic);
    (0..=letters).filter(move |_| is_checked).map(move |deleted| {
        let mut hasher = DefaultHasher::new();
        word.chars().enumerate().filter(|(at, _)| *at != deleted).for_each(|(_, c)| c.hash(&mut hasher));
        #[expect(clippy::cast_possible_truncation, reason = "half a hash is enough, candidates are compared")]
        let hash = hasher.finish() as u32;
        hash
    })
}

/// Returns whether two words differ by one insertion, deletion, substitution or transposition.
///
/// Words of up to four letters are never typos of each other: `mail` is not a typo of `main`.
pub(crate) fn is_one_typo_apart(left: &str, right: &str) -> bool {
    let (left, right): (Vec<char>, Vec<char>) = (left.chars().collect(), right.chars().collect());
    if left.len().max(right.len()) <= MIN_LETTERS {
        return false;
    }
    let prefix = left.iter().zip(&right).take_while(|(a, b)| a == b).count();
    let (left, right) = (&left[prefix..], &right[prefix..]);
    let suffix = left.iter().rev().zip(right.iter().rev()).take_while(|(a, b)| a == b).count();
    match (&left[..left.len() - suffix], &right[..right.len() - suffix]) {
        ([_], [] | [_]) | ([], [_]) => true,
        ([a, b], [c, d]) => (a, b) == (d, c),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_typo_is_one_change() {
        for (left, right) in [
            ("weather", "wether"),
            ("weather", "weathwr"),
            ("weather", "waether"),
            ("weather", "weathers"),
            ("email", "emal"),
        ] {
            assert!(is_one_typo_apart(left, right) && is_one_typo_apart(right, left), "{left} {right}");
        }
        for (left, right) in
            [("weather", "weather"), ("weather", "wetter"), ("abcde", "badce"), ("mail", "main"), ("", "ab")]
        {
            assert!(!is_one_typo_apart(left, right) && !is_one_typo_apart(right, left), "{left} {right}");
        }
    }

    #[test]
    fn candidates_include_every_word_that_is_one_typo_away() {
        let words = ["weather", "wether", "weatherr", "ewather", "feather", "other"];
        let mut typos = Typos::default();
        (0..).zip(words).for_each(|(term, word)| typos.insert(word, term));
        for typed in words {
            let found: BTreeSet<TermId> = typos.candidates(typed).collect();
            for (term, word) in (0..).zip(words) {
                assert!(!is_one_typo_apart(typed, word) || found.contains(&term), "{typed} {word}");
            }
        }
        (0..).zip(words).for_each(|(term, word)| typos.remove(word, term));
        assert!(typos.0.is_empty());
    }

    #[test]
    fn substrings_are_found_by_their_rarest_trigram() {
        let mut substrings = Substrings::default();
        substrings.insert("getweather", 1);
        substrings.insert("weatherweather", 2);
        substrings.insert("leather", 3);
        assert_eq!(substrings.candidates("weather"), [1, 2]);
        assert!(substrings.candidates("zebra").is_empty());
        assert!(substrings.candidates("").is_empty());
        for (word, term) in [("getweather", 1), ("weatherweather", 2), ("leather", 3)] {
            substrings.remove(word, term);
        }
        assert!(substrings.0.is_empty());
    }
}
