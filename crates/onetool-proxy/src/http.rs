//! The streamable HTTP transport: headers stay on their origin, nothing is read beyond a limit, and a lost session is
//! ours to renew.
//!
//! Messages are sent by our own code rather than by the SDK's, which reads a JSON body of any size into memory.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use ::http::header::{ACCEPT, CONTENT_TYPE, RETRY_AFTER, WWW_AUTHENTICATE};
use ::http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use indexmap::IndexMap;
use reqwest::Response;
use reqwest::redirect::Policy;
use rmcp::model::{
    ClientJsonRpcMessage, ClientRequest, ErrorData, JsonRpcMessage, RequestId, ServerJsonRpcMessage,
};
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::transport::common::client_side_sse::BoxedSseResponse;
use rmcp::transport::streamable_http_client::{
    AuthRequiredError, HttpStatusError, InsufficientScopeError, StreamableHttpClient,
    StreamableHttpClientTransportConfig, StreamableHttpError, StreamableHttpPostResponse,
};
use url::Url;

use crate::events::{self, ReadError};
use crate::unreadable::{self, Form, Reader};

const MAX_REDIRECTS: usize = 5;
const CONCURRENT_REQUESTS: usize = 64;
/// How much of a failed response is read: an error of JSON-RPC is small, and a page for people is not shown.
const MAX_FAILURE: usize = 64 * 1024;
/// How long such a response may take to arrive.
const FAILURE_PATIENCE: Duration = Duration::from_secs(5);
/// How long to wait for a connection; a server that takes longer to accept one is not there.
const MAX_CONNECT: Duration = Duration::from_secs(15);

const SESSION_ID: HeaderName = HeaderName::from_static("mcp-session-id");
const JSON: &str = "application/json";
pub(crate) const EVENTS: &str = "text/event-stream";

pub(crate) type Headers = HashMap<HeaderName, HeaderValue>;
pub(crate) type HttpError = StreamableHttpError<reqwest::Error>;

/// Makes the client of a checked configuration, and the headers of its requests.
pub(crate) fn client(
    headers: &IndexMap<String, String>,
    patience: Duration,
) -> Result<(reqwest::Client, Headers), String> {
    let client = reqwest::Client::builder()
        .user_agent(concat!("onetool/", env!("CARGO_PKG_VERSION")))
        .connect_timeout(patience.min(MAX_CONNECT))
        .tcp_nodelay(true)
        .redirect(stay_on_the_origin())
        .build()
        .map_err(|error| format!("cannot make an HTTP client: {error}"))?;
    let header = |(name, value): (&String, &String)| {
        let mut value = HeaderValue::try_from(value.as_str()).ok()?;
        value.set_sensitive(true);
        Some((HeaderName::try_from(name.as_str()).ok()?, value))
    };
    Ok((client, headers.iter().filter_map(header).collect()))
}

/// Makes the transport.
pub(crate) fn transport(
    name: Arc<str>,
    url: &Url,
    client: reqwest::Client,
    headers: Headers,
    max_message: usize,
    patience: Duration,
) -> StreamableHttpClientTransport<Client> {
    let config = StreamableHttpClientTransportConfig::with_uri(url.as_str())
        .custom_headers(headers)
        .max_concurrent_requests(CONCURRENT_REQUESTS)
        .max_sse_event_size(max_message)
        // The SDK would repeat every call of a lost session, also one that must not run twice.
        .reinit_on_expired_session(false);
    StreamableHttpClientTransport::with_client(Client { name, max_message, patience, inner: client }, config)
}

/// Sends messages and reads responses, of which none is longer than the limit.
#[derive(Clone)]
pub(crate) struct Client {
    name: Arc<str>,
    max_message: usize,
    /// How long a body may take to arrive. Nobody waits for a call longer than that.
    patience: Duration,
    inner: reqwest::Client,
}

