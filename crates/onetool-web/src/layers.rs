//! Layers around the routes: security headers, panics, and whether tools may be called.

use std::panic::AssertUnwindSafe;

use axum::extract::{Request, State};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};
use futures::FutureExt as _;
use http::header::{
    CACHE_CONTROL, CONTENT_SECURITY_POLICY, HeaderName, REFERRER_POLICY, X_CONTENT_TYPE_OPTIONS,
};
use http::{HeaderValue, StatusCode};

use crate::response::{ApiError, error};

/// Allows only our own files, no scripts from strings, and no framing of the page.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; \
    img-src 'self' data:; media-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; \
    require-trusted-types-for 'script'; trusted-types 'none'";

/// Adds the security headers of the page to every response; for [`axum::middleware::from_fn`].
pub async fn security_headers(request: Request, next: Next) -> Response {
    let mut response = next.run(request).await;
    let headers = response.headers_mut();
    let fixed = [
        (CONTENT_SECURITY_POLICY, POLICY),
        (X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (REFERRER_POLICY, "no-referrer"),
        (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
        (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
    ];
    for (name, value) in fixed {
        headers.insert(name, HeaderValue::from_static(value));
    }
    headers.entry(CACHE_CONTROL).or_insert(HeaderValue::from_static("no-store"));
    response
}

/// Turns a panic in a handler into a response with status 500; for [`axum::middleware::from_fn`].
pub async fn catch_panics(request: Request, next: Next) -> Response {
    let path = request.uri().path().to_owned();
    AssertUnwindSafe(next.run(request)).catch_unwind().await.unwrap_or_else(|_| {
        tracing::error!(path, "a request handler panicked");
        ApiError::Failed("The server failed to respond; see its log.".to_owned()).into_response()
    })
}

/// Rejects a request unless tools may be called; for [`axum::middleware::from_fn_with_state`].
pub async fn require_execution(State(allow_execute): State<bool>, request: Request, next: Next) -> Response {
    if allow_execute {
        next.run(request).await
    } else {
        error(StatusCode::FORBIDDEN, "Tool execution is disabled.")
    }
}
