//! The streamable HTTP transport. Headers are sent to their own origin only, response sizes are limited, and an expired
//! session is renewed by us instead of the SDK.
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

use crate::body::{self, ReadError};
use crate::decode::{self, Decoder, Form};

const MAX_REDIRECTS: usize = 5;
const MAX_CONCURRENT_REQUESTS: usize = 64;
/// Maximum size of an error response that is read: a JSON-RPC error is small, and an HTML page is not shown.
const MAX_ERROR_BODY: usize = 64 * 1024;
/// How long an error response may take to arrive.
const ERROR_BODY_TIMEOUT: Duration = Duration::from_secs(5);
/// How long to wait for a TCP connection; a server that takes longer to accept one is down.
const MAX_CONNECT_TIMEOUT: Duration = Duration::from_secs(15);

const SESSION_ID: HeaderName = HeaderName::from_static("mcp-session-id");
const JSON: &str = "application/json";
pub(crate) const EVENTS: &str = "text/event-stream";

pub(crate) type Headers = HashMap<HeaderName, HeaderValue>;
pub(crate) type HttpError = StreamableHttpError<reqwest::Error>;

/// Creates the client of a checked configuration, and the headers of its requests.
pub(crate) fn client(
    headers: &IndexMap<String, String>,
    connect_timeout: Duration,
) -> Result<(reqwest::Client, Headers), String> {
    let client = reqwest::Client::builder()
        .user_agent(concat!("onetool/", env!("CARGO_PKG_VERSION")))
        .connect_timeout(connect_timeout.min(MAX_CONNECT_TIMEOUT))
        .tcp_nodelay(true)
        .redirect(same_origin_only())
        .build()
        .map_err(|error| format!("cannot create an HTTP client: {error}"))?;
    let header = |(name, value): (&String, &String)| {
        let mut value = HeaderValue::try_from(value.as_str()).ok()?;
        value.set_sensitive(true);
        Some((HeaderName::try_from(name.as_str()).ok()?, value))
    };
    Ok((client, headers.iter().filter_map(header).collect()))
}

/// Creates the transport. `body_timeout` limits how long the body of a response may take.
pub(crate) fn transport(
    name: Arc<str>,
    url: &Url,
    client: reqwest::Client,
    headers: Headers,
    max_message: usize,
    body_timeout: Duration,
) -> StreamableHttpClientTransport<Client> {
    let config = StreamableHttpClientTransportConfig::with_uri(url.as_str())
        .custom_headers(headers)
        .max_concurrent_requests(MAX_CONCURRENT_REQUESTS)
        .max_sse_event_size(max_message)
        // The SDK would repeat every call of an expired session, even one that must not run twice.
        .reinit_on_expired_session(false);
    StreamableHttpClientTransport::with_client(
        Client { name, max_message, body_timeout, inner: client },
        config,
    )
}

/// Sends messages and reads responses up to the size limit.
#[derive(Clone)]
pub(crate) struct Client {
    name: Arc<str>,
    max_message: usize,
    /// How long a body may take to arrive: the timeout of a call.
    body_timeout: Duration,
    inner: reqwest::Client,
}

