//! Errors that the functions raise, as exceptions that code can catch.

use onetool_core::{BoxError, ToolError, error_chain};

use onetool_store::results::QueryError;

/// An error of a function that is raised.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub(crate) enum OtError {
    #[error(transparent)]
    Result(#[from] QueryError),
    #[error("configuration not reloaded, the previous one stays active: {reason}")]
    Reload { reason: String },
    /// An error that the caller did not cause.
    #[error(transparent)]
    Failed(BoxError),
}

impl OtError {
    /// Returns the name of the Python exception.
    pub(crate) fn kind(&self) -> &'static str {
        match self {
            Self::Result(QueryError::Store { .. } | QueryError::Unreadable { .. })
            | Self::Reload { .. }
            | Self::Failed(_) => "RuntimeError",
            Self::Result(_) => "ValueError",
        }
    }
}

impl From<OtError> for ToolError {
    fn from(error: OtError) -> Self {
        Self::Raised { kind: error.kind().into(), message: error_chain(&error) }
    }
}
