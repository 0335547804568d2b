//! An inverted index: how often each term occurs in each field of each tool.

use std::collections::{BTreeSet, HashMap};
use std::sync::{Arc, OnceLock};

use serde::Serialize;

use crate::document::{Document, MAX_REMEMBERED, Parameters};
use crate::fuzzy::{MIN_LETTERS, Substrings, TermId, Typos, is_one_typo_apart};
use crate::tokenize::{normalize, piece_tokens, pieces};

pub(crate) type DocumentId = u32;

/// Maximum number of cached spellings. The cache saves stemming and does not affect results.
const MAX_SPELLINGS: usize = 1 << 16;

/// How many more letters a stemmer may remove from a word when it is the end of a compound.
const STEMMED_FURTHER: usize = 2;

/// A part of a tool that can contain a term.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Field {
    /// The name inside its pack.
    Name,
    /// The description.
    Description,
    /// The names of its parameters.
    ParameterNames,
    /// The descriptions of its parameters, and the strings that they allow.
    ParameterTexts,
    /// The name and description of its pack.
    Pack,
    /// Keywords and category.
    Keywords,
    /// Earlier queries that led to it.
    Remembered,
}

impl Field {
    /// Returns the field's name for users.
    pub fn label(self) -> &'static str {
        match self {
            Self::Name => "name",
            Self::Description => "description",
            Self::ParameterNames | Self::ParameterTexts => "parameters",
            Self::Pack => "pack",
            Self::Keywords => "keywords",
            Self::Remembered => "earlier searches",
        }
    }
}

pub(crate) const FIELDS: usize = 7;

impl Field {
    pub(crate) const ALL: [Self; FIELDS] = [
        Self::Name,
        Self::Description,
        Self::ParameterNames,
        Self::ParameterTexts,
        Self::Pack,
        Self::Keywords,
        Self::Remembered,
    ];

    /// Returns the weight of the field, and how strongly its length is normalized (BM25's `b`).
    const fn weight(self) -> (f64, f64) {
        match self {
            Self::Name => (2.0, 0.75),
            Self::Description => (1.2, 0.75),
            Self::ParameterNames | Self::ParameterTexts => (0.7, 0.4),
            Self::Pack => (0.4, 0.5),
            Self::Keywords => (1.0, 0.5),
            Self::Remembered => (1.0, 0.6),
        }
    }
}

/// A document that contains a term, and how often each field contains it, up to 255 times.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Posting {
    pub(crate) document: DocumentId,
    pub(crate) counts: [u8; FIELDS],
}

impl Posting {
    /// Returns the term's share in a document's score: its weighted frequency over all fields, saturated.
    pub(crate) fn impact(&self, weights: &Weights) -> f32 {
        saturated(self.counts.iter().zip(weights).map(|(count, weight)| f32::from(*count) * weight).sum())
    }
}

#[derive(Debug, Clone, Default)]
pub(crate) struct Term {
    pub(crate) text: Arc<str>,
    /// Sorted by document.
    pub(crate) postings: Vec<Posting>,
    /// The number of documents whose name contains it.
    names: u32,
}

impl Term {
    pub(crate) fn posting(&self, document: DocumentId) -> Option<&Posting> {
        let at = self.postings.binary_search_by_key(&document, |posting| posting.document).ok()?;
        Some(&self.postings[at])
    }

    fn posting_mut(&mut self, document: DocumentId) -> Option<&mut Posting> {
        let at = self.postings.binary_search_by_key(&document, |posting| posting.document).ok()?;
        Some(&mut self.postings[at])
    }
}

/// An indexed document.
#[derive(Debug, Clone, Default)]
pub(crate) struct IndexedDocument {
    pub(crate) name: Arc<str>,
    /// The number of words in each field.
    lengths: [u32; FIELDS],
    /// All its terms, without duplicates.
    terms: Vec<TermId>,
    /// The terms of its name, without duplicates, in alphabetical order.
    pub(crate) name_terms: Box<[TermId]>,
    /// The words of its name and description, in order.
    words: Box<[TermId]>,
    words_in_name: usize,
}

