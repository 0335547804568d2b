//! A query as the index understands it: its terms, what else may be meant by them, and its parts.

use std::collections::BTreeMap;
use std::ops::Range;

use super::fuzzy::SHORTEST;
use super::index::{Index, TermId};
use super::rank::MatchKind;
use super::tokenize::{Token, tokens};
use super::words::same_verbs;

/// A longer query is read up to here; what a user wants is said by then.
const BYTES_MAX: usize = 16 * 1024;
const TOKENS_MAX: usize = 256;
const SEGMENTS_MAX: usize = 16;
/// A segment of fewer words says too little alone.
const SEGMENT_MIN: usize = 2;
/// How many words that contain the query's word count; a word that is part of more is too common to tell.
const SUBSTRINGS_MAX: usize = 64;

const VERB_WEIGHT: f64 = 0.3;
const SUBSTRING_WEIGHT: f64 = 0.3;
const TYPO_WEIGHT: f64 = 0.7;

/// One term of the sum that ranks a tool.
#[derive(Debug, Clone, Copy)]
pub(super) struct Wanted {
    pub(super) term: TermId,
    pub(super) weight: f64,
    pub(super) idf: f64,
    pub(super) kind: MatchKind,
}

/// What a text, or a part of it, asks for.
#[derive(Debug)]
pub(super) struct Plan {
    /// In alphabetical order of terms: sums come out the same, however the index grew.
    pub(super) wanted: Vec<Wanted>,
    /// Neighbours, each pair once, in their order.
    pub(super) pairs: Vec<(TermId, TermId)>,
}

impl Plan {
    pub(super) fn find(&self, term: TermId) -> Option<&Wanted> {
        self.wanted.iter().find(|wanted| wanted.term == term)
    }
}

/// A query as a whole, and its segments if it has several.
pub(super) fn plans(index: &Index, query: &str) -> (Plan, Vec<Plan>) {
    let (words, segments) = read(query);
    let mut meanings: BTreeMap<&str, Vec<(TermId, f64, MatchKind)>> = BTreeMap::new();
    for word in &words {
        meanings.entry(word).or_insert_with(|| meanings_of(index, word));
    }
    let plan = |words: &[String]| {
        let mut counts: BTreeMap<&str, f64> = BTreeMap::new();
        words.iter().for_each(|word| *counts.entry(word).or_default() += 1.0);
        let mut wanted: BTreeMap<&str, Wanted> = BTreeMap::new();
        for (word, count) in counts {
            for &(term, weight, kind) in &meanings[word] {
                let repeated = if kind == MatchKind::Exact { count * 1.5 / (count + 0.5) } else { 1.0 };
                let new = Wanted { term, weight: weight * repeated, idf: index.idf(term), kind };
                let known = wanted.entry(&index.term(term).text).or_insert(new);
                if (new.weight, known.kind) > (known.weight, new.kind) {
                    *known = new;
                }
            }
        }
        let mut pairs = Vec::new();
        for pair in words.windows(2) {
            let (Some(left), Some(right)) = (index.find_term(&pair[0]), index.find_term(&pair[1])) else {
                continue;
            };
            if !pairs.contains(&(left, right)) {
                pairs.push((left, right));
            }
        }
        Plan { wanted: wanted.into_values().collect(), pairs }
    };
    (plan(&words), segments.into_iter().map(|segment| plan(&words[segment])).collect())
}

/// Returns the terms that a word may mean.
fn meanings_of(index: &Index, word: &str) -> Vec<(TermId, f64, MatchKind)> {
    let exact = index.find_term(word);
    let mut meanings: Vec<_> = exact.map(|term| (term, 1.0, MatchKind::Exact)).into_iter().collect();
    let verbs = same_verbs(word).filter_map(|verb| index.find_term(verb));
    meanings.extend(verbs.map(|term| (term, VERB_WEIGHT, MatchKind::Verb)));
    if word.chars().take(SHORTEST).filter(|c| c.is_alphabetic()).count() < SHORTEST {
        return meanings;
    }
    let mut containing: Vec<TermId> = index.name_terms_with(word).collect();
    let text = |term: &TermId| &index.term(*term).text;
    containing.sort_unstable_by(|a, b| text(a).len().cmp(&text(b).len()).then_with(|| text(a).cmp(text(b))));
    containing.truncate(SUBSTRINGS_MAX);
    meanings.extend(containing.into_iter().map(|term| (term, SUBSTRING_WEIGHT, MatchKind::Substring)));
    if exact.is_none() {
        let near = index.terms_near(word);
        meanings.extend(near.into_iter().map(|term| (term, TYPO_WEIGHT, MatchKind::Typo)));
    }
    meanings
}

/// Splits a query into words that say something, and those into segments if there are two or more.
fn read(query: &str) -> (Vec<String>, Vec<Range<usize>>) {
    let mut end = query.len().min(BYTES_MAX);
    while !query.is_char_boundary(end) {
        end -= 1;
    }
    let mut segments: Vec<Vec<Token>> = vec![Vec::new()];
    for sentence in query[..end].split(['\n', ';', '。', '！', '？']) {
        segments.push(Vec::new());
        for word in sentence.split_whitespace() {
            let plain = word.trim_matches(|c: char| !c.is_alphanumeric()).to_lowercase();
            if matches!(&*plain, "then" | "also" | "finally" | "next") {
                segments.push(Vec::new());
            }
            segments.last_mut().into_iter().for_each(|segment| segment.extend(tokens(word)));
            if word.trim_end_matches(['"', '\'', ')', '”', '’']).ends_with(['.', '!', '?']) {
                segments.push(Vec::new());
            }
        }
    }
    // A query of nothing but stop words means them.
    let only_stop_words = segments.iter().flatten().all(|token| token.is_stop_word);
    let mut words = Vec::new();
    let mut ranges = Vec::new();
    for segment in segments {
        let start = words.len();
        let kept = segment.into_iter().filter(|token| only_stop_words || !token.is_stop_word);
        words.extend(kept.map(|token| token.text).take(TOKENS_MAX - start));
        if words.len() >= start + SEGMENT_MIN {
            ranges.push(start..words.len());
        }
    }
    ranges.truncate(SEGMENTS_MAX);
    if ranges.len() < 2 {
        ranges.clear();
    }
    (words, ranges)
}
