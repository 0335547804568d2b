//! JSON responses and errors of the API.

use axum::Json;
use axum::response::{IntoResponse, Response};
use http::StatusCode;
use serde::Serialize;

#[derive(Serialize)]
struct ErrorBody {
    error: String,
}

/// Returns an error response: `{"error": message}`.
pub(crate) fn error(status: StatusCode, message: impl Into<String>) -> Response {
    (status, Json(ErrorBody { error: message.into() })).into_response()
}

/// Why a request failed. As a response it is `{"error": message}` with the status of its kind.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ApiError {
    /// The request is invalid; 400.
    #[error("{0}")]
    Invalid(String),
    /// The name does not exist; 404.
    #[error("{0}")]
    NotFound(String),
    /// The feature is switched off; 409.
    #[error("{0}")]
    Off(String),
    /// The item has expired; 410.
    #[error("{0}")]
    Expired(String),
    /// The request body is too large; 413.
    #[error("{0}")]
    TooLarge(String),
    /// The server failed; 500.
    #[error("{0}")]
    Failed(String),
}

impl ApiError {
    /// Returns the HTTP status.
    pub fn status(&self) -> StatusCode {
        match self {
            Self::Invalid(_) => StatusCode::BAD_REQUEST,
            Self::NotFound(_) => StatusCode::NOT_FOUND,
            Self::Off(_) => StatusCode::CONFLICT,
            Self::Expired(_) => StatusCode::GONE,
            Self::TooLarge(_) => StatusCode::PAYLOAD_TOO_LARGE,
            Self::Failed(_) => StatusCode::INTERNAL_SERVER_ERROR,
        }
    }
}

impl IntoResponse for ApiError {
    fn into_response(self) -> Response {
        error(self.status(), self.to_string())
    }
}
