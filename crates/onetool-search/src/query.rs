//! Query planning: a query's terms, their expansions, and its segments.

use std::collections::{BTreeMap, HashMap};
use std::ops::Range;

use serde::Serialize;

use crate::fuzzy::{MIN_LETTERS, TermId};
use crate::index::Index;
use crate::tokenize::{Token, tokens};
use crate::verbs::same_verbs;

/// Why a term matches a query.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum MatchKind {
    /// The query contains the term.
    Exact,
    /// The query contains another verb of the same meaning.
    Verb,
    /// The term contains a word of the query.
    Substring,
    /// The term is one typo away from a word of the query that no tool has.
    Typo,
}

/// Limits of a query; the rest of a longer one is ignored.
const MAX_BYTES: usize = 16 * 1024;
const MAX_TOKENS: usize = 256;
const MAX_SEGMENTS: usize = 16;
/// Minimum number of words in a segment; fewer are not specific enough.
const MIN_SEGMENT_WORDS: usize = 2;
/// Maximum number of terms that contain a word of the query, shortest first.
const MAX_SUBSTRINGS: usize = 64;
/// Maximum number of corrections of a misspelled word, in alphabetical order.
const MAX_TYPOS: usize = 16;

const VERB_WEIGHT: f64 = 0.25;
const SUBSTRING_WEIGHT: f64 = 0.3;
const TYPO_WEIGHT: f64 = 0.5;
/// The weight of numbers and of words in URLs, paths and email addresses. They are usually input for a tool and say
/// little about which tool to use.
const VALUE_WEIGHT: f64 = 0.3;

/// A term of a query, with its weight.
#[derive(Debug, Clone, Copy)]
pub(crate) struct QueryTerm {
    pub(crate) term: TermId,
    pub(crate) weight: f64,
    pub(crate) idf: f64,
    pub(crate) kind: MatchKind,
}

/// The terms of a query, or of a segment of it.
#[derive(Debug)]
pub(crate) struct Plan {
    /// In alphabetical order, so that sums do not depend on the order in which tools were added.
    pub(crate) terms: Vec<QueryTerm>,
    /// The weights of the same terms, for lookup.
    pub(crate) weights: HashMap<TermId, f64>,
    /// Adjacent words with their position in the query, sorted and without duplicates.
    pairs: Vec<((TermId, TermId), usize)>,
}

impl Plan {
    /// Returns the position in the query where two words are adjacent.
    pub(crate) fn position_of(&self, pair: (TermId, TermId)) -> Option<usize> {
        let at = self.pairs.binary_search_by_key(&pair, |(pair, _)| *pair).ok()?;
        Some(self.pairs[at].1)
    }
}

/// A word of a query, with its weight.
struct Word {
    token: Token,
    weight: f64,
}

/// A term that a word of the query matches, its weight, and why it matches.
type Expansion = (TermId, f64, MatchKind);

/// Plans a query as a whole, and each of its segments if there are several.
pub(crate) fn plans(index: &Index, query: &str) -> (Plan, Vec<Plan>) {
    let (words, segments) = parse(query);
    let mut expansions: HashMap<&str, Vec<Expansion>> = HashMap::new();
    for Word { token, .. } in &words {
        expansions.entry(&token.text).or_insert_with(|| expand(index, token));
    }
    let plan = |words: &[Word]| plan(index, words, &expansions);
    (plan(&words), segments.into_iter().map(|segment| plan(&words[segment])).collect())
}

fn plan(index: &Index, words: &[Word], expansions: &HashMap<&str, Vec<Expansion>>) -> Plan {
    let mut counts: BTreeMap<&str, f64> = BTreeMap::new();
    for Word { token, weight } in words {
        *counts.entry(&token.text).or_default() += weight;
    }
    let mut terms: BTreeMap<&str, QueryTerm> = BTreeMap::new();
    for (word, count) in counts {
        for &(term, weight, kind) in expansions.get(word).into_iter().flatten() {
            // A repeated word counts more; its expansions do not.
            let repeated =
                if kind == MatchKind::Exact { count * 1.5 / (count + 0.5) } else { count.min(1.0) };
            let new = QueryTerm { term, weight: weight * repeated, idf: index.idf(term), kind };
            let known = terms.entry(&index.term(term).text).or_insert(new);
            if (new.weight, known.kind) > (known.weight, new.kind) {
                *known = new;
            }
        }
    }
    let terms: Vec<QueryTerm> = terms.into_values().collect();
    let mut pairs = Vec::new();
    for (at, pair) in words.windows(2).enumerate() {
        let term = |word: &Word| index.find_term(&word.token.text);
        if let (Some(left), Some(right)) = (term(&pair[0]), term(&pair[1])) {
            pairs.push(((left, right), at));
        }
    }
    pairs.sort_unstable();
    pairs.dedup_by_key(|(pair, _)| *pair);
    Plan { weights: terms.iter().map(|it| (it.term, it.weight)).collect(), terms, pairs }
}

