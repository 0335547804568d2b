//! The streamable HTTP transport: headers stay on their origin, and a lost session is ours to renew.

use std::collections::HashMap;
use std::time::Duration;

use ::http::{HeaderName, HeaderValue};
use indexmap::IndexMap;
use reqwest::redirect::Policy;
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::transport::streamable_http_client::StreamableHttpClientTransportConfig;
use url::Url;

const MAX_REDIRECTS: usize = 5;
const CONCURRENT_REQUESTS: usize = 64;

/// Makes the transport of a checked configuration.
pub(crate) fn transport(
    url: &Url,
    headers: &IndexMap<String, String>,
    connect_timeout: Duration,
    max_event: usize,
) -> Result<StreamableHttpClientTransport<reqwest::Client>, String> {
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
    Ok(StreamableHttpClientTransport::with_client(client, config))
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
