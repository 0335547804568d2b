//! Access control: checks host and origin first, then the bearer token.

use std::sync::Arc;

use axum::Json;
use axum::extract::{Request, State};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};
use http::header::{AUTHORIZATION, HOST, HeaderName, ORIGIN, WWW_AUTHENTICATE};
use http::{Extensions, HeaderMap, HeaderValue, Method, StatusCode};
use onetool_core::{Authority, Caller, WebOrigin};
use serde_json::json;
use tower_http::cors::{AllowHeaders, AllowOrigin, CorsLayer};

use super::connections::Authorized;

/// The access rules of all routes.
///
/// Only known hosts and origins are allowed, so that a website cannot reach a server on its visitor's machine. Loopback
/// hosts and origins are always known.
///
/// ```
/// use onetool_server::http::Access;
///
/// let access = Access::with_token("change-me")
///     .allow_hosts(["tools.example.org".to_owned()])
///     .allow_origins(["https://app.example.org".to_owned()]);
/// ```
#[derive(Debug, Clone, Default)]
pub struct Access {
    token: Option<Token>,
    hosts: Arc<[Authority]>,
    origins: Arc<[WebOrigin]>,
}

/// The token, which debug output does not show.
#[derive(Clone)]
struct Token(Arc<str>);

impl std::fmt::Debug for Token {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("[redacted]")
    }
}

impl Access {
    /// Requires this bearer token.
    pub fn with_token(token: &str) -> Self {
        Self { token: Some(Token(token.into())), ..Self::default() }
    }

    /// Adds host names of the server, with or without a port. Logs a warning for an invalid host name and ignores it.
    #[must_use]
    pub fn allow_hosts(mut self, hosts: impl IntoIterator<Item = String>) -> Self {
        let hosts = hosts.into_iter().filter_map(|host| parsed("host", &host, Authority::parse));
        self.hosts = self.hosts.iter().cloned().chain(hosts).collect();
        self
    }

    /// Adds origins of websites that may use the server, such as `https://app.example.org`. Logs a warning for an invalid
    /// origin and ignores it.
    #[must_use]
    pub fn allow_origins(mut self, origins: impl IntoIterator<Item = String>) -> Self {
        let origins = origins.into_iter().filter_map(|origin| parsed("origin", &origin, WebOrigin::parse));
        self.origins = self.origins.iter().cloned().chain(origins).collect();
        self
    }

    fn knows_host(&self, host: &Authority) -> bool {
        host.is_loopback() || self.hosts.iter().any(|known| known.covers(host))
    }

    fn knows_origin(&self, origin: &WebOrigin) -> bool {
        origin.is_loopback() || self.origins.contains(origin)
    }

    /// Returns the CORS rules that let websites of known origins read responses. Browsers check them before they send
    /// the token.
    pub(super) fn cross_origin(&self) -> CorsLayer {
        let access = self.clone();
        let is_known = move |origin: &HeaderValue, _: &http::request::Parts| {
            WebOrigin::from_header([origin.as_bytes()]).is_some_and(|origin| access.knows_origin(&origin))
        };
        CorsLayer::new()
            .allow_origin(AllowOrigin::predicate(is_known))
            .allow_methods([Method::GET, Method::POST, Method::PUT, Method::DELETE])
            .allow_headers(AllowHeaders::mirror_request())
            .expose_headers([HeaderName::from_static("mcp-session-id")])
    }

    /// Returns the caller of a request with a valid token, and marks its connection as authorized.
    fn caller(&self, headers: &HeaderMap, extensions: &Extensions) -> Option<Caller> {
        if !self.admits(headers) {
            return None;
        }
        if let Some(authorized) = extensions.get::<Authorized>() {
            authorized.set();
        }
        let principal = if self.token.is_some() { "token" } else { "anonymous" };
        Some(Caller { principal: principal.into(), ..Caller::default() })
    }

    fn admits(&self, headers: &HeaderMap) -> bool {
        let Some(Token(expected)) = &self.token else { return true };
        let mut values = headers.get_all(AUTHORIZATION).iter();
        let (Some(value), None) = (values.next(), values.next()) else { return false };
        let bearer = value.to_str().ok().and_then(|it| it.split_once(' '));
        bearer.is_some_and(|(scheme, token)| {
            scheme.eq_ignore_ascii_case("bearer") && equal_in_constant_time(token.trim(), expected)
        })
    }
}

/// Compares in a time that does not reveal the position of the first difference.
fn equal_in_constant_time(given: &str, expected: &str) -> bool {
    let (given, expected) = (given.as_bytes(), expected.as_bytes());
    let mut difference = given.len() ^ expected.len();
    for (index, byte) in expected.iter().enumerate() {
        difference |= usize::from(byte ^ given.get(index).unwrap_or(&0));
    }
    difference == 0
}

fn parsed<T>(what: &str, text: &str, parse: impl Fn(&str) -> Option<T>) -> Option<T> {
    let parsed = parse(text);
    if parsed.is_none() {
        tracing::warn!("ignoring the invalid {what} '{text}'");
    }
    parsed
}

/// Rejects an unknown `Host` or `Origin` before any other work.
pub(super) async fn require_known_host(
    State(access): State<Access>,
    request: Request,
    next: Next,
) -> Response {
    if !hosts(&request).is_some_and(|hosts| hosts.iter().all(|host| access.knows_host(host))) {
        return refuse("Host not allowed. Add it to http.allowed_hosts.");
    }
    let origins = request.headers().get_all(ORIGIN).iter().map(HeaderValue::as_bytes);
    let has_origin = request.headers().contains_key(ORIGIN);
    if has_origin && !WebOrigin::from_header(origins).is_some_and(|origin| access.knows_origin(&origin)) {
        return refuse("Origin not allowed. Add it to http.allowed_origins.");
    }
    next.run(request).await
}

/// Returns the hosts in the request's header and URL, or `None` if there is none or one is malformed.
fn hosts(request: &Request) -> Option<Vec<Authority>> {
    let header = request.headers().get_all(HOST).iter().map(HeaderValue::as_bytes);
    let header = request.headers().contains_key(HOST).then(|| Authority::from_header(header));
    let url = request.uri().authority().map(|authority| Authority::parse(authority.as_str()));
    let hosts: Vec<Authority> = header.into_iter().chain(url).collect::<Option<_>>()?;
    (!hosts.is_empty()).then_some(hosts)
}

/// Rejects requests without a valid token, and adds the caller to the extensions of others.
pub(super) async fn require_token(
    State(access): State<Access>,
    mut request: Request,
    next: Next,
) -> Response {
    let Some(caller) = access.caller(request.headers(), request.extensions()) else {
        tracing::warn!(path = request.uri().path(), "rejected a request without a valid token");
        let body = Json(json!({"error": "Unauthorized"}));
        return (StatusCode::UNAUTHORIZED, [(WWW_AUTHENTICATE, "Bearer")], body).into_response();
    };
    request.extensions_mut().insert(caller);
    next.run(request).await
}

fn refuse(reason: &str) -> Response {
    (StatusCode::FORBIDDEN, Json(json!({"error": reason}))).into_response()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_are_compared_whole() {
        assert!(equal_in_constant_time("abc", "abc"));
        for wrong in ["", "ab", "abcd", "abd"] {
            assert!(!equal_in_constant_time(wrong, "abc"), "{wrong}");
        }
    }
}