impl Client {
    /// Reads a successful response.
    async fn read_response(
        &self,
        response: Response,
        message: &ClientJsonRpcMessage,
        session: Option<String>,
    ) -> Result<StreamableHttpPostResponse, HttpError> {
        let kind = content_type(&response);
        let decoder = Decoder { server: self.name.clone(), form: Form::for_request(message) };
        if kind.starts_with(EVENTS) {
            let events = body::messages(response, decoder, request_id(message), self.max_message);
            return Ok(StreamableHttpPostResponse::Sse(events, session));
        }
        // A notification has no response, whatever the server sends.
        let Some(id) = request_id(message) else { return Ok(StreamableHttpPostResponse::Accepted) };
        if !kind.starts_with(JSON) {
            return Err(HttpError::UnexpectedContentType((!kind.is_empty()).then_some(kind)));
        }
        let failed = |reason: &str| decode::error_for_request(&self.name, id.clone(), reason);
        let message = match body::read(response, self.max_message, self.body_timeout).await {
            Err(ReadError::Http(error)) => return Err(HttpError::Client(error)),
            Err(ReadError::Timeout) => failed("it did not arrive in time"),
            Err(ReadError::TooLong) => failed(&body::too_long(self.max_message)),
            Ok(body) => decoder.decode(&body).unwrap_or_else(|error| failed(&error)),
        };
        Ok(StreamableHttpPostResponse::Json(message, session))
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
        let new_session =
            response.headers().get(SESSION_ID).and_then(|id| id.to_str().ok()?.to_owned().into());
        match status {
            StatusCode::ACCEPTED | StatusCode::NO_CONTENT => return Ok(StreamableHttpPostResponse::Accepted),
            StatusCode::NOT_FOUND if session.is_some() => return Err(HttpError::SessionExpired),
            _ if status.is_success() => {
                return self.read_response(response, &message, new_session).await;
            }
            _ => {}
        }
        if let Some(error) = auth_error(status, response.headers()) {
            return Err(error);
        }
        let is_json = content_type(&response).starts_with(JSON);
        let unavailable = unavailable_error(status, response.headers());
        // The body would not add anything useful.
        let skips_body = !is_json || status == StatusCode::TOO_MANY_REQUESTS;
        let body = match unavailable {
            Some(error) if skips_body => return Err(error.into()),
            _ => body::read(response, MAX_ERROR_BODY, ERROR_BODY_TIMEOUT).await.unwrap_or_default(),
        };
        let is_denied = matches!(status, StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN);
        let error = serde_json::from_slice(&body).ok().filter(|_| !is_denied);
        // Servers of older revisions reject an unknown request in many ways, all of which mean the same.
        if session.is_none()
            && status.is_client_error()
            && !is_denied
            && let Some(id) = discover_id(&message)
        {
            let error = match error {
                Some(ServerJsonRpcMessage::Error(error)) => error.error,
                _ => ErrorData::invalid_request(format!("HTTP {status}"), None),
            };
            let response = ServerJsonRpcMessage::error(error, Some(id));
            return Ok(StreamableHttpPostResponse::Json(response, None));
        }
        match (error.filter(|_| is_json), unavailable) {
            (Some(error @ ServerJsonRpcMessage::Error(_)), _) => {
                Ok(StreamableHttpPostResponse::Json(error, new_session))
            }
            (_, Some(error)) => Err(error.into()),
            // Without the body, which is an HTML page if anything.
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
        Ok(body::for_sdk(events, Decoder { server: self.name.clone(), form: Form::Raw }))
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

/// Returns the id of a `server/discover` request.
fn discover_id(message: &ClientJsonRpcMessage) -> Option<RequestId> {
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

/// Returns the error of a response that requires authentication or more permissions.
fn auth_error(status: StatusCode, headers: &HeaderMap) -> Option<HttpError> {
    let challenge = headers.get(WWW_AUTHENTICATE)?.to_str().ok()?.to_owned();
    match status {
        StatusCode::UNAUTHORIZED => Some(HttpError::AuthRequired(AuthRequiredError::new(challenge))),
        StatusCode::FORBIDDEN => {
            Some(HttpError::InsufficientScope(InsufficientScopeError::new(challenge, None)))
        }
        _ => None,
    }
}

/// Returns the error of a server that is overloaded or broken.
fn unavailable_error(status: StatusCode, headers: &HeaderMap) -> Option<HttpStatusError> {
    let is_unavailable = status == StatusCode::TOO_MANY_REQUESTS || status.is_server_error();
    let retry_after = headers.get(RETRY_AFTER).and_then(|value| value.to_str().ok());
    is_unavailable.then(|| HttpStatusError::new(status.as_u16(), retry_after.map(str::to_owned)))
}

/// Follows redirects only within the configured origin, because headers may contain credentials.
fn same_origin_only() -> Policy {
    Policy::custom(|attempt| {
        let origin = attempt.previous().first().map(Url::origin);
        if origin.as_ref() != Some(&attempt.url().origin()) {
            let target = attempt.url().origin().ascii_serialization();
            return attempt
                .error(format!("it redirects to {target}; set `url` to that address if you trust it"));
        }
        if attempt.previous().len() > MAX_REDIRECTS {
            return attempt.error(format!("too many redirects (limit {MAX_REDIRECTS})"));
        }
        attempt.follow()
    })
}
