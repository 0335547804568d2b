//! One request to an upstream and its answer, with everything that goes to and fro meanwhile.

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
    LoggingLevel, RequestId, RequestMetaObject, ServerResult,
};
use rmcp::service::{Peer, PeerRequestOptions, ServiceError};
use rmcp::transport::DynamicTransportError;
use rmcp::transport::streamable_http_client::StreamableHttpError;
use serde_json::Value;
use tokio::time::{Instant, sleep_until};

use crate::calls::Event;
use crate::events;
use crate::link::Link;
use crate::scrub::cut;
use crate::unreadable;

/// Questions of one call that may be open at the same time.
const MAX_QUESTIONS: usize = 16;

/// A request that got no result.
pub(crate) enum Failure {
    /// The upstream answered with an error.
    Refused(ErrorData),
    /// The time was up.
    Timeout,
    /// The caller gave up.
    Cancelled,
    /// The connection ended before the answer came.
    Lost(String),
    /// The request never left us.
    NotSent(String),
    /// The request left us, and then the session or the connection turned out to be of no use any more.
    Broken(String),
    /// The upstream does not let us in.
    Denied(String),
    /// The upstream is a web server that does not know what we sent.
    NotUnderstood(String),
    /// Sending or receiving failed in another way.
    Transport(String),
}

/// Sends a request and waits for its result, passing on what the upstream says before.
pub(crate) async fn exchange(
    link: &Link,
    mut request: ClientRequest,
    cx: &CallContext,
    until: Instant,
) -> Result<Value, Failure> {
    let (entry, mut events) = link.calls.begin();
    request.extensions_mut().insert(entry.call.clone());
    let mut options = PeerRequestOptions::no_options();
    if link.is_stateless() {
        let mut meta = RequestMetaObject::new();
        // Without this the upstream sends no log messages at all.
        meta.set_log_level(LoggingLevel::Info);
        // It may ask for what the client behind this call can answer, and for nothing else.
        meta.set_client_capabilities(capabilities_of(cx));
        options = options.with_meta(meta);
    }
    let sent = tokio::time::timeout_at(until, link.peer.send_cancellable_request(request, options)).await;
    let handle = match sent {
        Ok(Ok(handle)) => handle,
        Ok(Err(_)) => return Err(Failure::NotSent("the connection is closed".into())),
        Err(_) => return Err(Failure::Timeout),
    };
    let mut abandoned = Abandoned { peer: link.peer.clone(), id: Some(handle.id) };
    let mut answer = handle.rx;
    let mut reporter = Reporter { cx, done: f64::NEG_INFINITY };
    let mut questions = FuturesUnordered::new();
    let (mut cancelled, mut time_is_up) = (pin!(cx.cancelled()), pin!(sleep_until(until)));
    let mut lost = pin!(link.lost());
    let waited = cx.waited();
    let answer = loop {
        tokio::select! {
            biased;
            answer = &mut answer => break answer,
            // Before the events, so that a flood of reports cannot hold up the end.
            () = &mut cancelled => return Err(Failure::Cancelled),
            () = &mut time_is_up => {
                // While the client is asked something, the upstream waits for us.
                let until = until + cx.waited().saturating_sub(waited);
                if until <= Instant::now() {
                    return Err(Failure::Timeout);
                }
                time_is_up.as_mut().reset(until);
            }
            reason = &mut lost => {
                abandoned.id = None;
                return Err(Failure::Lost(reason.to_string()));
            }
            Some(event) = events.recv() => match event {
                Event::Ask { answer, .. } if questions.len() >= MAX_QUESTIONS => {
                    let _ = answer.send(Err("the call has too many open questions".to_owned()));
                }
                Event::Ask { request, answer } => questions.push(async move {
                    let asked = cx.ask_here(request).await;
                    let _ = answer.send(asked.map_err(|error| error.to_string()));
                }),
                event => reporter.report(event).await,
            },
            Some(()) = questions.next(), if !questions.is_empty() => {}
        }
    };
    abandoned.id = None;
    // What was said before the answer is passed on before it.
    while let Ok(event) = events.try_recv() {
        reporter.report(event).await;
    }
    match answer {
        Ok(Ok(result)) => plain(result),
        Ok(Err(ServiceError::McpError(error))) => Err(Failure::Refused(error)),
        Ok(Err(ServiceError::TransportSend(error))) => match http_failure(&error) {
            Some(failure) => Err(failure),
            None => Err(end_of(link, until).await),
        },
        Ok(Err(ServiceError::TransportClosed)) | Err(_) => Err(end_of(link, until).await),
        Ok(Err(error)) => Err(Failure::Transport(error.to_string())),
    }
}

