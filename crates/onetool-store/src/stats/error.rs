//! Why there are no statistics. What starts with `Error:` is returned to agents as it stands.

use crate::storage::StorageError;

/// Why there is no report.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StatsError {
    /// The operator does not want any.
    #[error(
        "Error: Statistics are disabled. Set `stats: {{enabled: true}}` in the configuration to switch them on"
    )]
    Disabled,
    /// The storage failed.
    #[error("Error: Cannot read the statistics")]
    Storage(#[from] StorageError),
}
