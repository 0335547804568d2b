//! The HTTP client, and what fetching descriptions and calling operations share.

use std::sync::OnceLock;
use std::time::Duration;

use onetool_core::error_chain;
use reqwest::{Client, Response};

use crate::guard::NetworkGuard;
use crate::location::redacted_url;

/// Maximum number of redirects to follow.
pub(crate) const MAX_REDIRECTS: usize = 5;

const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// The pooled client of one API, created on first use because loading the certificates is slow.
pub(crate) struct LazyClient {
    guard: NetworkGuard,
    timeout: Duration,
    client: OnceLock<Result<Client, String>>,
}

impl LazyClient {
    pub(crate) fn new(guard: NetworkGuard, timeout: Duration) -> Self {
        Self { guard, timeout, client: OnceLock::new() }
    }

    pub(crate) fn get(&self) -> Result<&Client, String> {
        let client = self.client.get_or_init(|| {
            let builder = Client::builder()
                .user_agent(concat!("onetool/", env!("CARGO_PKG_VERSION")))
                .connect_timeout(CONNECT_TIMEOUT)
                .timeout(self.timeout)
                .tcp_nodelay(true)
                // Callers follow redirects themselves: they check every hop and keep credentials on their origin.
                .redirect(reqwest::redirect::Policy::none());
            self.guard.apply(builder).build().map_err(|error| error_chain(&error))
        });
        client.as_ref().map_err(|reason| format!("cannot create an HTTP client: {reason}"))
    }

    pub(crate) fn guard(&self) -> &NetworkGuard {
        &self.guard
    }
}

/// Reads a whole body; returns `None` if it is longer than `limit` after decompression.
pub(crate) async fn read_limited(
    mut response: Response,
    limit: usize,
) -> Result<Option<Vec<u8>>, reqwest::Error> {
    let mut bytes = Vec::new();
    while let Some(chunk) = response.chunk().await.map_err(reqwest::Error::without_url)? {
        if bytes.len() + chunk.len() > limit {
            return Ok(None);
        }
        bytes.extend_from_slice(&chunk);
    }
    Ok(Some(bytes))
}

/// Formats the error of a failed request without the query of its URL, which may contain a key.
pub(crate) fn request_error(error: &reqwest::Error) -> String {
    let text = error_chain(error);
    match error.url() {
        Some(url) => text.replace(url.as_str(), &redacted_url(url)),
        None => text,
    }
}