impl IndexedDocument {
    /// Returns adjacent words with their field.
    pub(crate) fn pairs(&self) -> impl Iterator<Item = (Field, (TermId, TermId))> {
        let (name, description) = self.words.split_at(self.words_in_name);
        let pairs = |words| <[TermId]>::windows(words, 2).map(|pair| (pair[0], pair[1]));
        let in_name = pairs(name).map(|pair| (Field::Name, pair));
        in_name.chain(pairs(description).map(|pair| (Field::Description, pair)))
    }

    fn distinct_pairs(&self) -> Vec<(TermId, TermId)> {
        let mut pairs: Vec<_> = self.pairs().map(|(_, pair)| pair).collect();
        pairs.sort_unstable();
        pairs.dedup();
        pairs
    }
}

/// The weight of a term in each field of a document, normalized by the field's length.
pub(crate) type Weights = [f32; FIELDS];

/// Values derived from field lengths and their averages. Any change to the index invalidates them; the next search
/// computes them again.
#[derive(Debug, Clone)]
struct Derived {
    weights: Vec<Weights>,
    /// By term; computed when a search first uses the term.
    impacts: Vec<OnceLock<Box<[f32]>>>,
}

/// A search index of tools.
///
/// Results depend only on the tools in the index, not on the order in which they were added or on removed ones.
#[derive(Debug, Clone, Default)]
pub struct Index {
    by_name: HashMap<Arc<str>, DocumentId>,
    documents: Vec<IndexedDocument>,
    free_documents: Vec<DocumentId>,
    /// For each field, the number of words, and the number of documents in which it is not empty.
    totals: [(u64, u64); FIELDS],
    by_text: HashMap<Arc<str>, TermId>,
    terms: Vec<Term>,
    free_terms: Vec<TermId>,
    /// The number of documents in which two words are adjacent.
    pairs: HashMap<(TermId, TermId), u32>,
    substrings: Substrings,
    typos: Typos,
    /// A cache of the terms of each spelling, and whether each is a stop word.
    spellings: HashMap<Box<str>, Box<[(TermId, bool)]>>,
    derived: OnceLock<Derived>,
}

impl Index {
    /// Creates an empty index.
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns the number of tools.
    pub fn len(&self) -> usize {
        self.by_name.len()
    }

    /// Returns whether the index has no tools.
    pub fn is_empty(&self) -> bool {
        self.by_name.is_empty()
    }

    /// Returns whether the index has a tool with this name.
    pub fn contains(&self, name: &str) -> bool {
        self.by_name.contains_key(name)
    }

    /// Adds a tool, and replaces one with the same name.
    pub fn insert(&mut self, document: &Document<'_>) {
        self.remove(document.name);
        self.derived.take();
        let id = self.free_documents.pop().unwrap_or_else(|| {
            self.documents.push(IndexedDocument::default());
            last_id(self.documents.len())
        });

        let mut words = Words::default();
        // All tools of a pack would share the pack's words, so they are in a separate field.
        let own_name = document.name.strip_prefix(document.pack).and_then(|rest| rest.strip_prefix('.'));
        self.tokenize(Field::Name, own_name.unwrap_or(document.name), &mut words);
        let words_in_name = words.in_order.len();
        self.tokenize(Field::Description, document.description, &mut words);
        let in_order: Box<[TermId]> = std::mem::take(&mut words.in_order).into();
        let mut add = |field, text: &str| self.tokenize(field, text, &mut words);
        if let Some(schema) = document.input_schema {
            let parameters = Parameters::from_schema(schema);
            parameters.names.iter().for_each(|name| add(Field::ParameterNames, name));
            parameters.texts.iter().for_each(|text| add(Field::ParameterTexts, text));
        }
        add(Field::Pack, document.pack);
        add(Field::Pack, document.pack_description);
        document.keywords.iter().for_each(|keyword| add(Field::Keywords, keyword));
        add(Field::Keywords, document.category.unwrap_or_default());

        let mut name_terms = in_order[..words_in_name].to_vec();
        name_terms.sort_unstable_by_key(|term| &self.terms[*term as usize].text);
        name_terms.dedup();
        let name: Arc<str> = document.name.into();
        self.by_name.insert(Arc::clone(&name), id);
        let indexed = &mut self.documents[id as usize];
        *indexed = IndexedDocument {
            name,
            name_terms: name_terms.into(),
            words: in_order,
            words_in_name,
            ..IndexedDocument::default()
        };
        for pair in indexed.distinct_pairs() {
            *self.pairs.entry(pair).or_default() += 1;
        }
        self.add_postings(id, words);
        self.set_remembered(document.name, document.remembered);
    }

