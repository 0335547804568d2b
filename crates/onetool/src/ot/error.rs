//! What the functions raise, as exceptions that code can catch.

use onetool_core::{BoxError, ToolError, error_chain};

use onetool_store::results::QueryError;

/// A call of the pack that raises.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub(crate) enum OtError {
    #[error(transparent)]
    Result(#[from] QueryError),
    #[error("the configuration was not reloaded, the old one stays in force: {reason}")]
    Reload { reason: String },
    /// Something that is not the caller's fault.
    #[error(transparent)]
    Failed(BoxError),
}

impl OtError {
    /// Returns the name of the Python exception.
    pub(crate) fn kind(&self) -> &'static str {
        match self {
            Self::Result(QueryError::Storage { .. } | QueryError::Unreadable { .. })
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