fn expand(index: &Index, token: &Token) -> Vec<Expansion> {
    let word = &*token.text;
    let exact = index.find_term(word);
    let mut expansions: Vec<Expansion> =
        exact.map(|term| (term, 1.0, MatchKind::Exact)).into_iter().collect();
    let verbs = same_verbs(word).iter().filter_map(|verb| index.find_term(verb));
    expansions.extend(verbs.map(|term| (term, VERB_WEIGHT, MatchKind::Verb)));
    if word.chars().take_while(|c| c.is_alphabetic()).take(MIN_LETTERS).count() < MIN_LETTERS {
        return expansions;
    }
    let text = |term: &TermId| &*index.term(*term).text;
    let mut containing: Vec<TermId> = index.name_terms_with(word).collect();
    containing.sort_unstable_by_key(|term| (text(term).len(), text(term)));
    let containing = containing.into_iter().take(MAX_SUBSTRINGS);
    expansions.extend(containing.map(|term| (term, SUBSTRING_WEIGHT, MatchKind::Substring)));
    if exact.is_none() {
        // Also check the whole word: a typo in its ending may have misled the stemmer.
        let mut near: Vec<TermId> = index.terms_near(word).chain(index.terms_near(&token.word)).collect();
        near.sort_unstable_by_key(text);
        near.dedup();
        let near = near.into_iter().take(MAX_TYPOS);
        expansions.extend(near.map(|term| (term, TYPO_WEIGHT, MatchKind::Typo)));
    }
    expansions
}

/// Splits a query into words without stop words, and into segments of those if there are at least two.
fn parse(query: &str) -> (Vec<Word>, Vec<Range<usize>>) {
    let segments = segments(&query[..query.floor_char_boundary(MAX_BYTES)]);
    // If a query has only stop words, search for them.
    let only_stop_words = segments.iter().flatten().all(|word| word.token.is_stop_word);
    let mut words = Vec::new();
    let mut ranges = Vec::new();
    for segment in segments {
        let start = words.len();
        let kept = segment.into_iter().filter(|word| only_stop_words || !word.token.is_stop_word);
        words.extend(kept.take(MAX_TOKENS - start));
        if words.len() >= start + MIN_SEGMENT_WORDS {
            ranges.push(start..words.len());
        }
    }
    ranges.truncate(MAX_SEGMENTS);
    if ranges.len() < 2 {
        ranges.clear();
    }
    (words, ranges)
}

/// Splits a text at the ends of sentences, and before words such as `then` that introduce another step.
fn segments(text: &str) -> Vec<Vec<Word>> {
    let mut segments = Vec::new();
    for line in text.split(['\n', ';', '。', '！', '？']) {
        let mut segment = Vec::new();
        for chunk in line.split_whitespace() {
            let plain = chunk.trim_matches(|c: char| !c.is_alphanumeric());
            if ["then", "also", "finally", "next"].iter().any(|word| plain.eq_ignore_ascii_case(word)) {
                segments.push(std::mem::take(&mut segment));
            }
            let is_address = is_address(chunk);
            segment.extend(tokens(chunk).into_iter().map(|token| {
                let is_value = is_address || token.text.chars().all(char::is_numeric);
                Word { token, weight: if is_value { VALUE_WEIGHT } else { 1.0 } }
            }));
            if chunk.trim_end_matches(['"', '\'', ')', '”', '’']).ends_with(['.', '!', '?']) {
                segments.push(std::mem::take(&mut segment));
            }
        }
        segments.push(segment);
    }
    segments
}

/// Returns whether a word is a URL, a path or an email address.
fn is_address(word: &str) -> bool {
    let word = word.trim_start_matches(|c: char| c.is_ascii_punctuation() && !"/~.@".contains(c));
    let starts = ["/", "~/", "./", "../", "www."].iter().any(|start| word.starts_with(start));
    starts || word.contains("://") || word.contains('@')
}