    /// Removes a tool. Returns whether it existed.
    pub fn remove(&mut self, name: &str) -> bool {
        let Some(id) = self.by_name.remove(name) else { return false };
        self.derived.take();
        let removed = std::mem::take(&mut self.documents[id as usize]);
        self.free_documents.push(id);
        for ((words, non_empty), length) in self.totals.iter_mut().zip(removed.lengths) {
            *words -= u64::from(length);
            *non_empty -= u64::from(length > 0);
        }
        for pair in removed.distinct_pairs() {
            if let Some(count) = self.pairs.get_mut(&pair) {
                *count -= 1;
                if *count == 0 {
                    self.pairs.remove(&pair);
                }
            }
        }
        for term in removed.terms {
            self.remove_posting(term, id);
        }
        true
    }

    /// Replaces the remembered queries of a tool, oldest first. Returns whether the tool exists.
    ///
    /// Only the latest [`MAX_REMEMBERED`] count. Queries with the same words count once.
    pub fn set_remembered(&mut self, name: &str, queries: &[String]) -> bool {
        let Some(&id) = self.by_name.get(name) else { return false };
        let field = Field::Remembered as usize;
        let old_length = std::mem::take(&mut self.documents[id as usize].lengths[field]);
        if old_length == 0 && queries.is_empty() {
            return true;
        }
        self.derived.take();
        self.totals[field].0 -= u64::from(old_length);
        self.totals[field].1 -= u64::from(old_length > 0);
        let mut terms = std::mem::take(&mut self.documents[id as usize].terms);
        terms.retain(|term| {
            let is_kept = self.terms[*term as usize].posting_mut(id).is_some_and(|posting| {
                posting.counts[field] = 0;
                posting.counts != [0; FIELDS]
            });
            if !is_kept {
                self.remove_posting(*term, id);
            }
            is_kept
        });
        self.documents[id as usize].terms = terms;

        let mut words = Words::default();
        let mut seen = BTreeSet::new();
        for query in queries.iter().rev() {
            if seen.len() == MAX_REMEMBERED {
                break;
            }
            let mut query_words = Words::default();
            self.tokenize(Field::Remembered, query, &mut query_words);
            if seen.insert(query_words.distinct()) {
                words.append(query_words);
            }
        }
        self.add_postings(id, words);
        true
    }

    /// Adds the terms of a text to `words`.
    fn tokenize(&mut self, field: Field, text: &str, words: &mut Words) {
        let text = normalize(text);
        for piece in pieces(&text) {
            if let Some(terms) = self.spellings.get(piece) {
                words.push(field, terms);
            } else {
                let terms = self.terms_of(piece);
                words.push(field, &terms);
                self.spellings.insert(piece.into(), terms);
            }
        }
    }

    fn terms_of(&mut self, piece: &str) -> Box<[(TermId, bool)]> {
        if self.spellings.len() >= MAX_SPELLINGS {
            self.spellings.clear();
        }
        let mut tokens = Vec::new();
        piece_tokens(piece, &mut tokens);
        tokens.into_iter().map(|token| (self.intern(&token.text), token.is_stop_word)).collect()
    }

    fn intern(&mut self, text: &str) -> TermId {
        if let Some(term) = self.by_text.get(text) {
            return *term;
        }
        let text: Arc<str> = text.into();
        let term = self.free_terms.pop().unwrap_or_else(|| {
            self.terms.push(Term::default());
            last_id(self.terms.len())
        });
        self.terms[term as usize].text = Arc::clone(&text);
        self.by_text.insert(text, term);
        term
    }

