//! Fetches pages: checks every address, and limits time, size and redirects.

use std::sync::OnceLock;
use std::time::Duration;

use onetool_openapi::{GuardError, NetworkGuard};
use reqwest::header::{ACCEPT, CONTENT_TYPE, LOCATION};
use reqwest::redirect::Policy;
use reqwest::{Client, Response, StatusCode};
use url::Url;

use super::options::WebOptions;

const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
const MAX_REDIRECTS: usize = 10;
const ACCEPTED: &str =
    "text/html,application/xhtml+xml,text/plain;q=0.9,text/*;q=0.8,application/json;q=0.8,*/*;q=0.1";

/// A page that cannot be fetched.
#[derive(Debug, thiserror::Error)]
pub(super) enum FetchError {
    #[error("invalid URL '{url}'; it must begin with http:// or https://")]
    InvalidUrl { url: String },
    #[error("{url} is not allowed (packs.web.allow_private)")]
    Refused { url: String, source: GuardError },
    #[error("cannot create an HTTP client: {reason}")]
    Client { reason: String },
    #[error("cannot reach {url}")]
    Unreachable { url: String, source: reqwest::Error },
    #[error("{url} took longer than {seconds} s (packs.web.timeout)")]
    Timeout { url: String, seconds: f64 },
    #[error("too many redirects from {url} (limit {MAX_REDIRECTS})")]
    Redirects { url: String },
    #[error("{url} responded with HTTP {status}")]
    Status { url: String, status: StatusCode },
    #[error("{url} is larger than {max} bytes (packs.web.max_bytes)")]
    TooLarge { url: String, max: usize },
}

/// A page as received.
pub(super) struct Fetched {
    pub(super) url: Url,
    /// The header `Content-Type`, if there is one.
    pub(super) content_type: Option<String>,
    pub(super) body: Vec<u8>,
}

/// Fetches pages, with a client that is created when it is first needed.
pub(super) struct Fetcher {
    options: WebOptions,
    guard: NetworkGuard,
    client: OnceLock<Result<Client, String>>,
}

impl Fetcher {
    pub(super) fn new(options: WebOptions) -> Self {
        let guard = if options.allow_private { NetworkGuard::allow_all() } else { NetworkGuard::public() };
        Self { options, guard, client: OnceLock::new() }
    }

    /// Fetches a page. The time limit includes redirects.
    pub(super) async fn fetch(&self, url: &str) -> Result<Fetched, FetchError> {
        let invalid = || FetchError::InvalidUrl { url: url.to_owned() };
        let parsed = Url::parse(url.trim()).map_err(|_| invalid())?;
        if !matches!(parsed.scheme(), "http" | "https") || parsed.host().is_none() {
            return Err(invalid());
        }
        let fetching = tokio::time::timeout(*self.options.timeout, self.follow(parsed));
        fetching.await.unwrap_or_else(|_| {
            Err(FetchError::Timeout { url: url.to_owned(), seconds: self.options.timeout.as_secs_f64() })
        })
    }

    async fn follow(&self, first: Url) -> Result<Fetched, FetchError> {
        let client = self.client()?;
        let mut url = first.clone();
        for _ in 0..=MAX_REDIRECTS {
            // Redirects are checked too, because they are a common way to reach private addresses.
            self.guard
                .check(&url)
                .await
                .map_err(|source| FetchError::Refused { url: url.to_string(), source })?;
            let response = client.get(url.clone()).header(ACCEPT, ACCEPTED).send().await;
            let response = response.map_err(|error| unreachable(&url, error))?;
            match redirect_target(&response, &url) {
                Some(next) => url = next,
                None => return self.read(response, url).await,
            }
        }
        Err(FetchError::Redirects { url: first.to_string() })
    }

    async fn read(&self, mut response: Response, url: Url) -> Result<Fetched, FetchError> {
        let status = response.status();
        if !status.is_success() {
            return Err(FetchError::Status { url: url.to_string(), status });
        }
        let header = response.headers().get(CONTENT_TYPE);
        let content_type = header.map(|it| String::from_utf8_lossy(it.as_bytes()).into_owned());
        let mut body = Vec::new();
        while let Some(piece) = response.chunk().await.map_err(|error| unreachable(&url, error))? {
            if body.len() + piece.len() > self.options.max_bytes.size() {
                return Err(FetchError::TooLarge {
                    url: url.to_string(),
                    max: self.options.max_bytes.size(),
                });
            }
            body.extend_from_slice(&piece);
        }
        Ok(Fetched { url, content_type, body })
    }

    fn client(&self) -> Result<&Client, FetchError> {
        let client = self.client.get_or_init(|| {
            let builder = Client::builder()
                .user_agent(concat!("Mozilla/5.0 (compatible; onetool/", env!("CARGO_PKG_VERSION"), ")"))
                .connect_timeout(CONNECT_TIMEOUT)
                .tcp_nodelay(true)
                .redirect(Policy::none());
            self.guard.apply(builder).build().map_err(|error| error.to_string())
        });
        client.as_ref().map_err(|reason| FetchError::Client { reason: reason.clone() })
    }
}

fn unreachable(url: &Url, error: reqwest::Error) -> FetchError {
    FetchError::Unreachable { url: url.to_string(), source: error.without_url() }
}

/// Returns the target of a redirect.
fn redirect_target(response: &Response, url: &Url) -> Option<Url> {
    if !response.status().is_redirection() {
        return None;
    }
    url.join(response.headers().get(LOCATION)?.to_str().ok()?).ok()
}

#[cfg(test)]
mod tests {
    use axum::Router;
    use axum::http::StatusCode;
    use axum::routing::get;
    use tokio::net::TcpListener;

    use super::*;

    async fn serve(router: Router) -> Url {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/", listener.local_addr().unwrap());
        tokio::spawn(async move { axum::serve(listener, router).await });
        url.parse().unwrap()
    }

    #[tokio::test]
    async fn a4_a_redirect_to_a_private_address_is_refused_as_the_address_itself_is() {
        let secret = serve(Router::new().route("/", get(|| async { "secret" }))).await;
        let target = secret.to_string();
        let redirect = get(move || async move { (StatusCode::FOUND, [("location", target)]) });
        let home = get(|| async { (StatusCode::FOUND, [("location", "/inside")]) });
        let inside = get(|| async { "inside" });
        let router = Router::new().route("/out", redirect).route("/home", home).route("/inside", inside);
        let open = serve(router).await;
        let guard = NetworkGuard::public().allowing(&open);
        let fetcher = Fetcher { options: WebOptions::default(), guard, client: OnceLock::new() };
        let fetched = fetcher.fetch(open.join("home").unwrap().as_str()).await.unwrap();
        assert_eq!(fetched.body, b"inside");
        for url in [open.join("out").unwrap(), secret] {
            let refused = fetcher.fetch(url.as_str()).await.err().unwrap();
            assert!(matches!(refused, FetchError::Refused { .. }), "{url}: {refused}");
        }
    }
}
