//! Streamable HTTP: the SDK's service, with checks of request bodies and patches to responses.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use axum::Json;
use axum::body::Body;
use axum::response::{IntoResponse as _, Response};
use bytes::Bytes;
use futures::StreamExt as _;
use futures::stream::{self, BoxStream};
use http::header::{ACCEPT, CONTENT_LENGTH, CONTENT_TYPE, HeaderName};
use http::response::Parts;
use http::{HeaderMap, HeaderValue, Method, Request, StatusCode};
use onetool_core::{MAX_JSON_WEIGHT, json_weight};
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService};
use serde_json::{Value, json};
use tokio_util::task::TaskTracker;

use super::TOO_HEAVY;
use super::declare::{declare_lists, may_declare};
use super::handler::Handler;
use super::memory::{MemoryBudget, Reservation};
use super::session::SESSION_ID;
use super::verbatim;
use crate::Server;

/// Maximum number of open sessions; each takes about 65 KiB until it is closed or idle for five minutes.
const MAX_SESSIONS: usize = 10_000;

/// How long to buffer a stream to check whether its first message is the response.
const HOLD: Duration = Duration::from_secs(10);

/// Responses above this size are sent as plain JSON, because some clients reject events of more than 1 MiB.
const LARGE_EVENT: usize = 256 << 10;

const MCP_METHOD: HeaderName = HeaderName::from_static("mcp-method");

/// Handles MCP requests over HTTP. The access layer checks token, host and origin before.
#[derive(Clone)]
pub struct McpHttp {
    service: StreamableHttpService<Handler, LocalSessionManager>,
    sessions: Arc<LocalSessionManager>,
    pending_responses: TaskTracker,
    budget: MemoryBudget,
    max_body: usize,
}

impl McpHttp {
    /// Creates the service of a server, with a maximum size of request bodies in bytes.
    pub fn new(server: &Server, max_body: usize) -> Self {
        let config = StreamableHttpServerConfig::default()
            .with_cancellation_token(server.shutdown_token().child_token())
            // The size of bodies is checked before the SDK gets them.
            .with_max_request_body_bytes(usize::MAX)
            .with_json_response(true)
            .disable_allowed_hosts();
        let pending_responses = server.pending_responses().clone();
        let server = server.clone();
        let new_handler = move || Ok(Handler::new(server.clone()));
        let sessions = Arc::<LocalSessionManager>::default();
        let service = StreamableHttpService::new(new_handler, sessions.clone(), config);
        Self { service, sessions, pending_responses, budget: MemoryBudget::default(), max_body }
    }

    /// Changes the maximum size of request bodies; the sessions stay the same.
    #[must_use]
    pub fn with_max_body(self, max_body: usize) -> Self {
        Self { max_body, ..self }
    }

    pub(crate) async fn handle(self, request: Request<Body>) -> Response {
        let declares = may_open_a_session(&request);
        let ends_a_session = request.method() == Method::DELETE;
        // A subscription is a stream that ends only with the session, so a shutdown does not wait for it.
        let expects_response = request.method() == Method::POST
            && !has_method(&request, |method| method == "subscriptions/listen");
        let pending = expects_response.then(|| self.pending_responses.token());
        let (mut request, reservation) = match self.check_body(request).await {
            Ok(checked) => checked,
            Err(rejection) => return rejection,
        };
        if declares && self.sessions.sessions.read().await.len() >= MAX_SESSIONS {
            return reject(StatusCode::SERVICE_UNAVAILABLE, -32000, "too many open sessions; retry later");
        }
        expand_accept(request.headers_mut());
        let takes_json = expects_response && accepts_json(request.headers());
        let response = self.service.handle(request).await;
        let (mut parts, body) = response.into_parts();
        parts.headers.remove(CONTENT_LENGTH);
        if ends_a_session && parts.status == StatusCode::ACCEPTED {
            // The session has already ended, and some clients treat `accepted` as a failure.
            parts.status = StatusCode::NO_CONTENT;
        }
        let pieces = Body::new(body).into_data_stream().map(move |piece| {
            let _until_the_end = (&pending, &reservation);
            piece.map(|piece| patch_piece(piece, declares))
        });
        let is_stream =
            parts.headers.get(CONTENT_TYPE).is_some_and(|it| it.as_bytes().starts_with(b"text/event-stream"));
        if takes_json && is_stream {
            return unstream_large_response(parts, pieces.boxed()).await;
        }
        Response::from_parts(parts, Body::from_stream(pieces))
    }

