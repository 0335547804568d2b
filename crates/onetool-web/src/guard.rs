//! Access checks of [`crate::router`]: the origin, and the caller.

use axum::extract::{Request, State};
use axum::middleware::Next;
use axum::response::Response;
use http::header::{HOST, ORIGIN, WWW_AUTHENTICATE};
use http::request::Parts;
use http::{HeaderValue, StatusCode};
use onetool_core::{Authority, Caller, WebOrigin};

use crate::options::WebOptions;
use crate::response::error;

/// Rejects a foreign origin before any work is done.
pub(crate) async fn require_known_origin(
    State(options): State<WebOptions>,
    request: Request,
    next: Next,
) -> Response {
    let (parts, body) = request.into_parts();
    let verdict = match &options.origin {
        Some(hook) => hook(&parts),
        None => same_origin(&parts),
    };
    match verdict {
        Ok(()) => next.run(Request::from_parts(parts, body)).await,
        Err(reason) => error(StatusCode::FORBIDDEN, reason),
    }
}

/// Rejects requests that the access hook does not allow, and adds the caller to the extensions of the others.
pub(crate) async fn require_access(
    State(options): State<WebOptions>,
    request: Request,
    next: Next,
) -> Response {
    let (mut parts, body) = request.into_parts();
    let caller = match &options.access {
        Some(hook) => hook(&parts),
        None => Some(parts.extensions.get::<Caller>().cloned().unwrap_or_else(anonymous)),
    };
    let Some(caller) = caller else {
        tracing::warn!(path = parts.uri.path(), "rejected a request without valid access");
        let mut response = error(StatusCode::UNAUTHORIZED, "Unauthorized");
        response.headers_mut().insert(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        return response;
    };
    parts.extensions.insert(caller);
    next.run(Request::from_parts(parts, body)).await
}

fn anonymous() -> Caller {
    Caller { principal: "anonymous".into(), ..Caller::default() }
}

/// Accepts a request without `Origin`, or with one that names the host it is sent to.
fn same_origin(parts: &Parts) -> Result<(), String> {
    if !parts.headers.contains_key(ORIGIN) {
        return Ok(());
    }
    let values = |name| parts.headers.get_all(name).iter().map(HeaderValue::as_bytes);
    let host = match parts.uri.authority() {
        Some(authority) => Authority::parse(authority.as_str()),
        None => Authority::from_header(values(HOST)),
    };
    match (WebOrigin::from_header(values(ORIGIN)), host) {
        (Some(origin), Some(host)) if origin.is_served_by(&host) => Ok(()),
        _ => Err("Origin not allowed.".into()),
    }
}
