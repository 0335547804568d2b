//! Which tools fit a query best, and why.

use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::sync::Arc;

use serde::Serialize;

use crate::index::{DocumentId, Field, Index, saturated};
use crate::query::{MatchKind, Plan, plans};

/// So many of the best are looked at more closely.
const CLOSER: usize = 200;
const NAME_BONUS: f64 = 0.3;
const PHRASE_BONUS: f64 = 0.2;
const SEGMENT_BONUS: f64 = 0.5;

/// A tool that fits a query.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Hit {
    /// The canonical name.
    pub name: Arc<str>,
    /// How well it fits; above zero, and comparable only within one answer.
    pub score: f64,
    /// What the score is the sum of.
    pub explanation: Explanation,
}

/// The parts of a score.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Explanation {
    /// TF-IDF of each term, largest part first.
    pub terms: Vec<Match>,
    /// For a name of which the query has much.
    pub name: f64,
    /// For words that stand side by side in the query and in the tool.
    pub phrases: f64,
    /// For fitting one sentence of the query well.
    pub segment: f64,
}

/// A term that the query and a tool have in common.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Match {
    /// The term, stemmed.
    pub term: Arc<str>,
    /// What made it part of the query.
    pub kind: MatchKind,
    /// Where in the tool it counts most.
    pub field: Field,
    /// Its part of the score.
    pub part: f64,
}

impl Index {
    /// Returns the tools that fit a query, best first, at most `limit` of them; equal ones by name.
    pub fn search(&self, query: &str, limit: usize) -> Vec<Hit> {
        if limit == 0 {
            return Vec::new();
        }
        let (plan, segments) = plans(self, query);
        let scores = self.scores(&plan);
        let mut ranked = self.best(&scores, limit.max(CLOSER));
        let close = ranked.len().min(CLOSER);
        let mut closer: Vec<Closer> =
            ranked[..close].iter().map(|id| self.look_closer(&plan, *id, scores[*id as usize])).collect();
        self.add_segments(&segments, &mut closer);
        closer.sort_by(|a, b| self.better((a.document, a.score()), (b.document, b.score())));
        let rest = ranked.split_off(close).into_iter().map(|id| Closer::new(id, scores[id as usize]));
        closer.into_iter().chain(rest).take(limit).map(|closer| self.hit(&plan, &closer)).collect()
    }

    /// Sums up TF-IDF for every document.
    fn scores(&self, plan: &Plan) -> Vec<f64> {
        let mut scores = vec![0.0; self.document_bound()];
        for wanted in &plan.wanted {
            let factor = wanted.weight * wanted.idf;
            for (posting, impact) in self.term(wanted.term).postings.iter().zip(self.impacts(wanted.term)) {
                scores[posting.document as usize] += factor * f64::from(*impact);
            }
        }
        scores
    }

    /// Returns the documents that score above zero, best first, at most `limit`.
    fn best(&self, scores: &[f64], limit: usize) -> Vec<DocumentId> {
        let mut found: Vec<(DocumentId, f64)> =
            (0..).zip(scores.iter().copied()).filter(|(_, score)| *score > 0.0).collect();
        if found.len() > limit {
            found.select_nth_unstable_by(limit, |a, b| self.better(*a, *b));
            found.truncate(limit);
        }
        found.sort_unstable_by(|a, b| self.better(*a, *b));
        found.into_iter().map(|(document, _)| document).collect()
    }

    fn better(&self, left: (DocumentId, f64), right: (DocumentId, f64)) -> Ordering {
        let name = |id: DocumentId| &self.document(id).name;
        right.1.total_cmp(&left.1).then_with(|| name(left.0).cmp(name(right.0)))
    }

    /// Adds what only few documents are worth the time for: how much of the name is asked for, and phrases.
    fn look_closer(&self, plan: &Plan, document: DocumentId, terms: f64) -> Closer {
        let stored = self.document(document);
        let (mut asked, mut all) = (0.0, 0.0);
        for term in &stored.name_terms {
            let idf = self.idf(*term);
            all += idf;
            asked += plan.weights.get(term).map_or(0.0, |weight| weight.min(1.0) * idf);
        }
        let name = if all > 0.0 { terms * NAME_BONUS * asked / all } else { 0.0 };
        let mut phrases = 0.0;
        if terms > 0.0 {
            let weights = self.weights(document);
            // By their place in the query, so that the sum is the same every time.
            let mut found: BTreeMap<usize, (f32, f64)> = BTreeMap::new();
            for (field, pair) in stored.pairs() {
                if let Some(at) = plan.place_of(pair) {
                    let (frequency, _) = found.entry(at).or_insert_with(|| (0.0, self.pair_idf(pair)));
                    *frequency += weights[field as usize];
                }
            }
            phrases = found
                .into_values()
                .map(|(frequency, idf)| PHRASE_BONUS * idf * f64::from(saturated(frequency)))
                .sum();
        }
        Closer { document, terms, name, phrases, segment: 0.0 }
    }

    /// Lets a document that fits one sentence of several well catch up with those that fit a little of each.
    fn add_segments(&self, segments: &[Plan], closer: &mut [Closer]) {
        let best = closer.iter().map(Closer::score).fold(0.0, f64::max);
        for plan in segments {
            let scores = self.scores(plan);
            let score = |id: DocumentId| self.look_closer(plan, id, scores[id as usize]).score();
            let best_of_segment = self.best(&scores, CLOSER).into_iter().map(score).fold(0.0, f64::max);
            if best_of_segment > 0.0 {
                for closer in &mut *closer {
                    let bonus = SEGMENT_BONUS * best * score(closer.document) / best_of_segment;
                    closer.segment = closer.segment.max(bonus);
                }
            }
        }
    }

    fn hit(&self, plan: &Plan, closer: &Closer) -> Hit {
        let stored = self.document(closer.document);
        let weights = self.weights(closer.document);
        let mut terms = Vec::new();
        for wanted in &plan.wanted {
            let term = self.term(wanted.term);
            let Some(posting) = term.posting(closer.document) else { continue };
            let share = |field: &Field| f32::from(posting.counts[*field as usize]) * weights[*field as usize];
            let field = Field::ALL.into_iter().rev().max_by(|a, b| share(a).total_cmp(&share(b)));
            terms.push(Match {
                term: Arc::clone(&term.text),
                kind: wanted.kind,
                field: field.unwrap_or(Field::Name),
                part: wanted.weight * wanted.idf * f64::from(posting.impact(weights)),
            });
        }
        terms.sort_by(|a, b| b.part.total_cmp(&a.part));
        let Closer { name, phrases, segment, .. } = *closer;
        let explanation = Explanation { terms, name, phrases, segment };
        Hit { name: Arc::clone(&stored.name), score: closer.score(), explanation }
    }
}

/// A document and the parts of its score.
struct Closer {
    document: DocumentId,
    terms: f64,
    name: f64,
    phrases: f64,
    segment: f64,
}

impl Closer {
    fn new(document: DocumentId, terms: f64) -> Self {
        Self { document, terms, name: 0.0, phrases: 0.0, segment: 0.0 }
    }

    fn score(&self) -> f64 {
        self.terms + self.name + self.phrases + self.segment
    }
}