    /// Adds the words of a document to the index.
    fn add_postings(&mut self, id: DocumentId, mut words: Words) {
        let document = &mut self.documents[id as usize];
        for (field, length) in words.lengths.into_iter().enumerate() {
            document.lengths[field] += length;
            self.totals[field].0 += u64::from(length);
            self.totals[field].1 += u64::from(length > 0);
        }
        words.found.sort_unstable();
        for occurrences in words.found.chunk_by(|(left, _), (right, _)| left == right) {
            let term = occurrences[0].0;
            let is_in_name = occurrences[0].1 == Field::Name;
            let entry = &mut self.terms[term as usize];
            if entry.postings.is_empty() {
                self.typos.insert(&entry.text, term);
            }
            if is_in_name {
                if entry.names == 0 {
                    self.substrings.insert(&entry.text, term);
                }
                entry.names += 1;
            }
            // New documents usually come last, and searching a long list is slow.
            let is_last = entry.postings.last().is_none_or(|last| last.document < id);
            let at = if is_last {
                entry.postings.len()
            } else {
                entry.postings.partition_point(|posting| posting.document < id)
            };
            if entry.postings.get(at).is_none_or(|posting| posting.document != id) {
                entry.postings.insert(at, Posting { document: id, counts: [0; FIELDS] });
                document.terms.push(term);
            }
            let counts = &mut entry.postings[at].counts;
            for (_, field) in occurrences {
                let count = &mut counts[*field as usize];
                *count = count.saturating_add(1);
            }
        }
    }

    /// Removes a document from a term's postings, and the term when it has none left.
    fn remove_posting(&mut self, term: TermId, id: DocumentId) {
        let entry = &mut self.terms[term as usize];
        let Ok(at) = entry.postings.binary_search_by_key(&id, |posting| posting.document) else { return };
        let posting = entry.postings.remove(at);
        if posting.counts[Field::Name as usize] > 0 {
            entry.names -= 1;
            if entry.names == 0 {
                self.substrings.remove(&entry.text, term);
            }
        }
        if entry.postings.is_empty() {
            self.typos.remove(&entry.text, term);
            self.by_text.remove(&entry.text);
            *entry = Term::default();
            self.free_terms.push(term);
            // The cache may contain the removed term.
            self.spellings.clear();
        }
    }

    pub(crate) fn term(&self, term: TermId) -> &Term {
        &self.terms[term as usize]
    }

    /// Returns a term that at least one tool has.
    pub(crate) fn find_term(&self, text: &str) -> Option<TermId> {
        self.by_text.get(text).copied().filter(|term| !self.term(*term).postings.is_empty())
    }

    pub(crate) fn document(&self, id: DocumentId) -> &IndexedDocument {
        &self.documents[id as usize]
    }

    /// Returns an exclusive upper bound of document ids.
    pub(crate) fn document_bound(&self) -> usize {
        self.documents.len()
    }

    /// Returns the terms of names that contain the stem `part` and are longer than it.
    ///
    /// The end of a longer word may be stemmed further than that of a shorter one: `weather` is unchanged, but
    /// `getweather` becomes `getweath`.
    pub(crate) fn name_terms_with<'a>(&'a self, part: &'a str) -> impl Iterator<Item = TermId> + 'a {
        let letters = part.chars().count();
        let shortest = letters.saturating_sub(STEMMED_FURTHER).max(MIN_LETTERS + 1).min(letters);
        let prefix = |count: usize| part.char_indices().nth(count).map_or(part, |(end, _)| &part[..end]);
        let prefixes: Vec<&str> = (shortest..letters).map(prefix).collect();
        let contains = move |text: &str| {
            text.contains(part) && text.len() > part.len()
                || prefixes.iter().any(|prefix| text.ends_with(prefix) && text.len() > prefix.len())
        };
        let candidates = self.substrings.candidates(prefix(shortest));
        candidates.iter().copied().filter(move |term| contains(&self.term(*term).text))
    }

