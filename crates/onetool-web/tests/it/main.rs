//! Tests of the router with real requests over loopback.

#![expect(clippy::unwrap_used, reason = "a test may panic")]

mod access;
mod call;
mod discovery;
mod page;

use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;

use axum::Router;
use onetool_core::{CallContext, JsonObject, Tool, ToolSpec, dynamic_tool};
use serde_json::{Value, json};

/// A router that is served on a free port.
struct Served {
    address: SocketAddr,
    client: reqwest::Client,
}

impl Served {
    async fn start(app: Router) -> Self {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        tokio::spawn(async move { axum::serve(listener, app).await });
        let client = reqwest::Client::builder().no_proxy().build().unwrap();
        Self { address, client }
    }

    fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    fn get(&self, path: &str) -> reqwest::RequestBuilder {
        self.client.get(self.url(path))
    }

    fn post(&self, path: &str, body: impl Into<reqwest::Body>) -> reqwest::RequestBuilder {
        self.client.post(self.url(path)).body(body)
    }
}

/// Sends a request and returns its status and its body as JSON.
async fn fetch(request: reqwest::RequestBuilder) -> (u16, Value) {
    let response = request.send().await.unwrap();
    let status = response.status().as_u16();
    let text = response.text().await.unwrap();
    let body = serde_json::from_str(&text).unwrap_or_else(|_| panic!("{status} is not JSON: {text}"));
    (status, body)
}

/// A tool that returns its arguments.
fn echo(name: &str) -> Arc<dyn Tool> {
    let schema = json!({"type": "object", "properties": {"zebra": {"type": "string", "default": null}, "apple": {"type": "integer"}}});
    let spec = ToolSpec::new(name, format!("What {name} does."))
        .with_input_schema(schema.as_object().cloned().unwrap());
    Arc::new(dynamic_tool(spec, |args: JsonObject, _cx: CallContext| async move {
        Value::Object(args).to_string()
    }))
}

#[test]
fn every_file_of_this_directory_is_a_module() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it");
    let main = std::fs::read_to_string(folder.join("main.rs")).unwrap();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        assert!(name == "main" || main.contains(&format!("mod {name};")), "add `mod {name};` to main.rs");
    }
}