impl Client {
    /// Reads the response to a message that was accepted.
    async fn success(
        &self,
        response: Response,
        message: &ClientJsonRpcMessage,
        session: Option<String>,
    ) -> Result<StreamableHttpPostResponse, HttpError> {
        let kind = content_type(&response);
        let reader = Reader { server: self.name.clone(), form: Form::of(message) };
        if kind.starts_with(EVENTS) {
            let events = events::of(response, reader, request_id(message), self.max_message);
            return Ok(StreamableHttpPostResponse::Sse(events, session));
        }
        // A notification needs no answer, whatever the server makes of it.
        let Some(id) = request_id(message) else { return Ok(StreamableHttpPostResponse::Accepted) };
        if !kind.starts_with(JSON) {
            return Err(HttpError::UnexpectedContentType((!kind.is_empty()).then_some(kind)));
        }
        let failed = |reason: &str| unreadable::failed(&self.name, id.clone(), reason);
        let answer = match events::read(response, self.max_message, self.patience).await {
            Err(ReadError::Broken(error)) => return Err(HttpError::Client(error)),
            Err(ReadError::TooLate) => failed("it did not arrive in time"),
            Err(ReadError::TooLong) => failed(&events::too_long(self.max_message)),
            Ok(body) => reader.message(&body).unwrap_or_else(|error| failed(&error)),
        };
        Ok(StreamableHttpPostResponse::Json(answer, session))
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
        let mut request = self.inner.post(uri.as_ref()).header(ACCEPT, format!("{EVENTS}, {JSON}"));
        if let Some(token) = token {
            request = request.bearer_auth(token);
        }
        for (name, value) in headers {
            request = request.header(name, value);
        }
        if let Some(session) = &session {
            request = request.header(SESSION_ID, session.as_ref());
        }
        let response = request.json(&message).send().await?;
        let status = response.status();
        let own_session =
            response.headers().get(SESSION_ID).and_then(|id| id.to_str().ok()?.to_owned().into());
        match status {
            StatusCode::ACCEPTED | StatusCode::NO_CONTENT => return Ok(StreamableHttpPostResponse::Accepted),
            StatusCode::NOT_FOUND if session.is_some() => return Err(HttpError::SessionExpired),
            _ if status.is_success() => {
                return self.success(response, &message, own_session).await;
            }
            _ => {}
        }
        if let Some(challenged) = challenge(status, response.headers()) {
            return Err(challenged);
        }
        let is_json = content_type(&response).starts_with(JSON);
        let busy = busy(status, response.headers());
        // Nothing else that such a server says would help.
        let says_enough = !is_json || status == StatusCode::TOO_MANY_REQUESTS;
        let body = match busy {
            Some(busy) if says_enough => return Err(busy.into()),
            _ => events::read(response, MAX_FAILURE, FAILURE_PATIENCE).await.unwrap_or_default(),
        };
        let is_denied = matches!(status, StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN);
        let error = serde_json::from_slice(&body).ok().filter(|_| !is_denied);
        // A server of an older revision refuses what it does not know in many ways, all of which mean the same.
        if session.is_none()
            && status.is_client_error()
            && !is_denied
            && let Some(id) = discovery(&message)
        {
            let error = match error {
                Some(ServerJsonRpcMessage::Error(error)) => error.error,
                _ => ErrorData::invalid_request(format!("HTTP {status}"), None),
            };
            let answer = ServerJsonRpcMessage::error(error, Some(id));
            return Ok(StreamableHttpPostResponse::Json(answer, None));
        }
        match (error.filter(|_| is_json), busy) {
            (Some(error @ ServerJsonRpcMessage::Error(_)), _) => {
                Ok(StreamableHttpPostResponse::Json(error, own_session))
            }
            (_, Some(busy)) => Err(busy.into()),
            // Not its body: that is a page for people, if anything.
            (_, None) => Err(HttpError::UnexpectedServerResponse(format!("HTTP {status}").into())),
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
        let max = self.max_message;
        let events =
            inner.get_stream_with_max_sse_event_size(uri, session, last_event, token, headers, max).await?;
        Ok(events::readable(events, Reader { server: self.name.clone(), form: Form::Raw }))
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

fn request_id(message: &ClientJsonRpcMessage) -> Option<RequestId> {
    match message {
        JsonRpcMessage::Request(request) => Some(request.id.clone()),
        _ => None,
    }
}

/// Returns the id of a question for the newest revision.
fn discovery(message: &ClientJsonRpcMessage) -> Option<RequestId> {
    match message {
        JsonRpcMessage::Request(request) if matches!(request.request, ClientRequest::DiscoverRequest(_)) => {
            Some(request.id.clone())
        }
        _ => None,
    }
}

pub(crate) fn content_type(response: &Response) -> String {
    let kind = response.headers().get(CONTENT_TYPE);
    kind.map(|kind| String::from_utf8_lossy(kind.as_bytes()).to_ascii_lowercase()).unwrap_or_default()
}

/// Returns the error of a response that wants us to sign in, or to ask for more rights.
fn challenge(status: StatusCode, headers: &HeaderMap) -> Option<HttpError> {
    let challenge = headers.get(WWW_AUTHENTICATE)?.to_str().ok()?.to_owned();
    match status {
        StatusCode::UNAUTHORIZED => Some(HttpError::AuthRequired(AuthRequiredError::new(challenge))),
        StatusCode::FORBIDDEN => {
            Some(HttpError::InsufficientScope(InsufficientScopeError::new(challenge, None)))
        }
        _ => None,
    }
}

/// Returns the error of a server that has too much to do, or is broken.
fn busy(status: StatusCode, headers: &HeaderMap) -> Option<HttpStatusError> {
    let is_busy = status == StatusCode::TOO_MANY_REQUESTS || status.is_server_error();
    let wait = headers.get(RETRY_AFTER).and_then(|wait| wait.to_str().ok());
    is_busy.then(|| HttpStatusError::new(status.as_u16(), wait.map(str::to_owned)))
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
