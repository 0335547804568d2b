//! Search that explains its hits: which words matched, and in which fields.

use std::time::Instant;

use axum::Json;
use axum::extract::State;
use onetool_web::QueryParams;
use serde::{Deserialize, Serialize};

use super::{ApiResult, Gateway};
use crate::search::{Hit, Match, MatchKind};

/// Maximum number of suggested names when nothing matches.
const MAX_SUGGESTIONS: usize = 3;
/// Maximum number of tools that one search returns.
const MAX_HITS: usize = 500;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct SearchQuery {
    q: String,
    /// Maximum number of tools.
    #[serde(default = "default_limit")]
    limit: usize,
}

fn default_limit() -> usize {
    50
}

/// The tools that were found.
#[derive(Serialize)]
pub(super) struct SearchResponse {
    /// The tools, best first.
    hits: Vec<SearchHit>,
    /// Names similar to the query, if nothing matched.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    suggestions: Vec<String>,
    /// Duration of the search in microseconds.
    took_us: u64,
}

#[derive(Serialize)]
struct SearchHit {
    name: String,
    score: f64,
    matched: Vec<TermMatch>,
}

/// A word of the query, and the fields of the tool that contain it.
#[derive(Serialize)]
struct TermMatch {
    term: String,
    fields: Vec<String>,
}

/// Ranks tools like `tool_find`. Unlike the queries of agents, those of the page are not remembered.
pub(super) async fn search(
    State(inner): Gateway,
    QueryParams(query): QueryParams<SearchQuery>,
) -> ApiResult<SearchResponse> {
    inner.server.settle().await;
    let started = Instant::now();
    let catalog = inner.server.catalog();
    let words = query.q.trim();
    let hits = inner.finder.search(&catalog, words, query.limit.min(MAX_HITS)).await;
    let is_unknown = hits.is_empty() && catalog.get_visible(words).is_none();
    let suggestions = if is_unknown { catalog.unknown(words).similar } else { Vec::new() };
    Ok(Json(SearchResponse {
        hits: hits.iter().map(|hit| search_hit(hit, words)).collect(),
        suggestions: suggestions.into_iter().take(MAX_SUGGESTIONS).collect(),
        took_us: u64::try_from(started.elapsed().as_micros()).unwrap_or(u64::MAX),
    }))
}

fn search_hit(hit: &Hit, query: &str) -> SearchHit {
    let mut matched: Vec<TermMatch> = Vec::new();
    // Synonyms of a verb are noise if the words of the query match.
    let is_own = |part: &&Match| part.kind != MatchKind::Verb;
    let has_own = hit.explanation.terms.iter().any(|part| is_own(&part));
    for part in hit.explanation.terms.iter().filter(|part| !has_own || is_own(part)) {
        let (term, field) = (as_typed(&part.term, query), part.field.label().to_owned());
        match matched.iter_mut().find(|it| it.term == term) {
            Some(known) if known.fields.contains(&field) => {}
            Some(known) => known.fields.push(field),
            None => matched.push(TermMatch { term, fields: vec![field] }),
        }
    }
    SearchHit { name: hit.name.to_string(), score: (hit.score * 1e3).round() / 1e3, matched }
}

/// Returns the word of the query that a stem comes from, or the stem if none resembles it.
fn as_typed(stem: &str, query: &str) -> String {
    let words = query.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    let shared = |word: &str| {
        let lower = word.to_lowercase();
        stem.chars().zip(lower.chars()).take_while(|(left, right)| left == right).count()
    };
    // A stem differs from its word only in the last letters.
    let least = stem.chars().count().saturating_sub(2).max(1);
    let nearest = words.map(|word| (shared(word), word)).max_by_key(|(shared, _)| *shared);
    nearest
        .filter(|(shared, _)| *shared >= least)
        .map_or_else(|| stem.to_owned(), |(_, word)| word.to_lowercase())
}
