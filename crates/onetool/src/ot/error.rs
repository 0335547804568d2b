//! What the functions raise, as exceptions that code can catch.

use onetool_core::{BoxError, ToolError};

/// A call of the pack that raises.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub(crate) enum OtError {
    #[error("offset must be >= 1 (1-indexed), got {0}")]
    Offset(i64),
    #[error("limit must be >= 1, got {0}")]
    Limit(i64),
    #[error("result '{handle}' was not found; handles come from answers that were too large to show")]
    NotFound { handle: String },
    #[error("result '{handle}' has expired; run the code again to make a new one")]
    Expired { handle: String },
    /// Some other argument that makes no sense, in the words of the room that looked at it.
    #[error(transparent)]
    Value(BoxError),
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
            Self::Offset(_)
            | Self::Limit(_)
            | Self::NotFound { .. }
            | Self::Expired { .. }
            | Self::Value(_) => "ValueError",
            Self::Reload { .. } | Self::Failed(_) => "RuntimeError",
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
        Self::Raised { kind: error.kind(), message }
    }
}
