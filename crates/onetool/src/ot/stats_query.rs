//! Queries for statistics, and their errors.

use onetool_store::stats::{Period, PeriodError};

/// Which calls to count.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct StatsQuery {
    pub(crate) period: Period,
    /// Only this tool, by canonical name.
    pub(crate) tool: Option<String>,
    /// Where to write a report, as the caller wrote it.
    pub(crate) output: Option<String>,
}

/// Errors that `ot.stats` returns as text, also in code.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub(crate) enum StatsError {
    #[error(
        "Error: Statistics are disabled. Set stats.enabled to true in the configuration, then call ot.reload()"
    )]
    Off,
    #[error(transparent)]
    Period(#[from] PeriodError),
    #[error("Error: Cannot write to '{path}': {reason}")]
    Write { path: String, reason: String },
    #[error("Error: Cannot read the statistics: {reason}")]
    Read { reason: String },
}