    /// Returns the terms that are one typo away from `word`, possibly with duplicates.
    pub(crate) fn terms_near(&self, word: &str) -> impl Iterator<Item = TermId> {
        self.typos.candidates(word).filter(move |term| is_one_typo_apart(&self.term(*term).text, word))
    }

    pub(crate) fn idf(&self, term: TermId) -> f64 {
        self.idf_for(self.term(term).postings.len())
    }

    pub(crate) fn pair_idf(&self, pair: (TermId, TermId)) -> f64 {
        self.idf_for(self.pairs.get(&pair).copied().unwrap_or_default() as usize)
    }

    #[expect(clippy::cast_precision_loss, reason = "counts of documents are far below 2^52")]
    fn idf_for(&self, documents: usize) -> f64 {
        let (all, containing) = (self.len() as f64, documents as f64);
        (1.0 + (all - containing + 0.5) / (containing + 0.5)).ln()
    }

    /// Returns the weights of a document's fields.
    pub(crate) fn weights(&self, id: DocumentId) -> &Weights {
        &self.derived().weights[id as usize]
    }

    /// Returns the impact of a term in each document that contains it, in the order of its postings.
    pub(crate) fn impacts(&self, term: TermId) -> &[f32] {
        let derived = self.derived();
        derived.impacts[term as usize].get_or_init(|| {
            let impact = |posting: &Posting| posting.impact(&derived.weights[posting.document as usize]);
            self.term(term).postings.iter().map(impact).collect()
        })
    }

    fn derived(&self) -> &Derived {
        self.derived.get_or_init(|| Derived {
            weights: self.documents.iter().map(|document| self.weigh(document)).collect(),
            impacts: vec![OnceLock::new(); self.terms.len()],
        })
    }

    fn weigh(&self, document: &IndexedDocument) -> Weights {
        Field::ALL.map(|field| {
            let (weight, by_length) = field.weight();
            let (words, non_empty) = self.totals[field as usize];
            if words == 0 {
                return 0.0;
            }
            // The average over tools that have the field: few have keywords, which does not make theirs long.
            #[expect(clippy::cast_precision_loss, reason = "far below 2^52")]
            let average = words as f64 / non_empty as f64;
            let length = f64::from(document.lengths[field as usize]);
            #[expect(clippy::cast_possible_truncation, reason = "seven digits rank as well as sixteen")]
            let weight = (weight / (1.0 - by_length + by_length * length / average)) as f32;
            weight
        })
    }
}

/// How fast repeated occurrences of a term lose weight (BM25's `k1`).
const SATURATION: f32 = 1.0;

/// Dampens a frequency, so that each further occurrence counts less.
pub(crate) fn saturated(frequency: f32) -> f32 {
    frequency * (SATURATION + 1.0) / (frequency + SATURATION)
}

/// The words of a document that are not in the index yet.
#[derive(Default)]
struct Words {
    found: Vec<(TermId, Field)>,
    in_order: Vec<TermId>,
    lengths: [u32; FIELDS],
}

impl Words {
    /// Adds terms, each with a flag for stop words.
    ///
    /// Stop words of names are indexed for queries that contain nothing else. They do not count in lengths or pairs.
    fn push(&mut self, field: Field, terms: &[(TermId, bool)]) {
        for &(term, is_stop_word) in terms {
            if !is_stop_word {
                self.lengths[field as usize] += 1;
                self.in_order.push(term);
            }
            if !is_stop_word || field == Field::Name {
                self.found.push((term, field));
            }
        }
    }

    fn append(&mut self, other: Self) {
        self.found.extend(other.found);
        self.lengths.iter_mut().zip(other.lengths).for_each(|(length, more)| *length += more);
    }

    fn distinct(&self) -> BTreeSet<TermId> {
        self.found.iter().map(|(term, _)| *term).collect()
    }
}

/// Returns the id of the last of `count` items.
fn last_id(count: usize) -> u32 {
    u32::try_from(count - 1).expect("invariant: four billion tools or words do not fit into memory")
}
