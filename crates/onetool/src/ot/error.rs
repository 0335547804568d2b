//! What the functions raise, as exceptions that code can catch.

use onetool_core::{BoxError, ToolError};

use crate::results::QueryError;

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
        // Causes are told as well: there is no chain in an exception's text.
        let mut message = error.to_string();
        let mut next = std::error::Error::source(&error);
        while let Some(cause) = next {
            message = format!("{message}: {cause}");
            next = cause.source();
        }
        Self::Raised { kind: error.kind().into(), message }
    }
}
