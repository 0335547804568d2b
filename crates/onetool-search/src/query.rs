//! A query as the index understands it: its terms, what else may be meant by them, and its segments.

use std::collections::{BTreeMap, HashMap};
use std::ops::Range;

use serde::Serialize;

use crate::fuzzy::{SHORTEST, TermId};
use crate::index::Index;
use crate::tokenize::{Token, tokens};
use crate::verbs::same_verbs;

/// What makes a term part of a query.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum MatchKind {
    /// The query has it.
    Exact,
    /// The query has another verb of the same meaning.
    Verb,
    /// It contains a word of the query.
    Substring,
    /// No tool has the query's word, and this is one slip of the keyboard away.
    Typo,
}

/// A longer query is read up to here; what a user wants is said by then.
const BYTES_MAX: usize = 16 * 1024;
const TOKENS_MAX: usize = 256;
const SEGMENTS_MAX: usize = 16;
/// A segment of fewer words says too little alone.
const SEGMENT_MIN: usize = 2;
/// How many words that contain the query's word count, shortest first.
const SUBSTRINGS_MAX: usize = 64;
/// How many words a mistyped one may have been meant for, in alphabetical order.
const TYPOS_MAX: usize = 16;

const VERB_WEIGHT: f64 = 0.25;
const SUBSTRING_WEIGHT: f64 = 0.3;
const TYPO_WEIGHT: f64 = 0.5;
/// Numbers, and words of a URL, path or mail address, are what a tool is to be used on, hardly which tool: each counts
/// as so much of a word.
const VALUE_WEIGHT: f64 = 0.3;

/// One term of the sum that ranks a tool.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Wanted {
    pub(crate) term: TermId,
    pub(crate) weight: f64,
    pub(crate) idf: f64,
    pub(crate) kind: MatchKind,
}

/// What a query, or a segment of it, asks for.
#[derive(Debug)]
pub(crate) struct Plan {
    /// In alphabetical order of terms: sums come out the same, however the index grew.
    pub(crate) wanted: Vec<Wanted>,
    /// The same, to look a term up.
    pub(crate) weights: HashMap<TermId, f64>,
    /// Words that stand side by side and where in the query, sorted, each pair once.
    pairs: Vec<((TermId, TermId), usize)>,
}

impl Plan {
    /// Returns where in the query two words stand side by side.
    pub(crate) fn place_of(&self, pair: (TermId, TermId)) -> Option<usize> {
        let at = self.pairs.binary_search_by_key(&pair, |(pair, _)| *pair).ok()?;
        Some(self.pairs[at].1)
    }
}

/// A word of a query that says something about what is wanted.
struct Word {
    token: Token,
    /// How much it says.
    weight: f64,
}

/// What a word may mean: a term, how likely it is meant, and why.
type Meaning = (TermId, f64, MatchKind);

/// Plans a query as a whole, and its segments if it has several.
pub(crate) fn plans(index: &Index, query: &str) -> (Plan, Vec<Plan>) {
    let (words, segments) = read(query);
    let mut meanings: HashMap<&str, Vec<Meaning>> = HashMap::new();
    for Word { token, .. } in &words {
        meanings.entry(&token.text).or_insert_with(|| meanings_of(index, token));
    }
    let plan = |words: &[Word]| plan(index, words, &meanings);
    (plan(&words), segments.into_iter().map(|segment| plan(&words[segment])).collect())
}

fn plan(index: &Index, words: &[Word], meanings: &HashMap<&str, Vec<Meaning>>) -> Plan {
    let mut counts: BTreeMap<&str, f64> = BTreeMap::new();
    for Word { token, weight } in words {
        *counts.entry(&token.text).or_default() += weight;
    }
    let mut wanted: BTreeMap<&str, Wanted> = BTreeMap::new();
    for (word, count) in counts {
        for &(term, likely, kind) in meanings.get(word).into_iter().flatten() {
            // A word that is said again counts more; what it may mean otherwise does not.
            let said = if kind == MatchKind::Exact { count * 1.5 / (count + 0.5) } else { count.min(1.0) };
            let new = Wanted { term, weight: likely * said, idf: index.idf(term), kind };
            let known = wanted.entry(&index.term(term).text).or_insert(new);
            if (new.weight, known.kind) > (known.weight, new.kind) {
                *known = new;
            }
        }
    }
    let wanted: Vec<Wanted> = wanted.into_values().collect();
    let mut pairs = Vec::new();
    for (at, pair) in words.windows(2).enumerate() {
        let term = |word: &Word| index.find_term(&word.token.text);
        if let (Some(left), Some(right)) = (term(&pair[0]), term(&pair[1])) {
            pairs.push(((left, right), at));
        }
    }
    pairs.sort_unstable();
    pairs.dedup_by_key(|(pair, _)| *pair);
    Plan { weights: wanted.iter().map(|it| (it.term, it.weight)).collect(), wanted, pairs }
}

