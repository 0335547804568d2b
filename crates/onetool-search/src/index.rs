//! The index itself: which term stands how often in which field of which tool, kept exact as tools come and go.

use std::collections::{BTreeSet, HashMap};
use std::sync::{Arc, OnceLock};

use serde::Serialize;

use crate::document::{Document, Parameters, REMEMBERED_MAX};
use crate::fuzzy::{SHORTEST, Substrings, TermId, Typos, is_one_slip};
use crate::tokenize::{normalize, piece_tokens, pieces};

pub(crate) type DocumentId = u32;

/// How many different spellings the index remembers the terms of; it saves stemming and is no part of an answer.
const SPELLINGS_MAX: usize = 1 << 16;

/// How many letters more a stemmer may take from a word when another stands before it.
const STEMMED_FURTHER: usize = 2;

/// A part of a tool that a term can stand in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Field {
    /// The name inside its pack.
    Name,
    /// What the tool says it does.
    Description,
    /// Names of its parameters.
    ParameterNames,
    /// Descriptions of its parameters, and the strings they allow.
    ParameterTexts,
    /// Name and description of its pack.
    Pack,
    /// Keywords and category.
    Keywords,
    /// Queries that led to it before.
    Remembered,
}

impl Field {
    /// Returns what people call it.
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

    /// Returns what a term in this field counts, and how much a long field takes from that.
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

/// One tool that has a term, and how often in each field; more than 255 times counts as 255.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Posting {
    pub(crate) document: DocumentId,
    pub(crate) counts: [u8; FIELDS],
}

impl Posting {
    /// Returns what the term counts in this document: its frequency by field and length, saturated.
    pub(crate) fn impact(&self, weights: &Weights) -> f32 {
        saturated(self.counts.iter().zip(weights).map(|(count, weight)| f32::from(*count) * weight).sum())
    }
}

#[derive(Debug, Clone, Default)]
pub(crate) struct Term {
    pub(crate) text: Arc<str>,
    /// Sorted by document.
    pub(crate) postings: Vec<Posting>,
    /// How many tools have it in their names.
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

/// A tool as it lies in the index.
#[derive(Debug, Clone, Default)]
pub(crate) struct Stored {
    pub(crate) name: Arc<str>,
    /// How many words each field has.
    lengths: [u32; FIELDS],
    /// Every term it has, once.
    terms: Vec<TermId>,
    /// The terms of its name, once each, in alphabetical order.
    pub(crate) name_terms: Box<[TermId]>,
    /// The words of name and description in their order.
    words: Box<[TermId]>,
    words_in_name: usize,
}

impl Stored {
    /// Returns neighbouring words, with the field they stand in.
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

/// What a term in each field of a document counts, after its length is taken into account.
pub(crate) type Weights = [f32; FIELDS];

/// What follows from lengths and averages. Any change of the index changes all of it, so it is made anew when the
/// first search after a change wants it.
#[derive(Debug, Clone)]
struct Derived {
    weights: Vec<Weights>,
    /// By term, each made when a search first has the term.
    impacts: Vec<OnceLock<Box<[f32]>>>,
}

/// An index of tools that can be searched while it is shared, and changed one tool at a time.
///
/// Answers depend on what is in it, not on the order in which that came, nor on what was in it before.
#[derive(Debug, Clone, Default)]
pub struct Index {
    by_name: HashMap<Arc<str>, DocumentId>,
    documents: Vec<Stored>,
    free_documents: Vec<DocumentId>,
    /// Words per field, and documents in which the field is not empty.
    totals: [(u64, u64); FIELDS],
    by_text: HashMap<Arc<str>, TermId>,
    terms: Vec<Term>,
    free_terms: Vec<TermId>,
    /// In how many documents two words stand side by side.
    pairs: HashMap<(TermId, TermId), u32>,
    substrings: Substrings,
    typos: Typos,
    /// Terms of a spelling, and whether each is a stop word.
    spellings: HashMap<Box<str>, Box<[(TermId, bool)]>>,
    derived: OnceLock<Derived>,
}

impl Index {
    /// Makes an empty index.
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns how many tools are in it.
    pub fn len(&self) -> usize {
        self.by_name.len()
    }

    /// Tells whether no tool is in it.
    pub fn is_empty(&self) -> bool {
        self.by_name.is_empty()
    }

    /// Tells whether a tool of this name is in it.
    pub fn contains(&self, name: &str) -> bool {
        self.by_name.contains_key(name)
    }

