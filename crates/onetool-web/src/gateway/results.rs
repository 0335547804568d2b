//! Stored results: which there are, and pages of them.

use serde::{Deserialize, Serialize};

/// A stored result, without its text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ResultInfo {
    /// Its handle.
    pub handle: String,
    /// What it is, in a few words.
    pub summary: String,
    /// How many lines it has.
    pub total_lines: usize,
    /// How large it is.
    pub size_bytes: u64,
    /// When it was stored.
    pub created_ms: u64,
    /// When it can no longer be read.
    pub expires_ms: u64,
}

/// Which lines of a stored result.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct ResultQuery {
    /// The handle; it comes from the path.
    #[serde(skip)]
    pub handle: String,
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

/// Some lines of a stored result.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ResultPage {
    /// The lines.
    pub lines: Vec<String>,
    /// How many lines the whole result has.
    pub total_lines: usize,
    /// How many lines are here.
    pub returned: usize,
    /// The first of them, counted from 1.
    pub offset: i64,
    /// Whether there are lines after these.
    pub has_more: bool,
    /// How many lines the search found.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub matches: Option<usize>,
    /// Where in the whole result each line stands, counted from 1; for a search.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub numbers: Vec<usize>,
    /// What matched in each line, as begin and end in UTF-16 units; for a search.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub marks: Vec<Vec<(usize, usize)>>,
}
