//! A client without an SDK: `initialize`, `notifications/initialized` and `tools/call` over streamable HTTP.
//!
//! Without arguments it starts a server and calls it. With a URL and a token it calls another server:
//!
//! ```sh
//! cargo run --ignore-rust-version -p onetool --example client
//! cargo run --ignore-rust-version -p onetool --example client -- http://127.0.0.1:7411/mcp "$(cat .onetool/token)" demo_echo '{"text": "hi"}'
//! ```

#![expect(clippy::print_stdout, reason = "the example prints the result")]

use std::error::Error;
use std::time::Duration;

use onetool::http::{Access, HttpOptions};
use onetool::{CallContext, Server, tool_fn};
use reqwest::header::ACCEPT;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

const SESSION_ID: &str = "mcp-session-id";

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let (url, token, tool, arguments) = match args.as_slice() {
        [] => (start_server().await?, "secret".to_owned(), "demo_hello".to_owned(), json!({"name": "Ada"})),
        [url, token, tool, arguments] => {
            (url.clone(), token.clone(), tool.clone(), serde_json::from_str(arguments)?)
        }
        _ => return Err("usage: client [URL TOKEN TOOL ARGUMENTS]".into()),
    };
    let mut session = Session { url, token, id: None, http: http_client()? };

    // The handshake: the client's request, the server's response, and the client's confirmation.
    let hello = json!({
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": {"name": "example", "version": "1"},
    });
    let server = session.request(1, "initialize", hello).await?;
    println!("connected to {} ({})", server["serverInfo"]["name"], server["protocolVersion"]);
    session.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"})).await?;

    let result = session.request(2, "tools/call", json!({"name": tool, "arguments": arguments})).await?;
    println!("{result:#}");
    Ok(())
}

/// State that requests share.
struct Session {
    url: String,
    token: String,
    id: Option<String>,
    http: reqwest::Client,
}

impl Session {
    async fn request(&mut self, id: u64, method: &str, params: Value) -> Result<Value, Box<dyn Error>> {
        let body =
            self.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params})).await?;
        // The response is one JSON object, or one event of a stream that also contains progress and logs.
        let messages = body.lines().map(|line| line.strip_prefix("data:").unwrap_or(line));
        let mut messages = messages.filter_map(|text| serde_json::from_str::<Value>(text).ok());
        let response = messages.find(|message| message["id"] == id).ok_or("the server did not respond")?;
        match response.get("error") {
            Some(error) => Err(format!("{method}: {}", error["message"]).into()),
            None => Ok(response["result"].clone()),
        }
    }

    async fn send(&mut self, message: &Value) -> Result<String, Box<dyn Error>> {
        // The protocol requires clients to accept both forms of a response.
        let mut request = self.http.post(&self.url).header(ACCEPT, "application/json, text/event-stream");
        if let Some(id) = &self.id {
            request = request.header(SESSION_ID, id).header("mcp-protocol-version", "2025-11-25");
        }
        let response = request.bearer_auth(&self.token).json(message).send().await?.error_for_status()?;
        if let Some(id) = response.headers().get(SESSION_ID) {
            self.id = Some(id.to_str()?.to_owned());
        }
        Ok(response.text().await?)
    }
}

fn http_client() -> reqwest::Result<reqwest::Client> {
    // No proxy, because the server runs on this machine.
    reqwest::Client::builder().no_proxy().timeout(Duration::from_secs(30)).build()
}

#[derive(Deserialize, JsonSchema)]
struct Hello {
    /// The person to greet.
    name: String,
}

/// Serves one tool on a free port until the process ends, and returns its URL.
async fn start_server() -> Result<String, Box<dyn Error>> {
    let server = Server::builder().name("demo").build()?;
    let hello = |args: Hello, _: CallContext| async move { format!("Hello, {}!", args.name) };
    server.register_tool(tool_fn("demo.hello", "Greets a person.", hello))?;
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let url = format!("http://{}/mcp", listener.local_addr()?);
    let options = HttpOptions::new(Access::with_token("secret"));
    tokio::spawn(async move {
        let never = CancellationToken::new();
        onetool::http::serve(&server, listener, options, never, Duration::ZERO).await
    });
    Ok(url)
}
