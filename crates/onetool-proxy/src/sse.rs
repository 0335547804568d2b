//! The transport before streamable HTTP: messages come as events of one stream, which also names where to send ours.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use ::http::HeaderMap;
use ::http::header::ACCEPT;
use futures::StreamExt as _;
use rmcp::RoleClient;
use rmcp::model::{ClientJsonRpcMessage, JsonRpcMessage, RequestId, ServerJsonRpcMessage};
use rmcp::transport::Transport;
use rmcp::transport::common::client_side_sse::BoxedSseResponse;
use rmcp::transport::streamable_http_client::HttpStatusError;
use tokio::time::timeout;
use url::Url;

use crate::events;
use crate::http::{EVENTS, Headers, HttpError, content_type};
use crate::unreadable::{self, Form, Reader, is_handshake, request_id};

/// How long such a server may take to name where messages go; it is the first thing that it says.
const PATIENCE: Duration = Duration::from_secs(10);

/// One stream of events, and where messages go.
pub(crate) struct EventTransport {
    reader: Reader,
    client: reqwest::Client,
    headers: HeaderMap,
    target: Url,
    events: BoxedSseResponse,
    /// Requests of the handshake, whose answers the SDK wants in its own types.
    typed: HashSet<RequestId>,
}

/// Opens the stream, if the server has this transport.
pub(crate) async fn open(
    server: Arc<str>,
    url: &Url,
    client: reqwest::Client,
    headers: Headers,
    max_message: usize,
) -> Option<EventTransport> {
    let headers: HeaderMap = headers.into_iter().collect();
    let opened = async {
        let request = client.get(url.clone()).headers(headers.clone()).header(ACCEPT, EVENTS);
        let response = request.send().await.ok()?.error_for_status().ok()?;
        if !content_type(&response).starts_with(EVENTS) {
            return None;
        }
        let mut events = events::plain(response, max_message);
        let first = events.next().await?.ok()?;
        (first.event.as_deref() == Some("endpoint")).then_some((first.data?, events))
    };
    let (target, events) = timeout(PATIENCE, opened).await.ok()??;
    let target = url.join(target.trim()).ok()?;
    // Headers may carry credentials, which are for nobody but the server that the operator named.
    if target.origin() != url.origin() {
        tracing::warn!(%server, "its stream names another origin to send messages to, {}", target.origin().ascii_serialization());
        return None;
    }
    let reader = Reader { server, form: Form::Raw };
    Some(EventTransport { reader, client, headers, target, events, typed: HashSet::new() })
}

impl Transport<RoleClient> for EventTransport {
    type Error = HttpError;

    fn send(
        &mut self,
        message: ClientJsonRpcMessage,
    ) -> impl Future<Output = Result<(), HttpError>> + Send + 'static {
        if let JsonRpcMessage::Request(request) = &message
            && is_handshake(&message)
        {
            self.typed.insert(request.id.clone());
        }
        let request = self.client.post(self.target.clone()).headers(self.headers.clone()).json(&message);
        async move {
            let status = request.send().await?.status();
            if status.is_success() { Ok(()) } else { Err(HttpStatusError::new(status.as_u16(), None).into()) }
        }
    }

    async fn receive(&mut self) -> Option<ServerJsonRpcMessage> {
        loop {
            // What breaks off is over: such a server has no way to go on with a stream.
            let event = self.events.next().await?.ok()?;
            if event.event.is_some_and(|kind| kind != "message") {
                continue;
            }
            let Some(data) = event.data else { continue };
            let read = unreadable::data(data.as_bytes()).and_then(|message| {
                let id = message.get("id").and_then(request_id);
                let is_typed = id.is_some_and(|id| self.typed.contains(&id));
                unreadable::typed(message, if is_typed { Form::Typed } else { Form::Raw })
                    .map_err(|error| error.to_string())
            });
            let message = match read {
                Ok(message) => Some(message),
                Err(error) => unreadable::replaced(&self.reader.server, data.as_bytes(), &error),
            };
            if message.is_some() {
                return message;
            }
        }
    }

    async fn close(&mut self) -> Result<(), HttpError> {
        self.events = futures::stream::empty().boxed();
        Ok(())
    }
}
