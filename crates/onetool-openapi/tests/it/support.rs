//! An HTTP server that records raw requests, and shortcuts to load descriptions and call tools.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use onetool_core::{CallContext, JsonObject, Tool, ToolError, ToolOutput};
use onetool_openapi::{Api, ApiOptions, LoadError, Origin, load};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use url::Url;

/// A request as it was received.
#[derive(Debug, Clone)]
pub(crate) struct Recorded {
    /// Method and target, such as `GET /pets?limit=1`.
    pub(crate) line: String,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
}

impl Recorded {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(key, _)| key.eq_ignore_ascii_case(name)).map(|(_, value)| value.as_str())
    }

    pub(crate) fn text(&self) -> &str {
        std::str::from_utf8(&self.body).unwrap()
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap()
    }
}

/// A response of the server.
pub(crate) struct Reply {
    pub(crate) status: u16,
    pub(crate) headers: Vec<(&'static str, String)>,
    pub(crate) body: Vec<u8>,
}

impl Reply {
    pub(crate) fn new(status: u16, content_type: &str, body: impl Into<Vec<u8>>) -> Self {
        Self { status, headers: vec![("content-type", content_type.to_owned())], body: body.into() }
    }

    pub(crate) fn json(value: &Value) -> Self {
        Self::new(200, "application/json", value.to_string())
    }

    pub(crate) fn redirect(status: u16, to: &str) -> Self {
        Self { status, headers: vec![("location", to.to_owned())], body: Vec::new() }
    }
}

/// An HTTP server on a free loopback port.
pub(crate) struct Upstream {
    pub(crate) address: SocketAddr,
    recorded: Arc<Mutex<Vec<Recorded>>>,
}

impl Upstream {
    /// Starts a server that responds with the result of `handler`.
    pub(crate) async fn start(handler: impl Fn(&Recorded) -> Reply + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let recorded = Arc::new(Mutex::new(Vec::new()));
        let (log, handler) = (recorded.clone(), Arc::new(handler));
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let (log, handler) = (log.clone(), handler.clone());
                tokio::spawn(async move { serve(stream, &log, &*handler).await });
            }
        });
        Self { address, recorded }
    }

    /// Starts a server that responds to every request with `{}`.
    pub(crate) async fn empty() -> Self {
        Self::start(|_| Reply::json(&json!({}))).await
    }

    pub(crate) fn url(&self, path: &str) -> Url {
        Url::parse(&format!("http://{}{path}", self.address)).unwrap()
    }

    /// Removes and returns all requests so far.
    pub(crate) fn take(&self) -> Vec<Recorded> {
        std::mem::take(&mut *self.recorded.lock().unwrap())
    }

    /// Removes and returns the request; panics unless there was exactly one.
    pub(crate) fn only(&self) -> Recorded {
        let mut all = self.take();
        assert_eq!(all.len(), 1, "{all:?}");
        all.remove(0)
    }
}

async fn serve(
    mut stream: TcpStream,
    log: &Mutex<Vec<Recorded>>,
    handler: &(dyn Fn(&Recorded) -> Reply + Send + Sync),
) {
    let Some(request) = read(&mut stream).await else { return };
    let Reply { status, headers, body } = handler(&request);
    log.lock().unwrap().push(request);
    let headers =
        headers.iter().fold(String::new(), |all, (name, value)| format!("{all}{name}: {value}\r\n"));
    let head = format!(
        "HTTP/1.1 {status} X\r\nconnection: close\r\ncontent-length: {}\r\n{headers}\r\n",
        body.len()
    );
    // The client may have closed the connection after reading enough.
    let _ = stream.write_all(head.as_bytes()).await;
    let _ = stream.write_all(&body).await;
}

async fn read(stream: &mut TcpStream) -> Option<Recorded> {
    let mut bytes = Vec::new();
    let end = loop {
        if let Some(end) = bytes.windows(4).position(|it| it == b"\r\n\r\n") {
            break end;
        }
        if stream.read_buf(&mut bytes).await.ok()? == 0 {
            return None;
        }
    };
    let head = String::from_utf8_lossy(&bytes[..end]).into_owned();
    let mut lines = head.split("\r\n");
    let line = lines.next()?.trim_end_matches(" HTTP/1.1").to_owned();
    let headers: Vec<(String, String)> =
        lines.filter_map(|it| it.split_once(": ")).map(|(key, value)| (key.into(), value.into())).collect();
    let length = headers.iter().find(|(key, _)| key.eq_ignore_ascii_case("content-length"));
    let length: usize = length.map_or(0, |(_, value)| value.parse().unwrap());
    let mut body = bytes[end + 4..].to_vec();
    while body.len() < length {
        if stream.read_buf(&mut body).await.ok()? == 0 {
            return None;
        }
    }
    Some(Recorded { line, headers, body })
}

/// Loads a description from its text.
pub(crate) async fn load_text(text: impl Into<String>, options: ApiOptions) -> Result<Api, LoadError> {
    load(Origin::Text { text: text.into(), base: None }, options, None).await
}

/// Loads a description with the server as its base URL.
pub(crate) async fn load_at(upstream: &Upstream, description: &Value) -> Api {
    load_text(description.to_string(), options_at(upstream)).await.unwrap()
}

pub(crate) fn options_at(upstream: &Upstream) -> ApiOptions {
    let mut options = ApiOptions::new("api");
    options.base_url = Some(upstream.url("/"));
    options
}

/// Returns an OpenAPI 3.0 description with these paths.
pub(crate) fn openapi(paths: Value) -> Value {
    json!({"openapi": "3.0.3", "info": {"title": "T", "version": "1"}, "paths": paths})
}

pub(crate) fn tool<'a>(api: &'a Api, name: &str) -> &'a dyn Tool {
    let found = api.tools.iter().find(|it| it.spec().name.tool() == name);
    let names: Vec<_> = api.tools.iter().map(|it| it.spec().name.to_string()).collect();
    found.unwrap_or_else(|| panic!("no {name} among {names:?}; {:?}", api.report)).as_ref()
}

/// Returns why arguments do not match the schema of a tool; `None` if they do.
pub(crate) fn invalid(tool: &dyn Tool, args: &Value) -> Option<String> {
    let schema = Value::Object((*tool.spec().input_schema).clone());
    jsonschema::meta::validate(&schema).unwrap();
    let validator = jsonschema::validator_for(&schema).unwrap();
    validator.iter_errors(args).next().map(|error| error.to_string())
}

/// Calls a tool like dispatch does: validates the arguments first.
pub(crate) async fn call(api: &Api, name: &str, args: Value) -> Result<ToolOutput, ToolError> {
    call_with(api, name, args, &CallContext::detached()).await
}

pub(crate) async fn call_with(
    api: &Api,
    name: &str,
    args: Value,
    cx: &CallContext,
) -> Result<ToolOutput, ToolError> {
    let tool = tool(api, name);
    assert_eq!(invalid(tool, &args), None, "{args} for {:?}", tool.spec().input_schema);
    let args: JsonObject = args.as_object().cloned().unwrap();
    tool.call(args, cx).await
}
