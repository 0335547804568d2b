//! Streamable HTTP: the SDK's service, with bodies checked on the way in and capabilities patched on the way out.

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
use super::room::{Place, Room};
use super::verbatim;
use crate::Server;

/// Sessions that may be open at the same time; each holds some 65 KiB until it is closed or idle for five minutes.
const MAX_SESSIONS: usize = 10_000;

/// How long a stream is held back to see whether its first message is the response.
const HOLD: Duration = Duration::from_secs(10);

/// The size from which a response is sent as plain JSON. Some clients refuse an event of more than 1 MiB.
const LARGE_EVENT: usize = 256 << 10;

const SESSION_ID: HeaderName = HeaderName::from_static("mcp-session-id");
const MCP_METHOD: HeaderName = HeaderName::from_static("mcp-method");

/// Answers MCP requests over HTTP. Access, hosts and origins are checked before a request gets here.
#[derive(Clone)]
pub struct McpHttp {
    service: StreamableHttpService<Handler, LocalSessionManager>,
    sessions: Arc<LocalSessionManager>,
    answers_due: TaskTracker,
    room: Room,
    max_body: usize,
}

impl McpHttp {
    /// Makes the service of a server; it takes bodies up to a size.
    pub fn new(server: &Server, max_body: usize) -> Self {
        let config = StreamableHttpServerConfig::default()
            .with_cancellation_token(server.shutdown_token().child_token())
            // Bodies have been read and measured before the SDK sees them.
            .with_max_request_body_bytes(usize::MAX)
            .with_json_response(true)
            .disable_allowed_hosts();
        let answers_due = server.answers_due().clone();
        let server = server.clone();
        let new_handler = move || Ok(Handler::new(server.clone()));
        let sessions = Arc::<LocalSessionManager>::default();
        let service = StreamableHttpService::new(new_handler, sessions.clone(), config);
        Self { service, sessions, answers_due, room: Room::default(), max_body }
    }

    /// Takes bodies of another size; the sessions are the same.
    #[must_use]
    pub fn with_max_body(self, max_body: usize) -> Self {
        Self { max_body, ..self }
    }

    pub(crate) async fn answer(self, request: Request<Body>) -> Response {
        let declares = may_open_a_session(&request);
        // A stream of news is no answer that somebody waits for.
        let ends_a_session = request.method() == Method::DELETE;
        let is_answer = request.method() == Method::POST
            && !has_method(&request, |method| method == "subscriptions/listen");
        let due = is_answer.then(|| self.answers_due.token());
        let (mut request, place) = match self.check_body(request).await {
            Ok(checked) => checked,
            Err(refusal) => return refusal,
        };
        if declares && self.sessions.sessions.read().await.len() >= MAX_SESSIONS {
            return refuse(
                StatusCode::SERVICE_UNAVAILABLE,
                -32000,
                "too many sessions are open; try again later",
            );
        }
        accept_what_mcp_sends(request.headers_mut());
        let takes_json = is_answer && accepts_json(request.headers());
        let response = self.service.handle(request).await;
        let (mut parts, body) = response.into_parts();
        parts.headers.remove(CONTENT_LENGTH);
        if ends_a_session && parts.status == StatusCode::ACCEPTED {
            // The session has ended by now; some clients take `accepted` for a failure.
            parts.status = StatusCode::NO_CONTENT;
        }
        let pieces = Body::new(body).into_data_stream().map(move |piece| {
            let _until_the_end = (&due, &place);
            piece.map(|piece| patch_piece(piece, declares))
        });
        let is_stream =
            parts.headers.get(CONTENT_TYPE).is_some_and(|it| it.as_bytes().starts_with(b"text/event-stream"));
        if takes_json && is_stream {
            return short_stream(parts, pieces.boxed()).await;
        }
        Response::from_parts(parts, Body::from_stream(pieces))
    }

