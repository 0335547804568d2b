//! Definitions and results of tools reach clients unchanged, in every revision and over every transport.

use onetool::{
    BoxFuture, CallContext, ContentBlock, JsonObject, Server, Tool, ToolError, ToolOutput, ToolSpec,
};
use onetool_testkit::{HttpServer, RawClient};
use reqwest::header::CONTENT_TYPE;
use serde_json::{Value, json};

use crate::server;

/// A tool of another server, with keys that onetool does not know.
struct Foreign(ToolSpec);

fn extra() -> JsonObject {
    let annotations = json!({"title": "T", "readOnlyHint": true, "vendorHint": [1]});
    let extra =
        json!({"annotations": annotations, "execution": {"taskSupport": "forbidden"}, "vendor": {"a": null}});
    extra.as_object().unwrap().clone()
}

/// The tool's result; `length` makes it long.
fn content(length: usize) -> Value {
    json!([
        {"type": "text", "text": "x".repeat(length), "annotations": {"priority": 0.7, "vendor": 1}, "_meta": {"k": 1}},
        {"type": "hologram", "depth": 3},
    ])
}

impl Tool for Foreign {
    fn spec(&self) -> &ToolSpec {
        &self.0
    }

    fn call<'a>(
        &'a self,
        args: JsonObject,
        _: &'a CallContext,
    ) -> BoxFuture<'a, Result<ToolOutput, ToolError>> {
        let length = args.get("length").and_then(Value::as_u64).unwrap_or(3);
        let content: Vec<ContentBlock> =
            serde_json::from_value(content(usize::try_from(length).unwrap_or_default())).unwrap();
        Box::pin(std::future::ready(Ok(content.into())))
    }
}

fn foreign() -> Server {
    let server = server();
    let mut spec = ToolSpec::new("demo.foreign", "Foreign.");
    spec.extra = extra();
    server.register_tool(Foreign(spec)).unwrap();
    server
}

fn check_list(tools: &Value) {
    let tool = tools.as_array().unwrap().iter().find(|it| it["name"] == "demo_foreign").unwrap();
    for (key, value) in extra() {
        assert_eq!(tool[&key], value, "{tool}");
    }
    assert_eq!(tool.get("title"), None, "the only title is in its annotations: {tool}");
}

#[tokio::test]
async fn seam_10_lists_and_results_reach_a_session_over_stdio_unchanged() {
    let server = foreign();
    let mut client = RawClient::connect(&server);
    client.initialize().await;
    check_list(&client.request("tools/list", json!({})).await["result"]["tools"]);
    let response = client.request("tools/call", json!({"name": "demo_foreign"})).await;
    assert_eq!(response["result"], json!({"content": content(3), "isError": false}));
}

#[tokio::test]
async fn seam_10_lists_and_results_reach_a_stateless_client_over_http_unchanged() {
    let http = HttpServer::start(&foreign(), onetool::http::HttpOptions::default()).await;
    let meta = json!({"io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": {"name": "t", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {}});
    let request = async |method: &str, name: Option<&str>| {
        let mut params = json!({"_meta": meta});
        if let Some(name) = name {
            params["name"] = name.into();
        }
        let message = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
        let request = http.post_mcp(message.to_string()).header("mcp-method", method);
        let request =
            request.header("mcp-protocol-version", "2026-07-28").header("mcp-name", name.unwrap_or_default());
        let response = request.send().await.unwrap().text().await.unwrap();
        serde_json::from_str::<Value>(&response).unwrap()
    };
    let list = request("tools/list", None).await;
    check_list(&list["result"]["tools"]);
    assert_eq!(list["result"]["resultType"], "complete", "{list}");
    let response = request("tools/call", Some("demo_foreign")).await;
    assert_eq!(
        response["result"],
        json!({"resultType": "complete", "content": content(3), "isError": false})
    );
}

#[tokio::test]
async fn seam_14_a_large_response_goes_to_a_session_as_json_and_a_small_one_as_an_event() {
    let http = HttpServer::start(&foreign(), onetool::http::HttpOptions::default()).await;
    let opened = http.post_initialize().send().await.unwrap();
    let session = opened.headers()["mcp-session-id"].clone();
    let call = async |length: usize| {
        let params = json!({"name": "demo_foreign", "arguments": {"length": length}});
        let message = json!({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": params});
        let request = http.post_mcp(message.to_string()).header("mcp-session-id", session.clone());
        let response = request.send().await.unwrap();
        let kind = response.headers()[CONTENT_TYPE].to_str().unwrap().to_owned();
        (kind, response.text().await.unwrap())
    };
    let (kind, body) = call(300_000).await;
    assert_eq!(kind, "application/json");
    let response: Value = serde_json::from_str(&body).unwrap();
    assert_eq!((&response["id"], &response["result"]["content"]), (&json!(2), &content(300_000)));
    let (kind, body) = call(3).await;
    assert_eq!(kind, "text/event-stream");
    let data = body.lines().filter_map(|line| line.strip_prefix("data: ")).find(|data| data.starts_with('{'));
    let response: Value = serde_json::from_str(data.unwrap()).unwrap();
    assert_eq!(response["result"]["content"], content(3));
}
