//! A server over HTTP on a free port of this machine.

#![expect(clippy::missing_panics_doc, reason = "a test that cannot go on has failed")]
#![expect(clippy::expect_used, reason = "a test that cannot go on has failed")]

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

/// How long calls may go on when a server is stopped.
const DRAIN: Duration = Duration::from_secs(5);

/// A server that listens on a free port until it is dropped or stopped.
pub struct HttpServer {
    address: SocketAddr,
    stop: CancellationToken,
    serving: JoinHandle<std::io::Result<()>>,
    client: reqwest::Client,
}

impl HttpServer {
    /// Starts to serve MCP.
    pub async fn start(server: &Server, options: HttpOptions) -> Self {
        let server = server.clone();
        Self::serving(
            move |listener, stop| async move { serve(&server, listener, options, stop, DRAIN).await },
        )
        .await
    }

    /// Starts to serve MCP and the page.
    pub async fn start_gateway(gateway: &Gateway, options: impl Into<HttpSource>) -> Self {
        let (gateway, options) = (gateway.clone(), options.into());
        Self::serving(move |listener, stop| async move {
            gateway.serve_http(listener, options, stop, DRAIN).await
        })
        .await
    }

    async fn serving<F, Fut>(serve: F) -> Self
    where
        F: FnOnce(TcpListener, CancellationToken) -> Fut,
        Fut: Future<Output = std::io::Result<()>> + Send + 'static,
    {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port is free");
        let address = listener.local_addr().expect("the port is known");
        let stop = CancellationToken::new();
        let serving = tokio::spawn(serve(listener, stop.clone()));
        let client = reqwest::Client::builder().no_proxy().build().expect("a client can be made");
        Self { address, stop, serving, client }
    }

    /// Returns the URL of a path.
    pub fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    /// Starts a GET request.
    pub fn get(&self, path: &str) -> reqwest::RequestBuilder {
        self.client.get(self.url(path))
    }

    /// Starts a request of any method.
    pub fn request(&self, method: &str, path: &str) -> reqwest::RequestBuilder {
        self.client.request(method.parse().expect("a method"), self.url(path))
    }

    /// Starts a POST request to `/mcp` with the headers that MCP wants.
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

    /// Stops to take connections, lets calls end, and waits for that.
    pub async fn stop(self) {
        self.stop.cancel();
        self.serving.await.expect("the server does not panic").expect("the server ends well");
    }

    /// Reads the last message of an answer, be it JSON or a stream of events.
    pub async fn message(response: reqwest::Response) -> Value {
        let text = response.text().await.expect("the answer can be read");
        let last =
            text.lines().filter_map(|line| line.strip_prefix("data:")).rfind(|it| !it.trim().is_empty());
        serde_json::from_str(last.unwrap_or(&text))
            .unwrap_or_else(|_| panic!("the answer is a message: {text}"))
    }
}
