//! An HTTP server on a free loopback port.

#![expect(clippy::missing_panics_doc, reason = "a test that cannot continue has failed")]
#![expect(clippy::expect_used, reason = "a test that cannot continue has failed")]

use std::net::SocketAddr;
use std::time::Duration;

use onetool::http::{HttpOptions, serve};
use onetool::{Gateway, HttpSource, Server};
use reqwest::header::{ACCEPT, CONTENT_TYPE};
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use crate::raw::initialize_params;

/// How long in-flight calls may take to finish after [`HttpServer::stop`].
const DRAIN_TIMEOUT: Duration = Duration::from_secs(5);

/// A server that listens on a free port until it is dropped or stopped.
pub struct HttpServer {
    address: SocketAddr,
    stop: CancellationToken,
    serving: JoinHandle<std::io::Result<()>>,
    client: reqwest::Client,
}

impl HttpServer {
    /// Starts a server for MCP.
    pub async fn start(server: &Server, options: HttpOptions) -> Self {
        let server = server.clone();
        Self::spawn(move |listener, stop| async move {
            serve(&server, listener, options, stop, DRAIN_TIMEOUT).await
        })
        .await
    }

    /// Starts a server for MCP and the page.
    pub async fn start_gateway(gateway: &Gateway, options: impl Into<HttpSource>) -> Self {
        let (gateway, options) = (gateway.clone(), options.into());
        Self::spawn(move |listener, stop| async move {
            gateway.serve_http(listener, options, stop, DRAIN_TIMEOUT).await
        })
        .await
    }

    async fn spawn<F, Fut>(serve: F) -> Self
    where
        F: FnOnce(TcpListener, CancellationToken) -> Fut,
        Fut: Future<Output = std::io::Result<()>> + Send + 'static,
    {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port is free");
        let address = listener.local_addr().expect("the port is known");
        let stop = CancellationToken::new();
        let serving = tokio::spawn(serve(listener, stop.clone()));
        let client = reqwest::Client::builder().no_proxy().build().expect("the HTTP client can be built");
        Self { address, stop, serving, client }
    }

    /// Returns the URL of a path.
    pub fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    /// Returns a GET request.
    pub fn get(&self, path: &str) -> reqwest::RequestBuilder {
        self.client.get(self.url(path))
    }

    /// Returns a request with any method.
    pub fn request(&self, method: &str, path: &str) -> reqwest::RequestBuilder {
        self.client.request(method.parse().expect("the method is valid"), self.url(path))
    }

    /// Returns a POST request to `/mcp` with the headers that MCP requires.
    pub fn post_mcp(&self, body: impl Into<reqwest::Body>) -> reqwest::RequestBuilder {
        self.client
            .post(self.url("/mcp"))
            .header(CONTENT_TYPE, "application/json")
            .header(ACCEPT, "application/json, text/event-stream")
            .body(body)
    }

    /// Returns a POST request to `/mcp` that opens a session.
    pub fn post_initialize(&self) -> reqwest::RequestBuilder {
        let body = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": initialize_params()});
        self.post_mcp(body.to_string())
    }

    /// Stops accepting connections, and waits for in-flight calls to finish.
    pub async fn stop(self) {
        self.stop.cancel();
        self.serving.await.expect("the server does not panic").expect("the server stops without an error");
    }

    /// Parses the last message of a response, which is JSON or an event stream.
    pub async fn message(response: reqwest::Response) -> Value {
        let text = response.text().await.expect("the response can be read");
        let last =
            text.lines().filter_map(|line| line.strip_prefix("data:")).rfind(|it| !it.trim().is_empty());
        serde_json::from_str(last.unwrap_or(&text))
            .unwrap_or_else(|_| panic!("the response is not a message: {text}"))
    }
}
