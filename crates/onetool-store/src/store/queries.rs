//! Queries that led to a tool.

/// Maximum number of remembered queries; the oldest are deleted first.
pub const MAX_QUERIES: usize = 20_000;

/// A query that led to a tool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RememberedQuery {
    /// The tool's name.
    pub tool: String,
    /// The query.
    pub query: String,
}
