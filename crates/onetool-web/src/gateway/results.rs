//! Which lines of a stored result are asked for; the gateway has the lines.

use serde::Deserialize;

/// Which lines of a stored result.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ResultQuery {
    /// The first line, counted from 1.
    #[serde(default = "first_line")]
    pub offset: i64,
    /// How many lines at most.
    #[serde(default = "default_limit")]
    pub limit: i64,
    /// Only lines that match this regular expression; offset and limit count those.
    pub search: Option<String>,
    /// Takes `search` as words instead, and gives the lines that are like them, the best first.
    #[serde(default)]
    pub fuzzy: bool,
}

fn first_line() -> i64 {
    1
}

fn default_limit() -> i64 {
    100
}
