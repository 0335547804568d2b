//! HTTP for packs that ask a service: one client each, made when it is first needed.

use std::sync::OnceLock;
use std::time::Duration;

use onetool_core::{MAX_JSON_WEIGHT, json_weight, parse_bounded_json};
use reqwest::header::HeaderMap;
use reqwest::redirect::Policy;
use reqwest::{Client, RequestBuilder, StatusCode, Url};
use serde_json::Value;

const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
const MAX_REDIRECTS: usize = 5;
const MAX_ANSWER: usize = 20 * 1024 * 1024;
const MAX_ERROR_BODY: usize = 500;

/// A service that the configuration names.
pub(crate) struct Service {
    /// What it is called in messages.
    name: &'static str,
    timeout: Duration,
    /// Reading the certificates takes a while, so this waits for the first call.
    client: OnceLock<Result<Client, String>>,
}

/// What a service said.
pub(crate) struct Answer {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Vec<u8>,
}

/// A service that did not say anything of use.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ServiceError {
    #[error("cannot make an HTTP client: {reason}")]
    Client { reason: String },
    #[error("{service} did not answer within {seconds} s; try again later")]
    Timeout { service: &'static str, seconds: f64 },
    #[error("the answer of {service} would take more than 128 MiB of memory; ask for less")]
    TooHeavy { service: &'static str },
    #[error("{service} cannot be reached; check the network and the address in the configuration")]
    Unreachable { service: &'static str, source: reqwest::Error },
    #[error("the answer of {service} is longer than {MAX_ANSWER} bytes")]
    TooLong { service: &'static str },
    #[error("{service} answered HTTP {status}{body}")]
    Status { service: &'static str, status: u16, body: String },
    #[error("the answer of {service} is not what it documents")]
    Unreadable { service: &'static str, source: serde_json::Error },
}

impl Service {
    pub(crate) fn new(name: &'static str, timeout: Duration) -> Self {
        Self { name, timeout, client: OnceLock::new() }
    }

    /// Sends the request that `make` makes, and reads the answer whole.
    pub(crate) async fn send(
        &self,
        make: impl FnOnce(&Client) -> RequestBuilder,
    ) -> Result<Answer, ServiceError> {
        let client = self.client.get_or_init(|| {
            let builder = Client::builder()
                .user_agent(concat!(
                    "onetool/",
                    env!("CARGO_PKG_VERSION"),
                    " (https://onetool.beycom.online)"
                ))
                .connect_timeout(CONNECT_TIMEOUT)
                .tcp_nodelay(true)
                .redirect(stay_on_the_host());
            builder.build().map_err(|error| error.to_string())
        });
        let client = client.as_ref().map_err(|reason| ServiceError::Client { reason: reason.clone() })?;
        let mut response =
            make(client).timeout(self.timeout).send().await.map_err(|error| self.failed(error))?;
        let (status, headers) = (response.status(), response.headers().clone());
        let mut body = Vec::new();
        while let Some(piece) = response.chunk().await.map_err(|error| self.failed(error))? {
            if body.len() + piece.len() > MAX_ANSWER {
                return Err(ServiceError::TooLong { service: self.name });
            }
            body.extend_from_slice(&piece);
        }
        Ok(Answer { status, headers, body })
    }

    fn failed(&self, error: reqwest::Error) -> ServiceError {
        if error.is_timeout() {
            return ServiceError::Timeout { service: self.name, seconds: self.timeout.as_secs_f64() };
        }
        // The address may hold what a caller asked for, or a secret.
        ServiceError::Unreachable { service: self.name, source: error.without_url() }
    }

    /// Reads a good answer as JSON.
    pub(crate) fn json(&self, answer: &Answer) -> Result<Value, ServiceError> {
        if !answer.status.is_success() {
            return Err(self.refused(answer));
        }
        if json_weight(&answer.body) > MAX_JSON_WEIGHT {
            return Err(ServiceError::TooHeavy { service: self.name });
        }
        serde_json::from_slice(&answer.body)
            .map_err(|source| ServiceError::Unreadable { service: self.name, source })
    }

    /// Tells what a bad answer says.
    pub(crate) fn refused(&self, answer: &Answer) -> ServiceError {
        let said = parse_bounded_json(&answer.body).and_then(|it| message_of(&it));
        let said = said.unwrap_or_else(|| String::from_utf8_lossy(&answer.body).trim().to_owned());
        let said: String = said.chars().take(MAX_ERROR_BODY).collect();
        let body = if said.is_empty() { said } else { format!(": {said}") };
        ServiceError::Status { service: self.name, status: answer.status.as_u16(), body }
    }
}

/// Finds the words in an error that is JSON.
fn message_of(body: &Value) -> Option<String> {
    let error = &body["error"];
    let texts = [&error["detail"], &error["message"], error, &body["message"], &body["detail"]];
    let text = texts.into_iter().find_map(Value::as_str)?;
    Some(match error["code"].as_str() {
        Some(code) => format!("{code}: {text}"),
        None => text.to_owned(),
    })
}

/// Follows redirects on the host that the operator named, and no further: headers may carry a key.
fn stay_on_the_host() -> Policy {
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
