//! Ranking of tools for a query, with explanations.

use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::sync::Arc;

use serde::Serialize;

use crate::index::{DocumentId, Field, Index, saturated};
use crate::query::{MatchKind, Plan, plans};

/// The number of top candidates that get a detailed score.
const MAX_DETAILED: usize = 200;
const NAME_BONUS: f64 = 0.3;
const PHRASE_BONUS: f64 = 0.2;
const SEGMENT_BONUS: f64 = 0.5;

/// A tool that matches a query.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Hit {
    /// The canonical name.
    pub name: Arc<str>,
    /// The relevance, above zero. Comparable only with other hits of the same search.
    pub score: f64,
    /// The parts that add up to the score.
    pub explanation: Explanation,
}

/// The parts of a score.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Explanation {
    /// TF-IDF of each term, largest part first.
    pub terms: Vec<Match>,
    /// A bonus for a name whose words are in the query.
    pub name: f64,
    /// A bonus for words that are adjacent in both the query and the tool.
    pub phrases: f64,
    /// A bonus for matching one sentence of the query well.
    pub segment: f64,
}

/// A term of a tool that matches the query.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Match {
    /// The term, stemmed.
    pub term: Arc<str>,
    /// Why it matches.
    pub kind: MatchKind,
    /// The field where it counts most.
    pub field: Field,
    /// Its part of the score.
    pub part: f64,
}

impl Index {
    /// Returns at most `limit` tools that match a query, best first. Ties are sorted by name.
    pub fn search(&self, query: &str, limit: usize) -> Vec<Hit> {
        if limit == 0 {
            return Vec::new();
        }
        let (plan, segments) = plans(self, query);
        let scores = self.scores(&plan);
        let mut ranked = self.best(&scores, limit.max(MAX_DETAILED));
        let rest = ranked.split_off(ranked.len().min(MAX_DETAILED));
        let mut detailed: Vec<Score> =
            ranked.into_iter().map(|id| self.detailed_score(&plan, id, scores[id as usize])).collect();
        self.add_segment_bonus(&segments, &mut detailed);
        detailed.sort_by(|a, b| self.compare((a.document, a.total()), (b.document, b.total())));
        let rest = rest.into_iter().map(|id| Score::from_terms(id, scores[id as usize]));
        detailed.into_iter().chain(rest).take(limit).map(|score| self.hit(&plan, &score)).collect()
    }

    /// Returns the TF-IDF sum of every document.
    fn scores(&self, plan: &Plan) -> Vec<f64> {
        let mut scores = vec![0.0; self.document_bound()];
        for query_term in &plan.terms {
            let factor = query_term.weight * query_term.idf;
            let postings = &self.term(query_term.term).postings;
            for (posting, impact) in postings.iter().zip(self.impacts(query_term.term)) {
                scores[posting.document as usize] += factor * f64::from(*impact);
            }
        }
        scores
    }

    /// Returns at most `limit` documents that score above zero, best first.
    fn best(&self, scores: &[f64], limit: usize) -> Vec<DocumentId> {
        let mut found: Vec<(DocumentId, f64)> =
            (0..).zip(scores.iter().copied()).filter(|(_, score)| *score > 0.0).collect();
        if found.len() > limit {
            found.select_nth_unstable_by(limit, |a, b| self.compare(*a, *b));
            found.truncate(limit);
        }
        found.sort_unstable_by(|a, b| self.compare(*a, *b));
        found.into_iter().map(|(document, _)| document).collect()
    }

    /// Orders documents by descending score, then by name.
    fn compare(&self, left: (DocumentId, f64), right: (DocumentId, f64)) -> Ordering {
        let name = |id: DocumentId| &self.document(id).name;
        right.1.total_cmp(&left.1).then_with(|| name(left.0).cmp(name(right.0)))
    }

    /// Adds the bonuses for name and phrases, which are too expensive to compute for all documents.
    fn detailed_score(&self, plan: &Plan, document: DocumentId, terms: f64) -> Score {
        let indexed = self.document(document);
        let (mut matched, mut all) = (0.0, 0.0);
        for term in &indexed.name_terms {
            let idf = self.idf(*term);
            all += idf;
            matched += plan.weights.get(term).map_or(0.0, |weight| weight.min(1.0) * idf);
        }
        let name = if all > 0.0 { terms * NAME_BONUS * matched / all } else { 0.0 };
        let mut phrases = 0.0;
        if terms > 0.0 {
            let weights = self.weights(document);
            // Summed in the order of the query, so that rounding is always the same.
            let mut found: BTreeMap<usize, (f32, f64)> = BTreeMap::new();
            for (field, pair) in indexed.pairs() {
                if let Some(position) = plan.position_of(pair) {
                    let (frequency, _) = found.entry(position).or_insert_with(|| (0.0, self.pair_idf(pair)));
                    *frequency += weights[field as usize];
                }
            }
            phrases = found
                .into_values()
                .map(|(frequency, idf)| PHRASE_BONUS * idf * f64::from(saturated(frequency)))
                .sum();
        }
        Score { document, terms, name, phrases, segment: 0.0 }
    }

    /// Adds a bonus to documents that match one of several sentences well, so that they can compete with documents that
    /// match a little of each.
    fn add_segment_bonus(&self, segments: &[Plan], detailed: &mut [Score]) {
        let best = detailed.iter().map(Score::total).fold(0.0, f64::max);
        for plan in segments {
            let scores = self.scores(plan);
            let total = |id: DocumentId| self.detailed_score(plan, id, scores[id as usize]).total();
            let best_of_segment = self.best(&scores, MAX_DETAILED).into_iter().map(total).fold(0.0, f64::max);
            if best_of_segment > 0.0 {
                for score in &mut *detailed {
                    let bonus = SEGMENT_BONUS * best * total(score.document) / best_of_segment;
                    score.segment = score.segment.max(bonus);
                }
            }
        }
    }

    fn hit(&self, plan: &Plan, score: &Score) -> Hit {
        let weights = self.weights(score.document);
        let mut terms = Vec::new();
        for query_term in &plan.terms {
            let term = self.term(query_term.term);
            let Some(posting) = term.posting(score.document) else { continue };
            let share = |field: &Field| f32::from(posting.counts[*field as usize]) * weights[*field as usize];
            let field = Field::ALL.into_iter().rev().max_by(|a, b| share(a).total_cmp(&share(b)));
            terms.push(Match {
                term: Arc::clone(&term.text),
                kind: query_term.kind,
                field: field.unwrap_or(Field::Name),
                part: query_term.weight * query_term.idf * f64::from(posting.impact(weights)),
            });
        }
        terms.sort_by(|a, b| b.part.total_cmp(&a.part));
        let Score { document, name, phrases, segment, .. } = *score;
        let explanation = Explanation { terms, name, phrases, segment };
        Hit { name: Arc::clone(&self.document(document).name), score: score.total(), explanation }
    }
}

/// The score of a document, in parts.
struct Score {
    document: DocumentId,
    terms: f64,
    name: f64,
    phrases: f64,
    segment: f64,
}

impl Score {
    fn from_terms(document: DocumentId, terms: f64) -> Self {
        Self { document, terms, name: 0.0, phrases: 0.0, segment: 0.0 }
    }

    fn total(&self) -> f64 {
        self.terms + self.name + self.phrases + self.segment
    }
}
