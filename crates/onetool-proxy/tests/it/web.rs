//! A scripted MCP server over HTTP, on a free loopback port.

use std::collections::HashSet;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use axum::body::Bytes;
use axum::extract::State;
use axum::http::{HeaderMap, Method, StatusCode};
use axum::response::{IntoResponse as _, Response};
use axum::routing::{any, get, post};
use axum::{Json, Router};
use futures::StreamExt as _;
use serde_json::{Value, json};

/// How the server behaves, and what it has received.
#[derive(Default)]
pub(crate) struct Script {
    pub(crate) sessions: Mutex<HashSet<String>>,
    /// Number of sessions opened.
    pub(crate) initialized: Mutex<usize>,
    /// The tools that were called, including calls that were then rejected.
    pub(crate) called: Mutex<Vec<String>>,
    /// The required token.
    pub(crate) token: Option<String>,
    /// The status of a response to a wrong token.
    pub(crate) denial: Option<StatusCode>,
    /// Where all requests except those to `/moved` are redirected to.
    pub(crate) redirect: Option<String>,
    /// Whether calls return an error that repeats the credentials.
    pub(crate) leaks_credentials: bool,
    /// Length of the text that a call returns, if not 0: `read` returns JSON, other tools an event.
    pub(crate) length: usize,
    /// Whether unknown requests get an empty result.
    pub(crate) accepts_anything: bool,
    /// Whether every request gets an HTML page.
    pub(crate) is_website: bool,
    /// Nesting depth of the result of a call, if not 0: `read` returns JSON, other tools an event.
    pub(crate) depth: usize,
    /// Every `Authorization` header received.
    pub(crate) authorizations: Mutex<Vec<Option<String>>>,
}

/// A running server, stopped when this is dropped.
pub(crate) struct Web {
    pub(crate) script: Arc<Script>,
    pub(crate) address: SocketAddr,
    task: tokio::task::JoinHandle<()>,
}

impl Drop for Web {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Web {
    pub(crate) async fn start(script: Script) -> Self {
        Self::start_at(Arc::new(script), "127.0.0.1:0".parse().unwrap()).await
    }

    pub(crate) async fn start_at(script: Arc<Script>, address: SocketAddr) -> Self {
        let listener = tokio::net::TcpListener::bind(address).await.unwrap();
        let address = listener.local_addr().unwrap();
        let router = Router::new().route("/{*path}", any(serve)).with_state(script.clone());
        let task = tokio::spawn(async move { axum::serve(listener, router).await.unwrap() });
        Self { script, address, task }
    }