    /// Refuses a body that is too large or no JSON object, in JSON-RPC's own words. Returns the room that it takes.
    async fn check_body(&self, request: Request<Body>) -> Result<(Request<Body>, Option<Place>), Response> {
        if request.method() != Method::POST {
            return Ok((request, None));
        }
        let (parts, body) = request.into_parts();
        let claimed = parts.headers.get(CONTENT_LENGTH).and_then(|length| length.to_str().ok()?.parse().ok());
        let place = self.room.take(claimed.unwrap_or(usize::MAX).min(self.max_body));
        let mut place = place.ok_or_else(no_room)?;
        let bytes = axum::body::to_bytes(body, self.max_body).await.map_err(|error| self.unread(&error))?;
        let weight = json_weight(&bytes);
        if weight > MAX_JSON_WEIGHT {
            return Err(refuse(StatusCode::PAYLOAD_TOO_LARGE, -32600, TOO_HEAVY));
        }
        if !place.grow_to(weight) {
            return Err(no_room());
        }
        match serde_json::from_slice::<OneObject>(&bytes) {
            Ok(OneObject) => Ok((Request::from_parts(parts, Body::from(bytes)), Some(place))),
            Err(error) if error.is_data() => {
                let text = "this is not a JSON-RPC 2.0 message: send one object, batches are not supported";
                Err(refuse(StatusCode::BAD_REQUEST, -32600, text))
            }
            Err(error) => Err(refuse(StatusCode::BAD_REQUEST, -32700, &format!("this is not JSON: {error}"))),
        }
    }

    /// Says why a body could not be read.
    fn unread(&self, error: &axum::Error) -> Response {
        let causes = || std::iter::successors(std::error::Error::source(error), |cause| cause.source());
        let is_late = |cause: &(dyn std::error::Error + 'static)| {
            cause.downcast_ref::<io::Error>().is_some_and(|it| it.kind() == io::ErrorKind::TimedOut)
        };
        if causes().any(is_late) {
            return refuse(StatusCode::REQUEST_TIMEOUT, -32600, "the message did not arrive in time");
        }
        if causes().any(<dyn std::error::Error>::is::<http_body_util::LengthLimitError>) {
            let text = format!("the message is longer than {} bytes", self.max_body);
            return refuse(StatusCode::PAYLOAD_TOO_LARGE, -32600, &text);
        }
        refuse(StatusCode::BAD_REQUEST, -32700, "the message ended early")
    }
}

/// Sends a stream whose first message is a large response as plain JSON: clients of older revisions have a limit for one
/// event, and none for a body.
async fn short_stream(
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
    // Longer calls need the stream: its keep-alives stop proxies from closing the connection.
    let message = tokio::time::timeout(HOLD, first).await.ok().flatten();
    match message.filter(|message| message.len() > LARGE_EVENT && is_response(message)) {
        Some(message) => {
            parts.headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
            Response::from_parts(parts, Body::from(message))
        }
        None => Response::from_parts(parts, Body::from_stream(stream::iter(held).chain(pieces))),
    }
}

/// Returns the message in a piece of a stream; keep-alives have none.
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

fn no_room() -> Response {
    refuse(StatusCode::SERVICE_UNAVAILABLE, -32000, "too many large requests in flight; try again later")
}

fn refuse(status: StatusCode, code: i32, message: &str) -> Response {
    (status, Json(json!({"jsonrpc": "2.0", "id": null, "error": {"code": code, "message": message}})))
        .into_response()
}

/// A JSON object whose contents do not matter.
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

/// Takes a client that accepts anything at its word; the SDK wants both types spelt out.
fn accept_what_mcp_sends(headers: &mut HeaderMap) {
    let accepts_anything = headers.get(ACCEPT).is_none_or(|accept| accept.as_bytes().starts_with(b"*/*"));
    if accepts_anything {
        headers.insert(ACCEPT, HeaderValue::from_static("application/json, text/event-stream"));
    }
}

/// Returns whether the request can be `initialize` or `server/discover`.
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
