//! JSON answers, and the shape that every error has.

use axum::Json;
use axum::response::{IntoResponse as _, Response};
use http::StatusCode;
use serde::Serialize;

#[derive(Serialize)]
struct ErrorBody {
    error: String,
}

/// Makes an answer that says what is wrong.
pub(crate) fn error(status: StatusCode, message: impl Into<String>) -> Response {
    (status, Json(ErrorBody { error: message.into() })).into_response()
}

/// Makes an answer of data.
pub(crate) fn json(status: StatusCode, value: &impl Serialize) -> Response {
    (status, Json(value)).into_response()
}