    /// Rejects a body that is too large or not a JSON object with a JSON-RPC error. Returns the memory reserved for it.
    async fn check_body(
        &self,
        request: Request<Body>,
    ) -> Result<(Request<Body>, Option<Reservation>), Response> {
        if request.method() != Method::POST {
            return Ok((request, None));
        }
        let (parts, body) = request.into_parts();
        let claimed = parts.headers.get(CONTENT_LENGTH).and_then(|length| length.to_str().ok()?.parse().ok());
        let reservation = self.budget.reserve(claimed.unwrap_or(usize::MAX).min(self.max_body));
        let mut reservation = reservation.ok_or_else(out_of_memory)?;
        let bytes =
            axum::body::to_bytes(body, self.max_body).await.map_err(|error| self.read_error(&error))?;
        let weight = json_weight(&bytes);
        if weight > MAX_JSON_WEIGHT {
            return Err(reject(StatusCode::PAYLOAD_TOO_LARGE, -32600, TOO_HEAVY));
        }
        if !reservation.grow_to(weight) {
            return Err(out_of_memory());
        }
        match serde_json::from_slice::<OneObject>(&bytes) {
            Ok(OneObject) => Ok((Request::from_parts(parts, Body::from(bytes)), Some(reservation))),
            Err(error) if error.is_data() => {
                let text = "not a JSON-RPC 2.0 message: send a single object; batches are not supported";
                Err(reject(StatusCode::BAD_REQUEST, -32600, text))
            }
            Err(error) => Err(reject(StatusCode::BAD_REQUEST, -32700, &format!("invalid JSON: {error}"))),
        }
    }

    /// Creates the response for a body that could not be read.
    fn read_error(&self, error: &axum::Error) -> Response {
        let causes = || std::iter::successors(std::error::Error::source(error), |cause| cause.source());
        let is_late = |cause: &(dyn std::error::Error + 'static)| {
            cause.downcast_ref::<io::Error>().is_some_and(|it| it.kind() == io::ErrorKind::TimedOut)
        };
        if causes().any(is_late) {
            return reject(StatusCode::REQUEST_TIMEOUT, -32600, "the message did not arrive in time");
        }
        if causes().any(<dyn std::error::Error>::is::<http_body_util::LengthLimitError>) {
            let text = format!("the message is longer than {} bytes", self.max_body);
            return reject(StatusCode::PAYLOAD_TOO_LARGE, -32600, &text);
        }
        reject(StatusCode::BAD_REQUEST, -32700, "the message ended early")
    }
}

/// Sends a stream whose first message is a large response as plain JSON: clients of older revisions limit the size of an
/// event, but not of a body.
async fn unstream_large_response(
    mut parts: Parts,
    mut pieces: BoxStream<'static, Result<Bytes, axum::Error>>,
) -> Response {
    let mut held = Vec::new();
    let first = async {
        loop {
            let piece = pieces.next().await?;
            let message = piece.as_ref().ok().and_then(message_in);
            held.push(piece);
            if message.is_some() {
                return message;
            }
        }
    };
    // Longer calls need the stream, because its keep-alives stop proxies from closing the connection.
    let message = tokio::time::timeout(HOLD, first).await.ok().flatten();
    match message.filter(|message| message.len() > LARGE_EVENT && is_response(message)) {
        Some(message) => {
            parts.headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
            Response::from_parts(parts, Body::from(message))
        }
        None => Response::from_parts(parts, Body::from_stream(stream::iter(held).chain(pieces))),
    }
}