fn meanings_of(index: &Index, token: &Token) -> Vec<Meaning> {
    let word = &*token.text;
    let exact = index.find_term(word);
    let mut meanings: Vec<Meaning> = exact.map(|term| (term, 1.0, MatchKind::Exact)).into_iter().collect();
    let verbs = same_verbs(word).iter().filter_map(|verb| index.find_term(verb));
    meanings.extend(verbs.map(|term| (term, VERB_WEIGHT, MatchKind::Verb)));
    if word.chars().take_while(|c| c.is_alphabetic()).take(SHORTEST).count() < SHORTEST {
        return meanings;
    }
    let text = |term: &TermId| &*index.term(*term).text;
    let mut containing: Vec<TermId> = index.name_terms_with(word).collect();
    containing.sort_unstable_by_key(|term| (text(term).len(), text(term)));
    let containing = containing.into_iter().take(SUBSTRINGS_MAX);
    meanings.extend(containing.map(|term| (term, SUBSTRING_WEIGHT, MatchKind::Substring)));
    if exact.is_none() {
        // The slip may be in the ending that the stemmer would have known.
        let mut near: Vec<TermId> = index.terms_near(word).chain(index.terms_near(&token.word)).collect();
        near.sort_unstable_by_key(text);
        near.dedup();
        let near = near.into_iter().take(TYPOS_MAX);
        meanings.extend(near.map(|term| (term, TYPO_WEIGHT, MatchKind::Typo)));
    }
    meanings
}

/// Splits a query into words that say something, and those into segments if there are two or more.
fn read(query: &str) -> (Vec<Word>, Vec<Range<usize>>) {
    let segments = segments(&query[..query.floor_char_boundary(BYTES_MAX)]);
    // A query of nothing but stop words means them.
    let only_stop_words = segments.iter().flatten().all(|word| word.token.is_stop_word);
    let mut words = Vec::new();
    let mut ranges = Vec::new();
    for segment in segments {
        let start = words.len();
        let kept = segment.into_iter().filter(|word| only_stop_words || !word.token.is_stop_word);
        words.extend(kept.take(TOKENS_MAX - start));
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

/// Splits a text at the ends of sentences, and where something else is to be done.
fn segments(text: &str) -> Vec<Vec<Word>> {
    let mut segments = Vec::new();
    for line in text.split(['\n', ';', '。', '！', '？']) {
        let mut segment = Vec::new();
        for spelled in line.split_whitespace() {
            let plain = spelled.trim_matches(|c: char| !c.is_alphanumeric());
            if ["then", "also", "finally", "next"].iter().any(|word| plain.eq_ignore_ascii_case(word)) {
                segments.push(std::mem::take(&mut segment));
            }
            let is_address = is_address(spelled);
            segment.extend(tokens(spelled).into_iter().map(|token| {
                let is_value = is_address || token.text.chars().all(char::is_numeric);
                Word { token, weight: if is_value { VALUE_WEIGHT } else { 1.0 } }
            }));
            if spelled.trim_end_matches(['"', '\'', ')', '”', '’']).ends_with(['.', '!', '?']) {
                segments.push(std::mem::take(&mut segment));
            }
        }
        segments.push(segment);
    }
    segments
}

fn is_address(word: &str) -> bool {
    let word = word.trim_start_matches(|c: char| c.is_ascii_punctuation() && !"/~.@".contains(c));
    let starts = ["/", "~/", "./", "../", "www."].iter().any(|start| word.starts_with(start));
    starts || word.contains("://") || word.contains('@')
}