    /// Adds a tool, in place of the one that has its name.
    pub fn insert(&mut self, document: &Document<'_>) {
        self.remove(document.name);
        self.derived.take();
        let id = self.free_documents.pop().unwrap_or_else(|| {
            self.documents.push(Stored::default());
            last_id(self.documents.len())
        });

        let mut words = Words::default();
        // The pack has a field of its own: every tool of it would share those words.
        let own_name = document.name.strip_prefix(document.pack).and_then(|rest| rest.strip_prefix('.'));
        self.read(Field::Name, own_name.unwrap_or(document.name), &mut words);
        let words_in_name = words.in_order.len();
        self.read(Field::Description, document.description, &mut words);
        let in_order: Box<[TermId]> = std::mem::take(&mut words.in_order).into();
        let mut read = |field, text: &str| self.read(field, text, &mut words);
        if let Some(schema) = document.input_schema {
            let parameters = Parameters::of_schema(schema);
            parameters.names.iter().for_each(|name| read(Field::ParameterNames, name));
            parameters.texts.iter().for_each(|text| read(Field::ParameterTexts, text));
        }
        read(Field::Pack, document.pack);
        read(Field::Pack, document.pack_description);
        document.keywords.iter().for_each(|keyword| read(Field::Keywords, keyword));
        read(Field::Keywords, document.category.unwrap_or_default());

        let mut name_terms = in_order[..words_in_name].to_vec();
        name_terms.sort_unstable_by_key(|term| &self.terms[*term as usize].text);
        name_terms.dedup();
        let name: Arc<str> = document.name.into();
        self.by_name.insert(Arc::clone(&name), id);
        let stored = &mut self.documents[id as usize];
        *stored = Stored {
            name,
            name_terms: name_terms.into(),
            words: in_order,
            words_in_name,
            ..Stored::default()
        };
        for pair in stored.distinct_pairs() {
            *self.pairs.entry(pair).or_default() += 1;
        }
        self.post(id, words);
        self.set_remembered(document.name, document.remembered);
    }

    /// Takes a tool out, and tells whether it was there.
    pub fn remove(&mut self, name: &str) -> bool {
        let Some(id) = self.by_name.remove(name) else { return false };
        self.derived.take();
        let stored = std::mem::take(&mut self.documents[id as usize]);
        self.free_documents.push(id);
        for ((words, filled), length) in self.totals.iter_mut().zip(stored.lengths) {
            *words -= u64::from(length);
            *filled -= u64::from(length > 0);
        }
        for pair in stored.distinct_pairs() {
            if let Some(count) = self.pairs.get_mut(&pair) {
                *count -= 1;
                if *count == 0 {
                    self.pairs.remove(&pair);
                }
            }
        }
        for term in stored.terms {
            self.withdraw(term, id);
        }
        true
    }

    /// Replaces the queries that led to a tool before, oldest first, and tells whether the tool is there.
    ///
    /// The latest [`REMEMBERED_MAX`] count; of two that have the same words, one does.
    pub fn set_remembered(&mut self, name: &str, queries: &[String]) -> bool {
        let Some(&id) = self.by_name.get(name) else { return false };
        let field = Field::Remembered as usize;
        let had = std::mem::take(&mut self.documents[id as usize].lengths[field]);
        if had == 0 && queries.is_empty() {
            return true;
        }
        self.derived.take();
        self.totals[field].0 -= u64::from(had);
        self.totals[field].1 -= u64::from(had > 0);
        let mut terms = std::mem::take(&mut self.documents[id as usize].terms);
        terms.retain(|term| {
            let stays = self.terms[*term as usize].posting_mut(id).is_some_and(|posting| {
                posting.counts[field] = 0;
                posting.counts != [0; FIELDS]
            });
            if !stays {
                self.withdraw(*term, id);
            }
            stays
        });
        self.documents[id as usize].terms = terms;

        let mut words = Words::default();
        let mut seen = BTreeSet::new();
        for query in queries.iter().rev() {
            if seen.len() == REMEMBERED_MAX {
                break;
            }
            let mut of_query = Words::default();
            self.read(Field::Remembered, query, &mut of_query);
            if seen.insert(of_query.distinct()) {
                words.append(of_query);
            }
        }
        self.post(id, words);
        true
    }