/// Returns the message in a piece of a stream, if it is not a keep-alive.
fn message_in(piece: &Bytes) -> Option<Bytes> {
    let data = piece.split(|byte| *byte == b'\n').find_map(|line| line.strip_prefix(b"data:"))?.trim_ascii();
    (!data.is_empty()).then(|| piece.slice_ref(data))
}

fn is_response(message: &[u8]) -> bool {
    #[derive(serde::Deserialize)]
    struct Envelope {
        method: Option<serde::de::IgnoredAny>,
    }
    serde_json::from_slice::<Envelope>(message).is_ok_and(|envelope| envelope.method.is_none())
}

fn accepts_json(headers: &HeaderMap) -> bool {
    let accepted = headers.get_all(ACCEPT).iter().filter_map(|accept| accept.to_str().ok());
    accepted.flat_map(|accept| accept.split(',')).any(|kind| kind.trim().starts_with("application/json"))
}

fn out_of_memory() -> Response {
    reject(StatusCode::SERVICE_UNAVAILABLE, -32000, "too many large requests in flight; retry later")
}

fn reject(status: StatusCode, code: i32, message: &str) -> Response {
    (status, Json(json!({"jsonrpc": "2.0", "id": null, "error": {"code": code, "message": message}})))
        .into_response()
}

/// Any JSON object.
struct OneObject;

impl<'de> serde::Deserialize<'de> for OneObject {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Visitor;
        impl<'de> serde::de::Visitor<'de> for Visitor {
            type Value = OneObject;
            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("an object")
            }
            fn visit_map<A: serde::de::MapAccess<'de>>(self, mut map: A) -> Result<OneObject, A::Error> {
                while map.next_entry::<serde::de::IgnoredAny, serde::de::IgnoredAny>()?.is_some() {}
                Ok(OneObject)
            }
        }
        deserializer.deserialize_map(Visitor)
    }
}

fn has_method(request: &Request<Body>, test: impl Fn(&HeaderValue) -> bool) -> bool {
    request.headers().get(MCP_METHOD).is_some_and(test)
}

/// Replaces an `Accept` header that allows any type, because the SDK requires both types by name.
fn expand_accept(headers: &mut HeaderMap) {
    let accepts_anything = headers.get(ACCEPT).is_none_or(|accept| accept.as_bytes().starts_with(b"*/*"));
    if accepts_anything {
        headers.insert(ACCEPT, HeaderValue::from_static("application/json, text/event-stream"));
    }
}

/// Returns whether the request may be `initialize` or `server/discover`.
fn may_open_a_session(request: &Request<Body>) -> bool {
    request.method() == Method::POST
        && !request.headers().contains_key(SESSION_ID)
        && !has_method(request, |method| method != "server/discover" && method != "initialize")
}

/// Patches one piece of a body; the SDK writes every message in one piece.
fn patch_piece(piece: Bytes, declares: bool) -> Bytes {
    let is_carrier = verbatim::is_carrier(&piece);
    if !(is_carrier || declares && may_declare(&piece)) {
        return piece;
    }
    let Ok(text) = std::str::from_utf8(&piece) else { return piece };
    let patched: Vec<String> = text.split('\n').map(|line| patch_line(line, is_carrier)).collect();
    patched.join("\n").into()
}

/// Patches a JSON body, or the data line of a server-sent event.
fn patch_line(line: &str, is_carrier: bool) -> String {
    let (prefix, json) = line.strip_prefix("data:").map_or(("", line), |json| ("data: ", json));
    if is_carrier {
        let restored = verbatim::restored(json.trim().as_bytes()).and_then(|it| String::from_utf8(it).ok());
        return restored.map_or_else(|| line.to_owned(), |json| format!("{prefix}{json}"));
    }
    match serde_json::from_str::<Value>(json) {
        Ok(mut message) if message.is_object() => {
            declare_lists(&mut message);
            format!("{prefix}{message}")
        }
        _ => line.to_owned(),
    }
}
