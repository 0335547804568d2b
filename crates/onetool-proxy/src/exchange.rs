//! One request to an upstream and its response, with every message that is exchanged in between.

#![expect(deprecated, reason = "older revisions still have logging")]

use std::error::Error;
use std::pin::pin;
use std::time::Duration;

use futures::StreamExt as _;
use futures::stream::FuturesUnordered;
use onetool_core::{CallContext, InputKind, Progress};
use rmcp::RoleClient;
use rmcp::model::{
    CancelledNotificationParam, ClientCapabilities, ClientRequest, ErrorData, GetExtensions as _,
    LoggingLevel, RequestId, RequestMetaObject,
};
use rmcp::service::{Peer, PeerRequestOptions, ServiceError};
use rmcp::transport::DynamicTransportError;
use rmcp::transport::streamable_http_client::StreamableHttpError;
use serde_json::Value;
use tokio::time::{Instant, sleep_until};

use crate::decode::raw_result;
use crate::in_flight::Event;
use crate::link::Link;
use crate::scrub::truncate;

/// Maximum number of open input requests of one call.
const MAX_INPUT_REQUESTS: usize = 16;

/// How long to wait for the reason of a lost connection.
const LOST_TIMEOUT: Duration = Duration::from_secs(5);

/// Why a request has no result.
pub(crate) enum Failure {
    /// The upstream returned an error.
    Rejected(ErrorData),
    /// The deadline passed.
    Timeout,
    /// The caller canceled the call.
    Canceled,
    /// The connection ended before the response arrived.
    Lost(String),
    /// The request was never sent.
    NotSent(String),
    /// The request was sent, but the session or the connection turned out to be unusable.
    Broken(String),
    /// The upstream denied access.
    Denied(String),
    /// The upstream is a web server that does not understand the request.
    NotMcp(String),
    /// Sending or receiving failed in another way.
    Transport(String),
}

/// Sends a request and waits for its result. Forwards what the upstream sends before that.
pub(crate) async fn exchange(
    link: &Link,
    mut request: ClientRequest,
    cx: &CallContext,
    until: Instant,
) -> Result<Value, Failure> {
    let (in_flight, mut events) = link.calls.begin();
    request.extensions_mut().insert(in_flight.call.clone());
    let mut options = PeerRequestOptions::no_options();
    if link.is_stateless() {
        let mut meta = RequestMetaObject::new();
        // Without a level the upstream sends no log messages at all.
        meta.set_log_level(LoggingLevel::Info);
        // The upstream may request only what the client behind this call supports.
        meta.set_client_capabilities(client_capabilities(cx));
        options = options.with_meta(meta);
    }
    let sent = tokio::time::timeout_at(until, link.peer.send_cancellable_request(request, options)).await;
    let handle = match sent {
        Ok(Ok(handle)) => handle,
        Ok(Err(_)) => return Err(Failure::NotSent("the connection is closed".into())),
        Err(_) => return Err(Failure::Timeout),
    };
    let mut cancel_on_drop = CancelOnDrop { peer: link.peer.clone(), id: Some(handle.id) };
    let mut response = handle.rx;
    let mut reporter = Reporter { cx, progress: f64::NEG_INFINITY };
    let mut input_requests = FuturesUnordered::new();
    let (mut canceled, mut deadline) = (pin!(cx.cancelled()), pin!(sleep_until(until)));
    let mut lost = pin!(link.lost());
    let waited = cx.wait_time();
    let response = loop {
        tokio::select! {
            biased;
            response = &mut response => break response,
            // Checked before the events, so that a flood of events cannot delay the end.
            () = &mut canceled => return Err(Failure::Canceled),
            () = &mut deadline => {
                // The time that the client took to provide input does not count.
                let until = until + cx.wait_time().saturating_sub(waited);
                if until <= Instant::now() {
                    return Err(Failure::Timeout);
                }
                deadline.as_mut().reset(until);
            }
            reason = &mut lost => {
                cancel_on_drop.id = None;
                return Err(Failure::Lost(reason.to_string()));
            }
            Some(event) = events.recv() => match event {
                Event::Input { reply, .. } if input_requests.len() >= MAX_INPUT_REQUESTS => {
                    let _ = reply.send(Err("the call has too many open input requests".to_owned()));
                }
                Event::Input { request, reply } => input_requests.push(async move {
                    let response = cx.ask_in_place(request).await;
                    let _ = reply.send(response.map_err(|error| error.to_string()));
                }),
                event => reporter.report(event).await,
            },
            Some(()) = input_requests.next(), if !input_requests.is_empty() => {}
        }
    };
    cancel_on_drop.id = None;
    // Events that arrived before the response are reported before it.
    while let Ok(event) = events.try_recv() {
        reporter.report(event).await;
    }
    match response {
        Ok(Ok(result)) => {
            raw_result(result).map_err(|error| Failure::Transport(format!("cannot read its result: {error}")))
        }
        Ok(Err(ServiceError::McpError(error))) => Err(Failure::Rejected(error)),
        Ok(Err(ServiceError::TransportSend(error))) => match http_failure(&error) {
            Some(failure) => Err(failure),
            None => Err(lost_connection(link, until).await),
        },
        Ok(Err(ServiceError::TransportClosed)) | Err(_) => Err(lost_connection(link, until).await),
        Ok(Err(error)) => Err(Failure::Transport(error.to_string())),
    }
}

