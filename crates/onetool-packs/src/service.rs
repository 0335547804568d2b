//! HTTP requests to the service of a pack, with a client that is created when it is first needed.

use std::sync::OnceLock;
use std::time::Duration;

use onetool_core::{MAX_JSON_WEIGHT, json_weight, parse_bounded_json};
use reqwest::header::HeaderMap;
use reqwest::redirect::Policy;
use reqwest::{Client, RequestBuilder, StatusCode, Url};
use serde_json::Value;

const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
const MAX_REDIRECTS: usize = 5;
const MAX_RESPONSE: usize = 20 * 1024 * 1024;
const MAX_ERROR_BODY: usize = 500;

/// A service that a pack calls.
pub(crate) struct Service {
    /// Its name in messages.
    name: &'static str,
    timeout: Duration,
    /// Created for the first call, because reading certificates is slow.
    client: OnceLock<Result<Client, String>>,
}

/// The response of a service.
pub(crate) struct ServiceResponse {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Vec<u8>,
}

/// A failed request to a service.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ServiceError {
    #[error("cannot create an HTTP client: {reason}")]
    Client { reason: String },
    #[error("{service} did not respond within {seconds} s; retry later")]
    Timeout { service: &'static str, seconds: f64 },
    #[error("the response of {service} would use more than 128 MiB of memory; request less")]
    TooMuchMemory { service: &'static str },
    #[error("cannot reach {service}; check the network and the URL in the configuration")]
    Unreachable { service: &'static str, source: reqwest::Error },
    #[error("the response of {service} is larger than {MAX_RESPONSE} bytes")]
    TooLarge { service: &'static str },
    #[error("{service} responded with HTTP {status}{body}")]
    Status { service: &'static str, status: u16, body: String },
    #[error("the response of {service} is not valid JSON")]
    InvalidJson { service: &'static str, source: serde_json::Error },
}

impl Service {
    pub(crate) fn new(name: &'static str, timeout: Duration) -> Self {
        Self { name, timeout, client: OnceLock::new() }
    }

    /// Sends the request that `build` returns, and reads the whole response.
    pub(crate) async fn send(
        &self,
        build: impl FnOnce(&Client) -> RequestBuilder,
    ) -> Result<ServiceResponse, ServiceError> {
        let client = self.client.get_or_init(|| {
            let builder = Client::builder()
                .user_agent(concat!(
                    "onetool/",
                    env!("CARGO_PKG_VERSION"),
                    " (https://onetool.beycom.online)"
                ))
                .connect_timeout(CONNECT_TIMEOUT)
                .tcp_nodelay(true)
                .redirect(same_origin_redirects());
            builder.build().map_err(|error| error.to_string())
        });
        let client = client.as_ref().map_err(|reason| ServiceError::Client { reason: reason.clone() })?;
        let mut response =
            build(client).timeout(self.timeout).send().await.map_err(|error| self.failed(error))?;
        let (status, headers) = (response.status(), response.headers().clone());
        let mut body = Vec::new();
        while let Some(piece) = response.chunk().await.map_err(|error| self.failed(error))? {
            if body.len() + piece.len() > MAX_RESPONSE {
                return Err(ServiceError::TooLarge { service: self.name });
            }
            body.extend_from_slice(&piece);
        }
        Ok(ServiceResponse { status, headers, body })
    }

    fn failed(&self, error: reqwest::Error) -> ServiceError {
        if error.is_timeout() {
            return ServiceError::Timeout { service: self.name, seconds: self.timeout.as_secs_f64() };
        }
        // The URL may contain a caller's arguments, or a secret.
        ServiceError::Unreachable { service: self.name, source: error.without_url() }
    }

    /// Parses the body of a successful response as JSON.
    pub(crate) fn json(&self, response: &ServiceResponse) -> Result<Value, ServiceError> {
        if !response.status.is_success() {
            return Err(self.status_error(response));
        }
        if json_weight(&response.body) > MAX_JSON_WEIGHT {
            return Err(ServiceError::TooMuchMemory { service: self.name });
        }
        serde_json::from_slice(&response.body)
            .map_err(|source| ServiceError::InvalidJson { service: self.name, source })
    }

    /// Returns the error for a response with a non-success status, with the message in its body.
    pub(crate) fn status_error(&self, response: &ServiceResponse) -> ServiceError {
        let message = parse_bounded_json(&response.body).and_then(|it| error_message(&it));
        let message = message.unwrap_or_else(|| String::from_utf8_lossy(&response.body).trim().to_owned());
        let message: String = message.chars().take(MAX_ERROR_BODY).collect();
        let body = if message.is_empty() { message } else { format!(": {message}") };
        ServiceError::Status { service: self.name, status: response.status.as_u16(), body }
    }
}

/// Returns the message of an error in JSON, in one of the common formats.
fn error_message(body: &Value) -> Option<String> {
    let error = &body["error"];
    let fields = [&error["detail"], &error["message"], error, &body["message"], &body["detail"]];
    let text = fields.into_iter().find_map(Value::as_str)?;
    Some(match error["code"].as_str() {
        Some(code) => format!("{code}: {text}"),
        None => text.to_owned(),
    })
}

/// Follows redirects only within the origin that the operator configured, because headers may contain a key.
fn same_origin_redirects() -> Policy {
    Policy::custom(|attempt| {
        let origin = |url: &Url| (url.scheme().to_owned(), url.host_str().map(str::to_owned), url.port());
        let first = attempt.previous().first().map(origin);
        if attempt.previous().len() > MAX_REDIRECTS || first.is_some_and(|it| it != origin(attempt.url())) {
            attempt.stop()
        } else {
            attempt.follow()
        }
    })
}