    pub(crate) fn url(&self) -> url::Url {
        format!("http://{}/mcp", self.address).parse().unwrap()
    }
}

async fn serve(
    State(script): State<Arc<Script>>,
    method: Method,
    uri: axum::http::Uri,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    let header = |name: &str| headers.get(name).map(|value| value.to_str().unwrap().to_owned());
    script.authorizations.lock().unwrap().push(header("authorization"));
    if let Some(target) = script.redirect.as_ref().filter(|_| uri.path() != "/moved") {
        return (StatusCode::TEMPORARY_REDIRECT, [("location", target.clone())]).into_response();
    }
    if let Some(token) = &script.token
        && header("authorization").as_ref() != Some(&format!("Bearer {token}"))
    {
        return (script.denial.unwrap_or(StatusCode::UNAUTHORIZED), "go away").into_response();
    }
    if script.is_website {
        let page = "<html><body><h1>404 Not Found</h1>nginx</body></html>";
        return (StatusCode::NOT_FOUND, [("content-type", "text/html")], page).into_response();
    }
    if method != Method::POST {
        return StatusCode::METHOD_NOT_ALLOWED.into_response();
    }
    let message: Value = serde_json::from_slice(&body).unwrap();
    let (id, name) = (&message["id"], message["params"]["name"].as_str().unwrap_or_default());
    let respond = |result: Value| Json(json!({"jsonrpc": "2.0", "id": id, "result": result}));
    let method = message["method"].as_str().unwrap_or_default();
    match method {
        "server/discover" if script.accepts_anything => return respond(json!({})).into_response(),
        "server/discover" => {
            let error =
                json!({"jsonrpc": "2.0", "id": id, "error": {"code": -32601, "message": "unknown method"}});
            return Json(error).into_response();
        }
        "initialize" => {
            let mut count = script.initialized.lock().unwrap();
            *count += 1;
            let session = format!("session-{count}");
            script.sessions.lock().unwrap().insert(session.clone());
            let result = json!({
                "protocolVersion": message["params"]["protocolVersion"],
                "capabilities": {"tools": {}},
                "serverInfo": {"name": "web", "version": "1"},
            });
            return ([("mcp-session-id", session)], respond(result)).into_response();
        }
        _ => {}
    }
    if method == "tools/call" {
        script.called.lock().unwrap().push(name.to_owned());
    }
    let is_known =
        header("mcp-session-id").is_some_and(|session| script.sessions.lock().unwrap().contains(&session));
    if !is_known {
        return StatusCode::NOT_FOUND.into_response();
    }
    match method {
        "tools/call" if script.leaks_credentials => {
            let page = format!("{:?}\n{}", header("authorization"), "long ".repeat(1000));
            (StatusCode::BAD_REQUEST, page).into_response()
        }
        "tools/list" => {
            let object = json!({"type": "object"});
            respond(json!({"tools": [
                {"name": "read", "inputSchema": object, "annotations": {"readOnlyHint": true}},
                {"name": "put", "inputSchema": object, "annotations": {"idempotentHint": true}},
                {"name": "pay", "inputSchema": object, "execution": {"taskSupport": "optional"}, "vendor": 1},
                {"name": "broken", "inputSchema": 7},
            ]}))
            .into_response()
        }
        "tools/call" if script.depth > 0 => {
            let (open, close) = ("[".repeat(script.depth), "]".repeat(script.depth));
            let result = format!(r#"{{"content":[],"structuredContent":{{"a":{open}{close}}}}}"#);
            raw(id, &result, name)
        }
        "tools/call" if script.length > 0 => {
            let result = json!({"content": [{"type": "text", "text": "x".repeat(script.length)}]});
            raw(id, &result.to_string(), name)
        }
        "tools/call" => respond(json!({"content": [{"type": "text", "text": name}]})).into_response(),
        _ => StatusCode::ACCEPTED.into_response(),
    }
}

/// Responds with JSON or an event, depending on the tool.
fn raw(id: &Value, result: &str, name: &str) -> Response {
    let message = format!(r#"{{"result":{result},"jsonrpc":"2.0","id":{id}}}"#);
    if name == "read" {
        ([("content-type", "application/json")], message).into_response()
    } else {
        ([("content-type", "text/event-stream")], format!("data: {message}\n\n")).into_response()
    }
}

/// Starts a server with the HTTP+SSE transport of 2024-11-05: one event stream, and `endpoint` for messages.
pub(crate) async fn start_sse(endpoint: &'static str) -> SocketAddr {
    let (events, _) = tokio::sync::broadcast::channel::<Value>(64);
    let stream = events.clone();
    let open = async move || {
        let messages = futures::stream::unfold(stream.subscribe(), async |mut messages| {
            let message = messages.recv().await.ok()?;
            Some((format!("event: message\ndata: {message}\n\n"), messages))
        });
        let first = futures::stream::iter([format!("event: endpoint\ndata: {endpoint}\n\n")]);
        let body =
            axum::body::Body::from_stream(first.chain(messages).map(Ok::<_, std::convert::Infallible>));
        ([("content-type", "text/event-stream")], body)
    };
    let receive = async move |Json(message): Json<Value>| {
        let result = match message["method"].as_str().unwrap_or_default() {
            "initialize" => json!({
                "protocolVersion": "2024-11-05",
                "capabilities": {"tools": {}},
                "serverInfo": {"name": "old", "version": "1"},
            }),
            "tools/list" => json!({"tools": [{"name": "read", "inputSchema": {"type": "object"}}]}),
            "tools/call" => json!({"content": [{"type": "text", "text": "hello over SSE", "vendor": 1}]}),
            _ => return StatusCode::ACCEPTED,
        };
        let _ = events.send(json!({"jsonrpc": "2.0", "id": message["id"], "result": result}));
        StatusCode::ACCEPTED
    };
    let router = Router::new().route("/sse", get(open)).route("/messages", post(receive));
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move { axum::serve(listener, router).await.unwrap() });
    address
}