/// Returns the input requests that the client behind a call supports, of those that we forward.
fn client_capabilities(cx: &CallContext) -> ClientCapabilities {
    let mut capabilities = cx.client().capabilities;
    capabilities.retain(|name, _| InputKind::ALL.iter().any(|kind| kind.capability() == name));
    // A client whose declaration is invalid gets no requests at all.
    serde_json::from_value(Value::Object(capabilities)).unwrap_or_default()
}

/// Returns why the connection ended, which is known shortly after it did.
async fn lost_connection(link: &Link, until: Instant) -> Failure {
    let until = until.min(Instant::now() + LOST_TIMEOUT);
    match tokio::time::timeout_at(until, link.lost()).await {
        Ok(reason) => Failure::Lost(reason.to_string()),
        Err(_) => Failure::Lost("the connection was closed".into()),
    }
}

/// Forwards progress and log messages. Skips progress that does not increase, as the protocol requires.
struct Reporter<'a> {
    cx: &'a CallContext,
    progress: f64,
}

impl Reporter<'_> {
    async fn report(&mut self, event: Event) {
        match event {
            Event::Progress(Progress { done, total, message }) if done > self.progress => {
                self.progress = done;
                self.cx.progress(done, total, message.as_deref()).await;
            }
            Event::Log { level, logger, data } => self.cx.log(level, logger.as_deref(), data).await,
            Event::Progress(_) | Event::Input { .. } => {}
        }
    }
}

/// Sends the upstream a cancellation when it is dropped before the response arrived.
struct CancelOnDrop {
    peer: Peer<RoleClient>,
    id: Option<RequestId>,
}

impl Drop for CancelOnDrop {
    fn drop(&mut self) {
        let (Some(id), Ok(runtime)) = (self.id.take(), tokio::runtime::Handle::try_current()) else { return };
        let peer = self.peer.clone();
        runtime.spawn(async move {
            let reason = Some("the caller stopped waiting".to_owned());
            // Fails only if the upstream is gone, which then needs no cancellation.
            let _ = peer.notify_cancelled(CancelledNotificationParam::new(Some(id), reason)).await;
        });
    }
}

/// Classifies an error of the HTTP transport; `None` if it is another error.
pub(crate) fn http_failure(error: &DynamicTransportError) -> Option<Failure> {
    let error = error.error.downcast_ref::<StreamableHttpError<reqwest::Error>>()?;
    Some(match error {
        StreamableHttpError::SessionExpired => Failure::Broken("no longer knows our session".into()),
        StreamableHttpError::AuthRequired(_) => Failure::Denied(denied(401)),
        StreamableHttpError::InsufficientScope(_) => Failure::Denied(denied(403)),
        StreamableHttpError::UnexpectedServerResponse(text) if text.starts_with("HTTP 401") => {
            Failure::Denied(denied(401))
        }
        StreamableHttpError::UnexpectedServerResponse(text) if text.starts_with("HTTP 403") => {
            Failure::Denied(denied(403))
        }
        StreamableHttpError::Client(error) if error.is_connect() => {
            Failure::NotSent(format!("cannot connect: {}", root_cause(error)))
        }
        StreamableHttpError::Client(error) if error.is_request() && !error.is_timeout() => {
            Failure::Broken(format!("closed the connection ({})", root_cause(error)))
        }
        StreamableHttpError::Client(error) => Failure::Transport(root_cause(error)),
        StreamableHttpError::HttpStatus(error) => Failure::Transport(format!("it returned {error}")),
        StreamableHttpError::UnexpectedServerResponse(text) if text.starts_with("HTTP ") => {
            Failure::NotMcp(format!("it returned {text}; check the path in `url`"))
        }
        StreamableHttpError::UnexpectedContentType(kind) => {
            let kind = kind.as_deref().map_or("a response without a content type", |kind| truncate(kind, 60));
            Failure::NotMcp(format!("it returned {kind}, which is not MCP; check the path in `url`"))
        }
        error => Failure::Transport(error.to_string()),
    })
}

fn denied(status: u16) -> String {
    let hint = if status == 401 {
        "check the token in `headers`"
    } else {
        "the token in `headers` does not allow this"
    };
    format!("it returned HTTP {status}; {hint}")
}

/// Returns the innermost error, which says what happened; the outer ones only repeat the URL.
fn root_cause(error: &(dyn Error + 'static)) -> String {
    let mut error = error;
    while let Some(source) = error.source() {
        error = source;
    }
    error.to_string()
}
