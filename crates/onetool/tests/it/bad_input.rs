//! Invalid input gets a clear error, and the next request works.

use std::time::Duration;

use insta::assert_snapshot;
use onetool::{CallContext, JsonObject, Server, tool_fn};
use onetool_testkit::{Client, RawClient};
use serde_json::{Value, json};

use crate::{Text, server};

fn echo() -> impl onetool::Tool {
    tool_fn("demo.echo", "", |args: Text, _: CallContext| async move { args.text })
}

async fn still_works(client: &mut RawClient) {
    let call = json!({"name": "demo_echo", "arguments": {"text": "still here"}});
    let response = client.request("tools/call", call).await;
    assert_eq!(response["result"]["content"][0]["text"], "still here", "{response}");
}

#[tokio::test]
async fn malformed_messages_get_an_error_and_do_no_harm() {
    let server = server();
    server.register_tool(echo()).unwrap();
    let mut client = RawClient::connect(&server);
    client.initialize().await;
    let mut error_for = async |line: &str| {
        client.send_line(line).await;
        let response = client.response().await;
        still_works(&mut client).await;
        (
            response["id"].clone(),
            response["error"]["code"].as_i64().unwrap(),
            response["error"]["message"].as_str().unwrap().to_owned(),
        )
    };
    assert_eq!(error_for("{nonsense").await.1, -32700);
    assert_eq!(error_for("\u{0}\u{1}").await.1, -32700);
    assert_eq!(error_for("[1, 2]").await, (Value::Null, -32600, "not a JSON-RPC 2.0 message".into()));
    assert_eq!(error_for("{}").await.1, -32600);
    assert_eq!(error_for(r#"{"jsonrpc": "2.0", "id": 9}"#).await.0, json!(9));
    let bad_params = r#"{"jsonrpc": "2.0", "id": 10, "method": "tools/call", "params": {"name": 5}}"#;
    let (id, code, message) = error_for(bad_params).await;
    assert_eq!((id, code), (json!(10), -32602));
    assert!(message.starts_with("invalid parameters for 'tools/call': invalid type: integer"), "{message}");
    let (id, code, _) = error_for(r#"{"jsonrpc": "2.0", "id": 11, "method": "no/such/method"}"#).await;
    assert_eq!((id, code), (json!(11), -32601));
    // A notification never gets a response, even if it is invalid.
    client.send_line(r#"{"jsonrpc": "2.0", "method": "notifications/odd", "params": 5}"#).await;
    client.send_line("").await;
    still_works(&mut client).await;
}

#[tokio::test]
async fn an_oversized_line_is_named_and_skipped() {
    let server = server();
    server.register_tool(echo()).unwrap();
    let mut client = RawClient::connect(&server);
    client.initialize().await;
    client.send_line(&"x".repeat(17 * 1024 * 1024)).await;
    let response = client.response().await;
    assert_snapshot!(response["error"]["message"].as_str().unwrap(), @"the message is longer than 16777216 bytes");
    still_works(&mut client).await;
}

#[tokio::test]
async fn noise_before_the_handshake_gets_an_error_or_is_ignored() {
    let server = server();
    server.register_tool(echo()).unwrap();
    let mut client = RawClient::connect(&server);
    client.send_line(r#"{"jsonrpc": "2.0", "method": "notifications/initialized"}"#).await;
    client.send_line("what is this").await;
    assert_eq!(client.response().await["error"]["code"], -32700);
    client.initialize().await;
    still_works(&mut client).await;
}

#[tokio::test]
async fn an_unknown_tool_gets_similar_names() {
    let server = server();
    server.register_tool(echo()).unwrap();
    let client = Client::connect(&server).await;
    let error = client.call("demo_ecco", json!({})).await.unwrap_err();
    assert_eq!(
        (error.code, error.message.as_str()),
        (-32602, "tool not found: 'demo_ecco'; did you mean 'demo.echo'?")
    );
    let error = client.call("zzz", json!({})).await.unwrap_err();
    assert_eq!(error.message, "tool not found: 'zzz'");
}

#[tokio::test]
async fn a_handler_that_never_returns_is_stopped_at_its_deadline() {
    let server = Server::builder().call_timeout(Duration::from_millis(50)).build().unwrap();
    server
        .register_tool(tool_fn("demo.forever", "", |_: JsonObject, _: CallContext| {
            std::future::pending::<String>()
        }))
        .unwrap();
    server.register_tool(echo()).unwrap();
    let client = Client::connect(&server).await;
    let text = client.call_text("demo_forever", json!({})).await;
    assert!(text.starts_with("error: tool 'demo.forever' timed out after 0.0"), "{text}");
    assert_eq!(client.call_text("demo_echo", json!({"text": "next"})).await, "next");
}

#[tokio::test]
async fn after_shutdown_new_calls_are_rejected() {
    let server = server();
    server.register_tool(echo()).unwrap();
    assert!(server.shut_down(Duration::from_secs(1)).await);
    let args = crate::object(json!({"text": "x"}));
    let error = server.call("demo.echo", args, CallContext::detached()).await.unwrap_err();
    assert_eq!(error.to_string(), "the server is shutting down and accepts no new calls");
}

#[tokio::test]
async fn h12_a_hostile_topic_is_rejected_immediately() {
    let folder = tempfile::TempDir::new().unwrap();
    let yaml = r#"notify: {topics: [{pattern: "**:*:**:*:**x", file: notes.yaml}, {pattern: "**", file: all.yaml}]}"#;
    let gateway = crate::gateway(folder.path(), yaml);
    let client = Client::connect(gateway.server()).await;
    let hostile =
        client.call_text("ot_notify", json!({"topic": "a:".repeat(1_000_000), "message": "m"})).await;
    assert!(
        hostile.contains("the topic is longer than 1000 characters"),
        "{}",
        &hostile[..200.min(hostile.len())]
    );
    let longest = client.call_text("ot_notify", json!({"topic": "a:".repeat(500), "message": "m"})).await;
    assert_eq!(longest, "OK: appended to all.yaml");
}