    /// Reads the terms of a text.
    fn read(&mut self, field: Field, text: &str, words: &mut Words) {
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
        if self.spellings.len() >= SPELLINGS_MAX {
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

    /// Enters what was read of a document.
    fn post(&mut self, id: DocumentId, mut words: Words) {
        let stored = &mut self.documents[id as usize];
        for (field, length) in words.lengths.into_iter().enumerate() {
            stored.lengths[field] += length;
            self.totals[field].0 += u64::from(length);
            self.totals[field].1 += u64::from(length > 0);
        }
        words.found.sort_unstable();
        for of_term in words.found.chunk_by(|(left, _), (right, _)| left == right) {
            let term = of_term[0].0;
            let is_in_name = of_term[0].1 == Field::Name;
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
            // New documents mostly come last, and long lists are slow to search.
            let is_last = entry.postings.last().is_none_or(|last| last.document < id);
            let at = if is_last {
                entry.postings.len()
            } else {
                entry.postings.partition_point(|posting| posting.document < id)
            };
            if entry.postings.get(at).is_none_or(|posting| posting.document != id) {
                entry.postings.insert(at, Posting { document: id, counts: [0; FIELDS] });
                stored.terms.push(term);
            }
            let counts = &mut entry.postings[at].counts;
            for (_, field) in of_term {
                let count = &mut counts[*field as usize];
                *count = count.saturating_add(1);
            }
        }
    }

    /// Takes a document out of a term's postings, and forgets a term that has none left.
    fn withdraw(&mut self, term: TermId, id: DocumentId) {
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
            // They may name the term that is no more.
            self.spellings.clear();
        }
    }

    pub(crate) fn term(&self, term: TermId) -> &Term {
        &self.terms[term as usize]
    }

    /// Finds a term that some tool has.
    pub(crate) fn find_term(&self, text: &str) -> Option<TermId> {
        self.by_text.get(text).copied().filter(|term| !self.term(*term).postings.is_empty())
    }

    pub(crate) fn document(&self, id: DocumentId) -> &Stored {
        &self.documents[id as usize]
    }

    /// Returns one more than the highest document there is.
    pub(crate) fn document_bound(&self) -> usize {
        self.documents.len()
    }

    /// Returns the terms of names that contain the stem `part` and are longer.
    ///
    /// The end of a longer word may be stemmed further than that of a shorter one: `weather` stays as it is, and
    /// `getweather` becomes `getweath`.
    pub(crate) fn name_terms_with<'a>(&'a self, part: &'a str) -> impl Iterator<Item = TermId> + 'a {
        let letters = part.chars().count();
        let shortest = letters.saturating_sub(STEMMED_FURTHER).max(SHORTEST + 1).min(letters);
        let start_of = |count: usize| part.char_indices().nth(count).map_or(part, |(end, _)| &part[..end]);
        let starts: Vec<&str> = (shortest..letters).map(start_of).collect();
        let contains = move |text: &str| {
            text.contains(part) && text.len() > part.len()
                || starts.iter().any(|start| text.ends_with(start) && text.len() > start.len())
        };
        let candidates = self.substrings.candidates(start_of(shortest));
        candidates.iter().copied().filter(move |term| contains(&self.term(*term).text))
    }

    /// Returns the terms that one slip of the keyboard makes of `word`, some of them more than once.
    pub(crate) fn terms_near(&self, word: &str) -> impl Iterator<Item = TermId> {
        self.typos.candidates(word).filter(move |term| is_one_slip(&self.term(*term).text, word))
    }

    pub(crate) fn idf(&self, term: TermId) -> f64 {
        self.idf_of(self.term(term).postings.len())
    }

    pub(crate) fn pair_idf(&self, pair: (TermId, TermId)) -> f64 {
        self.idf_of(self.pairs.get(&pair).copied().unwrap_or_default() as usize)
    }

    #[expect(clippy::cast_precision_loss, reason = "counts of documents are far below 2^52")]
    fn idf_of(&self, documents: usize) -> f64 {
        let (all, having) = (self.len() as f64, documents as f64);
        (1.0 + (all - having + 0.5) / (having + 0.5)).ln()
    }

    /// Returns the weights of a document's fields.
    pub(crate) fn weights(&self, id: DocumentId) -> &Weights {
        &self.derived().weights[id as usize]
    }

    /// Returns what a term counts in each document that has it, in the order of its postings.
    pub(crate) fn impacts(&self, term: TermId) -> &[f32] {
        let derived = self.derived();
        derived.impacts[term as usize].get_or_init(|| {
            let impact = |posting: &Posting| posting.impact(&derived.weights[posting.document as usize]);
            self.term(term).postings.iter().map(impact).collect()
        })
    }

    fn derived(&self) -> &Derived {
        self.derived.get_or_init(|| Derived {
            weights: self.documents.iter().map(|stored| self.weigh(stored)).collect(),
            impacts: vec![OnceLock::new(); self.terms.len()],
        })
    }

    fn weigh(&self, stored: &Stored) -> Weights {
        Field::ALL.map(|field| {
            let (weight, by_length) = field.weight();
            let (words, filled) = self.totals[field as usize];
            if words == 0 {
                return 0.0;
            }
            // Over the tools that have the field at all: few have keywords, and theirs are not long for that.
            #[expect(clippy::cast_precision_loss, reason = "far below 2^52")]
            let average = words as f64 / filled as f64;
            let length = f64::from(stored.lengths[field as usize]);
            #[expect(clippy::cast_possible_truncation, reason = "seven digits rank as well as sixteen")]
            let weight = (weight / (1.0 - by_length + by_length * length / average)) as f32;
            weight
        })
    }
}

/// How soon a term that stands there again stops to count.
const SATURATION: f32 = 1.0;

/// Lets every further time count less than the one before.
pub(crate) fn saturated(frequency: f32) -> f32 {
    frequency * (SATURATION + 1.0) / (frequency + SATURATION)
}

/// What was read of a document and not yet entered.
#[derive(Default)]
struct Words {
    found: Vec<(TermId, Field)>,
    in_order: Vec<TermId>,
    lengths: [u32; FIELDS],
}

impl Words {
    /// Adds terms, each with whether it is a stop word.
    ///
    /// Stop words of names are kept for queries that hold nothing else, but count in no length and no order.
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

/// Returns the place of the last of so many.
fn last_id(count: usize) -> u32 {
    u32::try_from(count - 1).expect("invariant: four billion tools or words do not fit into memory")
}
