//! Why there are no statistics. Agents get messages that start with `Error:` unchanged.

use onetool_core::state::StoreError;

/// Why there is no report.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StatsError {
    /// The operator disabled them.
    #[error(
        "Error: Statistics are disabled. Set `stats: {{enabled: true}}` in the configuration to switch them on"
    )]
    Disabled,
    /// The store failed.
    #[error("Error: Cannot read the statistics")]
    Store(#[from] StoreError),
}
