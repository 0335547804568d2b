//! HTTP below the level of operations: the client, redirects' limit, and reading with a bound.

use std::error::Error;
use std::sync::OnceLock;
use std::time::Duration;

use reqwest::{Client, Response};

use crate::guard::NetworkGuard;

/// How many redirects are followed.
pub(crate) const MAX_REDIRECTS: usize = 5;

const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// The pooled client of one API, made when it is first needed: reading the certificates takes a while.
pub(crate) struct LazyClient {
    guard: NetworkGuard,
    timeout: Duration,
    made: OnceLock<Result<Client, String>>,
}

impl LazyClient {
    pub(crate) fn new(guard: NetworkGuard, timeout: Duration) -> Self {
        Self { guard, timeout, made: OnceLock::new() }
    }

    pub(crate) fn get(&self) -> Result<&Client, String> {
        let made = self.made.get_or_init(|| {
            let builder = Client::builder()
                .user_agent(concat!("onetool/", env!("CARGO_PKG_VERSION")))
                .connect_timeout(CONNECT_TIMEOUT)
                .timeout(self.timeout)
                .tcp_nodelay(true)
                // Redirects are followed by hand: every hop is checked, and credentials stay with their origin.
                .redirect(reqwest::redirect::Policy::none());
            self.guard.apply(builder).build().map_err(|error| causes(&error))
        });
        made.as_ref().map_err(|reason| format!("cannot make an HTTP client: {reason}"))
    }

    pub(crate) fn guard(&self) -> &NetworkGuard {
        &self.guard
    }
}

/// Reads a body to its end; `None` if it is longer than `limit` once decompressed.
pub(crate) async fn read_limited(
    mut response: Response,
    limit: usize,
) -> Result<Option<Vec<u8>>, reqwest::Error> {
    let mut bytes = Vec::new();
    while let Some(piece) = response.chunk().await.map_err(reqwest::Error::without_url)? {
        if bytes.len() + piece.len() > limit {
            return Ok(None);
        }
        bytes.extend_from_slice(&piece);
    }
    Ok(Some(bytes))
}

/// Writes an error with its causes: the outermost often says only that a request failed.
pub(crate) fn causes(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        text = format!("{text}: {error}");
        cause = error.source();
    }
    text
}
