//! Search with its reasons: what matched, where, and how much it counted.

use serde::{Deserialize, Serialize};

/// What to look for.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SearchQuery {
    /// The words.
    pub q: String,
    /// How many tools at most.
    #[serde(default = "default_limit")]
    pub limit: usize,
}

fn default_limit() -> usize {
    50
}

/// What was found.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SearchAnswer {
    /// The tools, the best first.
    pub hits: Vec<SearchHit>,
    /// Names that are near the query, where nothing matched.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub suggestions: Vec<String>,
    /// How many microseconds the search took.
    pub took_us: u64,
}

/// One tool that was found.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SearchHit {
    /// Its canonical name.
    pub name: String,
    /// How well it matches.
    pub score: f64,
    /// Why.
    pub matched: Vec<TermMatch>,
}

/// A word of the query, and where the tool has it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct TermMatch {
    /// The word of the query.
    pub term: String,
    /// The fields that hold it: `name`, `keywords`, `parameters`, `description`, `pack`.
    pub fields: Vec<String>,
}
