//! Who may come in: known hosts and origins first, then the bearer of the token.

use std::net::IpAddr;
use std::sync::Arc;

use axum::Json;
use axum::extract::{Request, State};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};
use http::header::{AUTHORIZATION, HOST, HeaderName, ORIGIN, WWW_AUTHENTICATE};
use http::{HeaderMap, HeaderValue, Method, StatusCode};
use onetool_core::Caller;
use serde_json::json;
use tower_http::cors::{AllowHeaders, AllowOrigin, CorsLayer};

/// The rule of access to every route that does something or tells something.
///
/// Loopback names are always known as hosts and origins, so that no page from elsewhere can reach a server on the
/// machine of the person who visits it.
#[derive(Debug, Clone, Default)]
pub struct Access {
    token: Option<Token>,
    hosts: Arc<[String]>,
    origins: Arc<[String]>,
}

/// The token, kept out of every log.
#[derive(Clone)]
struct Token(Arc<str>);

impl std::fmt::Debug for Token {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("[redacted]")
    }
}

impl Access {
    /// Lets in whoever bears the token.
    pub fn with_token(token: &str) -> Self {
        Self { token: Some(Token(token.into())), ..Self::default() }
    }

    /// Adds host names under which the server is reached, with or without a port.
    #[must_use]
    pub fn allow_hosts(mut self, hosts: impl IntoIterator<Item = String>) -> Self {
        self.hosts = self.hosts.iter().cloned().chain(hosts).collect();
        self
    }

    /// Adds origins of pages that may use the server, such as `https://app.example.org`.
    #[must_use]
    pub fn allow_origins(mut self, origins: impl IntoIterator<Item = String>) -> Self {
        self.origins = self.origins.iter().cloned().chain(origins).collect();
        self
    }

    fn knows_host(&self, host: &str) -> bool {
        let name = without_port(host);
        is_loopback(name)
            || self.hosts.iter().any(|it| it.eq_ignore_ascii_case(host) || it.eq_ignore_ascii_case(name))
    }

    fn knows_origin(&self, origin: &str) -> bool {
        let host = origin.strip_prefix("http://").or_else(|| origin.strip_prefix("https://"));
        host.is_some_and(|host| is_loopback(without_port(host)))
            || self.origins.iter().any(|it| it.eq_ignore_ascii_case(origin))
    }

    /// Lets pages of known origins read the answers; a browser asks for this before it sends the token.
    pub(super) fn cross_origin(&self) -> CorsLayer {
        let access = self.clone();
        let is_known = move |origin: &HeaderValue, _: &http::request::Parts| {
            origin.to_str().is_ok_and(|origin| access.knows_origin(origin))
        };
        CorsLayer::new()
            .allow_origin(AllowOrigin::predicate(is_known))
            .allow_methods([Method::GET, Method::POST, Method::PUT, Method::DELETE])
            .allow_headers(AllowHeaders::mirror_request())
            .expose_headers([HeaderName::from_static("mcp-session-id")])
    }

    /// Returns who sends a request, if that is somebody who may.
    pub(crate) fn caller(&self, headers: &HeaderMap) -> Option<Caller> {
        let principal = if self.token.is_some() { "token" } else { "anonymous" };
        self.admits(headers).then(|| Caller { principal: principal.into(), ..Caller::default() })
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

/// Compares without telling by its duration where the first difference is.
fn equal_in_constant_time(given: &str, expected: &str) -> bool {
    let (given, expected) = (given.as_bytes(), expected.as_bytes());
    let mut difference = given.len() ^ expected.len();
    for (index, byte) in expected.iter().enumerate() {
        difference |= usize::from(byte ^ given.get(index).unwrap_or(&0));
    }
    difference == 0
}

fn without_port(host: &str) -> &str {
    match host.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
        Some((address, _)) => address,
        None => host.rsplit_once(':').map_or(host, |(name, _)| name),
    }
}

fn is_loopback(name: &str) -> bool {
    name.eq_ignore_ascii_case("localhost")
        || name.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
}

/// Refuses a foreign `Host` or `Origin` before any work is done.
pub(super) async fn require_known_place(
    State(access): State<Access>,
    request: Request,
    next: Next,
) -> Response {
    let host = single(request.headers(), &HOST).or_else(|| {
        // HTTP/2 has no Host header but an authority in the URI.
        let authority = request.uri().authority().map(|it| it.as_str().to_owned());
        if request.headers().contains_key(HOST) { None } else { authority }
    });
    if !host.is_some_and(|host| access.knows_host(&host)) {
        return refuse("Host not allowed. Add it to http.allowed_hosts.");
    }
    let has_origin = request.headers().contains_key(ORIGIN);
    if has_origin && !single(request.headers(), &ORIGIN).is_some_and(|origin| access.knows_origin(&origin)) {
        return refuse("Origin not allowed. Add it to http.allowed_origins.");
    }
    next.run(request).await
}

/// Lets in whoever bears the token, and notes who that is.
pub(super) async fn require_token(
    State(access): State<Access>,
    mut request: Request,
    next: Next,
) -> Response {
    let Some(caller) = access.caller(request.headers()) else {
        tracing::warn!(path = request.uri().path(), "refused a request without a valid token");
        let body = Json(json!({"error": "Unauthorized"}));
        return (StatusCode::UNAUTHORIZED, [(WWW_AUTHENTICATE, "Bearer")], body).into_response();
    };
    request.extensions_mut().insert(caller);
    next.run(request).await
}

/// Returns a header's value if it stands there exactly once.
fn single(headers: &HeaderMap, name: &HeaderName) -> Option<String> {
    let mut values = headers.get_all(name).iter();
    let (Some(value), None) = (values.next(), values.next()) else { return None };
    value.to_str().ok().map(str::to_owned)
}

fn refuse(reason: &str) -> Response {
    (StatusCode::FORBIDDEN, Json(json!({"error": reason}))).into_response()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a2_only_known_hosts_and_origins_are_let_in() {
        let access = Access::default().allow_hosts(["tools.example.org".into()]);
        for known in ["localhost", "127.0.0.1:7411", "[::1]:80", "tools.example.org:443", "LOCALHOST:1"] {
            assert!(access.knows_host(known), "{known}");
        }
        for foreign in ["evil.org", "localhost.evil.org", "127.0.0.1.evil.org", "", "10.0.0.1"] {
            assert!(!access.knows_host(foreign), "{foreign}");
        }
        assert!(access.knows_origin("http://localhost:3000"));
        for foreign in ["null", "http://evil.org", "http://localhost.evil.org", "file://", "localhost"] {
            assert!(!access.knows_origin(foreign), "{foreign}");
        }
    }

    #[test]
    fn tokens_are_compared_whole() {
        assert!(equal_in_constant_time("abc", "abc"));
        for wrong in ["", "ab", "abcd", "abd"] {
            assert!(!equal_in_constant_time(wrong, "abc"), "{wrong}");
        }
    }
}