/// Returns which of the questions that we pass on the client behind a call can answer.
fn capabilities_of(cx: &CallContext) -> ClientCapabilities {
    let mut known = cx.client().capabilities;
    known.retain(|name, _| InputKind::ALL.iter().any(|kind| kind.capability() == name));
    // A client that declares them in another form than the protocol's is not asked at all.
    serde_json::from_value(Value::Object(known)).unwrap_or_default()
}

/// Returns why the connection ended, which is known a moment after it has.
async fn end_of(link: &Link, until: Instant) -> Failure {
    let patience = until.min(Instant::now() + Duration::from_secs(5));
    match tokio::time::timeout_at(patience, link.lost()).await {
        Ok(reason) => Failure::Lost(reason.to_string()),
        Err(_) => Failure::Lost("the connection was closed".into()),
    }
}

/// Makes plain data of a result, whatever type the SDK took it for.
pub(crate) fn plain(result: ServerResult) -> Result<Value, Failure> {
    match result {
        ServerResult::CustomResult(result) => Ok(events::uncarried(result.0)),
        typed => serde_json::to_value(typed)
            .map(unreadable::as_it_came)
            .map_err(|error| Failure::Transport(format!("its answer cannot be read: {error}"))),
    }
}

/// Passes reports on. Progress that does not grow is left out, as the protocol demands.
struct Reporter<'a> {
    cx: &'a CallContext,
    done: f64,
}

impl Reporter<'_> {
    async fn report(&mut self, event: Event) {
        match event {
            Event::Progress(Progress { done, total, message }) if done > self.done => {
                self.done = done;
                self.cx.progress(done, total, message.as_deref()).await;
            }
            Event::Log { level, logger, data } => self.cx.log(level, logger.as_deref(), data).await,
            Event::Progress(_) | Event::Ask { .. } => {}
        }
    }
}

/// Tells the upstream about a request that nobody waits for any more, when it is dropped.
struct Abandoned {
    peer: Peer<RoleClient>,
    id: Option<RequestId>,
}

impl Drop for Abandoned {
    fn drop(&mut self) {
        let (Some(id), Ok(runtime)) = (self.id.take(), tokio::runtime::Handle::try_current()) else { return };
        let peer = self.peer.clone();
        runtime.spawn(async move {
            let reason = Some("the caller no longer waits".to_owned());
            // An upstream that is gone need not know.
            let _ = peer.notify_cancelled(CancelledNotificationParam::new(Some(id), reason)).await;
        });
    }
}

/// Reads an error of the HTTP transport; none if it is not one of those.
pub(crate) fn http_failure(error: &DynamicTransportError) -> Option<Failure> {
    let error = error.error.downcast_ref::<StreamableHttpError<reqwest::Error>>()?;
    Some(match error {
        StreamableHttpError::SessionExpired => Failure::Broken("had forgotten our session".into()),
        StreamableHttpError::AuthRequired(_) => Failure::Denied(denied(401)),
        StreamableHttpError::InsufficientScope(_) => Failure::Denied(denied(403)),
        StreamableHttpError::UnexpectedServerResponse(text) if text.starts_with("HTTP 401") => {
            Failure::Denied(denied(401))
        }
        StreamableHttpError::UnexpectedServerResponse(text) if text.starts_with("HTTP 403") => {
            Failure::Denied(denied(403))
        }
        StreamableHttpError::Client(error) if error.is_connect() => {
            Failure::NotSent(format!("cannot connect: {}", innermost(error)))
        }
        StreamableHttpError::Client(error) if error.is_request() && !error.is_timeout() => {
            Failure::Broken(format!("broke off the connection ({})", innermost(error)))
        }
        StreamableHttpError::Client(error) => Failure::Transport(innermost(error)),
        StreamableHttpError::HttpStatus(error) => Failure::Transport(format!("it answers with {error}")),
        StreamableHttpError::UnexpectedServerResponse(text) if text.starts_with("HTTP ") => {
            Failure::NotUnderstood(format!("it answers with {text}; check the path in `url`"))
        }
        StreamableHttpError::UnexpectedContentType(kind) => {
            let kind = kind.as_deref().map_or("something without a type", |kind| cut(kind, 60));
            Failure::NotUnderstood(format!(
                "it answers with {kind}, which is not MCP; check the path in `url`"
            ))
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
    format!("it answers with HTTP {status}; {hint}")
}

/// Returns the first cause of an error, which says what happened; the outer ones repeat the URL.
fn innermost(error: &(dyn Error + 'static)) -> String {
    let mut error = error;
    while let Some(source) = error.source() {
        error = source;
    }
    error.to_string()
}
