//! Extractors: JSON bodies of bounded size, and query parameters, with errors in the API's form.

use axum::RequestExt as _;
use axum::body::{Body, to_bytes};
use axum::extract::rejection::QueryRejection;
use axum::extract::{FromRequest, FromRequestParts, Query, Request};
use http::request::Parts;
use onetool_core::{JsonObject, MAX_JSON_WEIGHT, json_weight};
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::response::ApiError;

/// Maximum size of a request body, unless a [`MaxBody`] is set.
pub(crate) const DEFAULT_MAX_BODY: usize = 4 * 1024 * 1024;

/// The maximum size of request bodies in bytes, as an extension of requests.
#[derive(Debug, Clone, Copy)]
pub struct MaxBody(pub usize);

/// A JSON object as the request body; an empty body is an empty object.
pub(crate) struct ObjectBody(pub(crate) JsonObject);

/// A JSON object as the request body, read as `T`.
pub struct JsonBody<T>(pub T);

/// Query parameters, read as `T`.
pub struct QueryParams<T>(pub T);

impl<S: Send + Sync> FromRequest<S> for ObjectBody {
    type Rejection = ApiError;

    async fn from_request(request: Request, _: &S) -> Result<Self, ApiError> {
        let max = request.extensions().get::<MaxBody>().map_or(DEFAULT_MAX_BODY, |max| max.0);
        read_object(request.into_body(), max).await.map(Self)
    }
}

impl<S: Send + Sync, T: DeserializeOwned> FromRequest<S> for JsonBody<T> {
    type Rejection = ApiError;

    async fn from_request(request: Request, _: &S) -> Result<Self, ApiError> {
        let ObjectBody(object) = request.extract().await?;
        serde_json::from_value(Value::Object(object)).map(Self).map_err(|error| invalid_json(&error))
    }
}

impl<S: Send + Sync, T: DeserializeOwned> FromRequestParts<S> for QueryParams<T> {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, ApiError> {
        let query = Query::<T>::from_request_parts(parts, state).await;
        query
            .map(|Query(query)| Self(query))
            .map_err(|rejection: QueryRejection| ApiError::Invalid(rejection.body_text()))
    }
}

async fn read_object(body: Body, max: usize) -> Result<JsonObject, ApiError> {
    let bytes = to_bytes(body, max).await.map_err(|error| {
        // axum wraps the limit's error; only its text distinguishes it from a broken connection.
        let is_limit =
            std::error::Error::source(&error).is_some_and(|it| it.to_string().contains("length limit"));
        if is_limit {
            ApiError::TooLarge(format!("The request body is larger than {max} bytes."))
        } else {
            ApiError::Invalid("The request body ended early.".to_owned())
        }
    })?;
    if bytes.iter().all(u8::is_ascii_whitespace) {
        return Ok(JsonObject::new());
    }
    if json_weight(&bytes) > MAX_JSON_WEIGHT {
        return Err(ApiError::TooLarge(
            "The request body would take more than 128 MiB of memory.".to_owned(),
        ));
    }
    let found = match serde_json::from_slice(&bytes).map_err(|error| invalid_json(&error))? {
        Value::Object(object) => return Ok(object),
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "an array",
    };
    Err(ApiError::Invalid(format!("Invalid JSON: the body must be an object, not {found}.")))
}

fn invalid_json(error: &serde_json::Error) -> ApiError {
    ApiError::Invalid(format!("Invalid JSON: {error}"))
}
