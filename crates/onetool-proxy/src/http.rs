//! The streamable HTTP transport: headers stay on their origin, and a lost session is ours to renew.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use ::http::{HeaderName, HeaderValue};
use futures::StreamExt as _;
use indexmap::IndexMap;
use reqwest::redirect::Policy;
use rmcp::model::{ClientJsonRpcMessage, JsonRpcMessage, ServerJsonRpcMessage};
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::transport::common::client_side_sse::BoxedSseResponse;
use rmcp::transport::streamable_http_client::{
    StreamableHttpClient, StreamableHttpClientTransportConfig, StreamableHttpError,
    StreamableHttpPostResponse,
};
use url::Url;

use crate::unreadable;

const MAX_REDIRECTS: usize = 5;
const CONCURRENT_REQUESTS: usize = 64;

/// Makes the transport of a checked configuration.
pub(crate) fn transport(
    name: Arc<str>,
    url: &Url,
    headers: &IndexMap<String, String>,
    connect_timeout: Duration,
    max_event: usize,
) -> Result<StreamableHttpClientTransport<Client>, String> {
    let client = reqwest::Client::builder()
        .user_agent(concat!("onetool/", env!("CARGO_PKG_VERSION")))
        .connect_timeout(connect_timeout)
        .tcp_nodelay(true)
        .redirect(stay_on_the_origin())
        .build()
        .map_err(|error| format!("cannot make an HTTP client: {error}"))?;
    let headers: HashMap<HeaderName, HeaderValue> = headers
        .iter()
        .filter_map(|(name, value)| {
            let mut value = HeaderValue::try_from(value.as_str()).ok()?;
            value.set_sensitive(true);
            Some((HeaderName::try_from(name.as_str()).ok()?, value))
        })
        .collect();
    let config = StreamableHttpClientTransportConfig::with_uri(url.as_str())
        .custom_headers(headers)
        .max_concurrent_requests(CONCURRENT_REQUESTS)
        .max_sse_event_size(max_event)
        // The SDK would repeat every call of a lost session, also one that must not run twice.
        .reinit_on_expired_session(false);
    Ok(StreamableHttpClientTransport::with_client(Client { name, max_event, inner: client }, config))
}

type Headers = HashMap<HeaderName, HeaderValue>;
type HttpError = StreamableHttpError<reqwest::Error>;

/// The SDK's client, except that a response which cannot be decoded fails its call: the SDK waits for another one.
#[derive(Clone)]
pub(crate) struct Client {
    name: Arc<str>,
    max_event: usize,
    inner: reqwest::Client,
}

impl Client {
    /// Replaces the responses of a stream that cannot be decoded by errors.
    fn readable(&self, events: BoxedSseResponse) -> BoxedSseResponse {
        let name = self.name.clone();
        let replaced = move |data: &str| {
            let error = if unreadable::is_too_heavy(data.as_bytes()) {
                unreadable::TOO_HEAVY.to_owned()
            } else {
                serde_json::from_str::<ServerJsonRpcMessage>(data).err()?.to_string()
            };
            serde_json::to_string(&unreadable::replaced(&name, data.as_bytes(), &error)?).ok()
        };
        let events = events.map(move |event| {
            event.map(|mut event| {
                let error = event.data.as_deref().and_then(&replaced);
                event.data = error.or(event.data);
                event
            })
        });
        events.boxed()
    }
}

impl StreamableHttpClient for Client {
    type Error = reqwest::Error;

    async fn post_message(
        &self,
        uri: Arc<str>,
        message: ClientJsonRpcMessage,
        session: Option<Arc<str>>,
        token: Option<String>,
        headers: Headers,
    ) -> Result<StreamableHttpPostResponse, HttpError> {
        let id = match &message {
            JsonRpcMessage::Request(request) => Some(request.id.clone()),
            _ => None,
        };
        let inner = &self.inner;
        let answered =
            inner.post_message_with_max_sse_event_size(uri, message, session, token, headers, self.max_event);
        match (answered.await, id) {
            (Ok(StreamableHttpPostResponse::Sse(events, session)), _) => {
                Ok(StreamableHttpPostResponse::Sse(self.readable(events), session))
            }
            (Err(StreamableHttpError::UnexpectedServerResponse(text)), Some(id))
                if unreadable::is_too_deep(&text) =>
            {
                Ok(StreamableHttpPostResponse::Json(unreadable::failed(&self.name, id, &text), None))
            }
            (answered, _) => answered,
        }
    }

    async fn get_stream(
        &self,
        uri: Arc<str>,
        session: Option<Arc<str>>,
        last_event: Option<String>,
        token: Option<String>,
        headers: Headers,
    ) -> Result<BoxedSseResponse, HttpError> {
        let inner = &self.inner;
        let events = inner.get_stream_with_max_sse_event_size(
            uri,
            session,
            last_event,
            token,
            headers,
            self.max_event,
        );
        Ok(self.readable(events.await?))
    }

    async fn delete_session(
        &self,
        uri: Arc<str>,
        session: Arc<str>,
        token: Option<String>,
        headers: Headers,
    ) -> Result<(), HttpError> {
        self.inner.delete_session(uri, session, token, headers).await
    }
}

/// Follows redirects on the origin that the operator named, and no further: headers may carry credentials.
fn stay_on_the_origin() -> Policy {
    Policy::custom(|attempt| {
        let origin = attempt.previous().first().map(Url::origin);
        if origin.as_ref() != Some(&attempt.url().origin()) {
            let target = attempt.url().origin().ascii_serialization();
            return attempt
                .error(format!("it redirects to {target}; write that address in `url` if you trust it"));
        }
        if attempt.previous().len() > MAX_REDIRECTS {
            return attempt.error("it redirects too often");
        }
        attempt.follow()
    })
}
