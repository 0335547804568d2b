//! Why there are no statistics. What starts with `Error:` is returned to agents as it stands.

use std::io;

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

/// Why a report was not written; nothing of it is left behind.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WriteError {
    /// The path leads out of the folder that it has to stay in.
    #[error("Error: Cannot write to '{path}': {}", self.reason())]
    Outside {
        /// The path.
        path: String,
    },
    /// The file system refused.
    #[error("Error: Cannot write to '{path}': {}", self.reason())]
    Io {
        /// The path.
        path: String,
        /// Why; it is part of the text, which is fixed.
        error: io::Error,
    },
}

impl WriteError {
    /// Returns what is wrong with the path, without the path.
    pub fn reason(&self) -> String {
        match self {
            Self::Outside { .. } => "it has to be inside the working directory, and not behind a link".into(),
            Self::Io { error, .. } => error.to_string(),
        }
    }
}
