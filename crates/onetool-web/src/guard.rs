//! What every request passes before a route sees it: known origin, known caller, and headers on the way out.

use axum::extract::{Request, State};
use axum::middleware::Next;
use axum::response::Response;
use http::header::{
    CACHE_CONTROL, CONTENT_SECURITY_POLICY, HOST, HeaderName, ORIGIN, REFERRER_POLICY, WWW_AUTHENTICATE,
    X_CONTENT_TYPE_OPTIONS,
};
use http::request::Parts;
use http::{HeaderValue, StatusCode};
use onetool_core::{Authority, Caller, WebOrigin};

use crate::WebOptions;
use crate::answer::error;

/// Nothing but our own files; no script that is made of a string; no frame around us.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; \
    img-src 'self' data:; media-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; \
    require-trusted-types-for 'script'; trusted-types 'none'";

/// Refuses a foreign origin before any work is done, and puts the security headers on every answer.
pub(crate) async fn known_origin(
    State(options): State<WebOptions>,
    request: Request,
    next: Next,
) -> Response {
    let (parts, body) = request.into_parts();
    let verdict = match &options.origin {
        Some(hook) => hook(&parts),
        None => same_origin(&parts),
    };
    let mut response = match verdict {
        Ok(()) => next.run(Request::from_parts(parts, body)).await,
        Err(reason) => error(StatusCode::FORBIDDEN, reason),
    };
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

/// Lets in whom the access hook knows, and notes who that is.
pub(crate) async fn known_caller(
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
        tracing::warn!(path = parts.uri.path(), "refused a request without valid access");
        let mut response = error(StatusCode::UNAUTHORIZED, "Unauthorized");
        response.headers_mut().insert(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        return response;
    };
    parts.extensions.insert(caller);
    next.run(Request::from_parts(parts, body)).await
}

/// Refuses what would run something where nothing may be run.
pub(crate) async fn execution_allowed(
    State(options): State<WebOptions>,
    request: Request,
    next: Next,
) -> Response {
    if options.allow_execute {
        next.run(request).await
    } else {
        error(StatusCode::FORBIDDEN, "Tool execution is disabled.")
    }
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
