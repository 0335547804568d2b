//! Request bodies: JSON objects of a bounded size.

use axum::body::{Body, to_bytes};
use axum::response::Response;
use http::StatusCode;
use onetool_core::{JsonObject, MAX_JSON_WEIGHT, json_weight};
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::answer::error;

/// A body that is no JSON object.
#[derive(Debug, thiserror::Error)]
pub(crate) enum BodyError {
    #[error("The request body is larger than {max} bytes.")]
    TooLarge { max: usize },
    #[error("The request body would take more than 128 MiB of memory.")]
    TooHeavy,
    #[error("The request body ended early.")]
    Incomplete,
    #[error("Invalid JSON: {0}")]
    Json(#[source] serde_json::Error),
    #[error("Invalid JSON: the body has to be an object, not {0}.")]
    NotAnObject(&'static str),
}

impl BodyError {
    pub(crate) fn status(&self) -> StatusCode {
        match self {
            Self::TooLarge { .. } | Self::TooHeavy => StatusCode::PAYLOAD_TOO_LARGE,
            _ => StatusCode::BAD_REQUEST,
        }
    }

    pub(crate) fn into_response(self) -> Response {
        error(self.status(), self.to_string())
    }
}

/// Reads a JSON object; no body at all is an empty one.
pub(crate) async fn object(body: Body, max: usize) -> Result<JsonObject, BodyError> {
    let bytes = to_bytes(body, max).await.map_err(|cause| {
        // axum wraps the limit's error; its text is the only thing that tells it from a broken connection.
        let is_limit =
            std::error::Error::source(&cause).is_some_and(|it| it.to_string().contains("length limit"));
        if is_limit { BodyError::TooLarge { max } } else { BodyError::Incomplete }
    })?;
    if bytes.iter().all(u8::is_ascii_whitespace) {
        return Ok(JsonObject::new());
    }
    if json_weight(&bytes) > MAX_JSON_WEIGHT {
        return Err(BodyError::TooHeavy);
    }
    match serde_json::from_slice(&bytes).map_err(BodyError::Json)? {
        Value::Object(object) => Ok(object),
        Value::Null => Err(BodyError::NotAnObject("null")),
        Value::Bool(_) => Err(BodyError::NotAnObject("a boolean")),
        Value::Number(_) => Err(BodyError::NotAnObject("a number")),
        Value::String(_) => Err(BodyError::NotAnObject("a string")),
        Value::Array(_) => Err(BodyError::NotAnObject("an array")),
    }
}

/// Reads a JSON object into a type of ours.
pub(crate) async fn typed<T: DeserializeOwned>(body: Body, max: usize) -> Result<T, BodyError> {
    let object = object(body, max).await?;
    serde_json::from_value(Value::Object(object)).map_err(BodyError::Json)
}
