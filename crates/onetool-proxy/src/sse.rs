//! The HTTP+SSE transport of revision 2024-11-05: one event stream carries all messages from the server, and names the
//! URL to send ours to.

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

use crate::body;
use crate::decode::{self, Form, is_handshake, request_id};
use crate::http::{EVENTS, Headers, HttpError, content_type};

/// How long to wait for the URL for messages, which is the first event of the stream.
const ENDPOINT_TIMEOUT: Duration = Duration::from_secs(10);

/// An open event stream, and the URL for messages.
pub(crate) struct SseTransport {
    server: Arc<str>,
    client: reqwest::Client,
    headers: HeaderMap,
    endpoint: Url,
    events: BoxedSseResponse,
    /// Requests of the handshake, whose responses the SDK needs in its own types.
    typed: HashSet<RequestId>,
}

/// Opens the stream; `None` if the server does not support this transport.
pub(crate) async fn open(
    server: Arc<str>,
    url: &Url,
    client: reqwest::Client,
    headers: Headers,
    max_message: usize,
) -> Option<SseTransport> {
    let headers: HeaderMap = headers.into_iter().collect();
    let opened = async {
        let request = client.get(url.clone()).headers(headers.clone()).header(ACCEPT, EVENTS);
        let response = request.send().await.ok()?.error_for_status().ok()?;
        if !content_type(&response).starts_with(EVENTS) {
            return None;
        }
        let mut events = body::events(response, max_message);
        let first = events.next().await?.ok()?;
        (first.event.as_deref() == Some("endpoint")).then_some((first.data?, events))
    };
    let (endpoint, events) = timeout(ENDPOINT_TIMEOUT, opened).await.ok()??;
    let endpoint = url.join(endpoint.trim()).ok()?;
    // Headers may contain credentials, which only the configured server may see.
    if endpoint.origin() != url.origin() {
        let origin = endpoint.origin().ascii_serialization();
        tracing::warn!(%server, "its event stream names an endpoint on another origin, {origin}");
        return None;
    }
    Some(SseTransport { server, client, headers, endpoint, events, typed: HashSet::new() })
}

impl Transport<RoleClient> for SseTransport {
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
        let request = self.client.post(self.endpoint.clone()).headers(self.headers.clone()).json(&message);
        async move {
            let status = request.send().await?.status();
            if status.is_success() { Ok(()) } else { Err(HttpStatusError::new(status.as_u16(), None).into()) }
        }
    }

    async fn receive(&mut self) -> Option<ServerJsonRpcMessage> {
        loop {
            // A stream that ends or breaks is lost: this transport cannot resume one.
            let event = self.events.next().await?.ok()?;
            if event.event.is_some_and(|kind| kind != "message") {
                continue;
            }
            let Some(data) = event.data else { continue };
            let decoded = decode::parse(data.as_bytes()).and_then(|message| {
                let id = message.get("id").and_then(request_id);
                let is_typed = id.is_some_and(|id| self.typed.contains(&id));
                decode::typed(message, if is_typed { Form::Typed } else { Form::Raw })
                    .map_err(|error| error.to_string())
            });
            let message = match decoded {
                Ok(message) => Some(message),
                Err(error) => decode::error_for_message(&self.server, data.as_bytes(), &error),
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
