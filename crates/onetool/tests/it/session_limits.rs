//! LOW-2: limits on what a client can make a session hold.

use std::fmt::Write as _;

use onetool::http::HttpOptions;
use onetool::{CallContext, JsonObject, ReadRequest, ResourceContents, Server, resource_fn, tool_fn};
use onetool_testkit::{Client, Era, HttpServer, RawClient};
use reqwest::StatusCode;
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::sync::watch;

use crate::{gateway_with_run, server};

fn with_resource() -> Server {
    let server = server();
    let read = |_: ReadRequest, _: CallContext| async { ResourceContents::text("", "text/plain") };
    server.register_resource(resource_fn("a://0", "r", read)).unwrap();
    server
}

#[tokio::test]
async fn low_2_a_session_has_a_bounded_number_of_subscriptions() {
    let server = with_resource();
    let mut client = RawClient::connect(&server);
    client.initialize().await;
    let mut request = async |method: &str, uri: &str| {
        let response = client.request(method, json!({"uri": uri})).await;
        response["error"]["message"].as_str().unwrap_or_default().to_owned()
    };
    for number in 0..500 {
        assert_eq!(request("resources/subscribe", &format!("a://{number}")).await, "");
    }
    let too_many = "cannot subscribe: more than 500 resources; unsubscribe from some first";
    assert_eq!(request("resources/subscribe", "a://500").await, too_many);
    assert_eq!(request("resources/subscribe", "a://7").await, "", "it is already subscribed");
    assert_eq!(request("resources/unsubscribe", "a://7").await, "");
    let long = format!("a://{}", "x".repeat(2000));
    assert_eq!(
        request("resources/subscribe", &long).await,
        "cannot subscribe: the URI is longer than 2000 bytes"
    );
    assert_eq!(request("resources/subscribe", "a://500").await, "");
    // Another session has its own limit.
    Client::connect(&server).await.subscribe("a://1").await.unwrap();
}

fn listen(id: u64, uris: Vec<String>) -> String {
    let meta = json!({"io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {}, "io.modelcontextprotocol/clientInfo": {"name": "t", "version": "0"}});
    let params = json!({"_meta": meta, "notifications": {"resourceSubscriptions": uris}});
    json!({"jsonrpc": "2.0", "id": id, "method": "subscriptions/listen", "params": params}).to_string()
}

#[tokio::test]
async fn low_2_a_notification_stream_watches_a_bounded_number_of_resources() {
    let server = with_resource();
    let mut client = RawClient::connect(&server);
    let uris = |count: usize| (0..count).map(|number| format!("a://{number}")).collect::<Vec<_>>();
    // Enough that comparing every pair would take forever.
    client.send_line(&listen(1, uris(300_000))).await;
    let response = client.response().await;
    let too_many = "cannot subscribe: more than 500 resources; unsubscribe from some first";
    assert_eq!((response["id"].as_u64(), response["error"]["message"].as_str()), (Some(1), Some(too_many)));
    client.send_line(&listen(2, vec!["x".repeat(2001)])).await;
    let long = client.response().await;
    assert_eq!(long["error"]["message"], "cannot subscribe: the URI is longer than 2000 bytes");
    // 39 streams of 500 and one of 460 reach the limit of the server.
    for id in 0..39 {
        client.send_line(&listen(100 + id, uris(500))).await;
    }
    client.send_line(&listen(200, uris(460))).await;
    let mut acknowledged = 0;
    while acknowledged < 40 {
        let message = client.message().await.unwrap();
        assert!(message.get("error").is_none(), "{message}");
        acknowledged += usize::from(message["method"] == "notifications/subscriptions/acknowledged");
    }
    client.send_line(&listen(300, uris(1))).await;
    let full = client.response().await;
    assert_eq!(
        full["error"]["message"],
        "cannot subscribe: all sessions together have too many subscriptions; retry later"
    );
    server.notify_resource_updated("a://459");
    let mut updates = 0;
    while updates < 40 {
        updates +=
            usize::from(client.message().await.unwrap()["method"] == "notifications/resources/updated");
    }
}

#[tokio::test]
async fn low_2_a_client_has_a_bounded_number_of_in_flight_requests() {
    let server = server();
    let (release, released) = watch::channel(false);
    let wait = move |_: JsonObject, _: CallContext| {
        let mut released = released.clone();
        async move {
            released.wait_for(|it| *it).await.unwrap();
            "done"
        }
    };
    server.register_tool(tool_fn("demo.wait", "", wait)).unwrap();
    let mut client = RawClient::connect(&server);
    client.initialize().await;
    let call = |id: u64| {
        json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": {"name": "demo_wait"}})
            .to_string()
    };
    for number in 0..4096 {
        client.send_line(&call(10 + number)).await;
    }
    client.send_line(&call(10)).await;
    let again = client.response().await;
    assert_eq!((again["id"].as_u64(), again["error"]["code"].as_i64()), (Some(10), Some(-32600)), "{again}");
    client.send_line(&call(9)).await;
    let refused = client.response().await;
    assert_eq!((refused["id"].as_u64(), refused["error"]["code"].as_i64()), (Some(9), Some(-32000)));
    assert!(
        refused["error"]["message"].as_str().unwrap().starts_with("too many requests in flight"),
        "{refused}"
    );
    release.send_replace(true);
    for _ in 0..4096 {
        let response = client.response().await;
        assert_eq!(response["result"]["content"][0]["text"], "done", "{response}");
    }
    assert_eq!(client.request("tools/call", json!({"name": "demo_wait"})).await["id"], 1);
}

#[tokio::test]
async fn low_2_a_client_has_a_bounded_size_of_in_flight_requests() {
    let server = server();
    let (release, released) = watch::channel(false);
    let wait = move |args: JsonObject, _: CallContext| {
        let mut released = released.clone();
        async move {
            released.wait_for(|it| *it).await.unwrap();
            args["text"].as_str().map_or(0, str::len).to_string()
        }
    };
    server.register_tool(tool_fn("demo.wait", "", wait)).unwrap();
    let mut client = RawClient::connect(&server);
    client.initialize().await;
    let text = "x".repeat(15 << 20);
    for id in 1..=9 {
        let params = json!({"name": "demo_wait", "arguments": {"text": text}});
        let call = json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params});
        client.send_line(&call.to_string()).await;
    }
    let refused = client.response().await;
    assert_eq!((refused["id"].as_u64(), refused["error"]["code"].as_i64()), (Some(9), Some(-32000)));
    release.send_replace(true);
    for _ in 0..8 {
        assert_eq!(client.response().await["result"]["content"][0]["text"], (15 << 20).to_string());
    }
}

#[tokio::test]
async fn low_2_a_message_that_is_large_in_memory_is_rejected_before_it_is_parsed() {
    // 4 MB of text, and 40 times as much as data.
    let heavy =
        format!(r#"{{"jsonrpc":"2.0","id":1,"method":"ping","params":[{}1]}}"#, "1,".repeat(2_000_000));
    let expected = "the message would take more than 128 MiB of memory";
    let server = server();
    let mut client = RawClient::connect(&server);
    client.initialize().await;
    client.send_line(&heavy).await;
    assert_eq!(client.response().await["error"]["message"], expected);
    let http = HttpServer::start(&server, HttpOptions::default()).await;
    let response = http.post_mcp(heavy).send().await.unwrap();
    assert_eq!(response.status().as_u16(), 413);
    let response: Value = response.json().await.unwrap();
    assert_eq!(response["error"]["message"], expected);
}

#[tokio::test]
async fn low_2_a_session_loads_a_bounded_number_of_tools() {
    let folder = TempDir::new().unwrap();
    let packs = folder.path().join("packs");
    std::fs::create_dir_all(&packs).unwrap();
    let mut pack = "\"\"\"Very many tools.\"\"\"\n".to_owned();
    for number in 0..501 {
        write!(pack, "def t{number}() -> int:\n    \"\"\"Number {number}.\"\"\"\n    return {number}\n")
            .unwrap();
    }
    std::fs::write(packs.join("many.py"), pack).unwrap();
    let gateway = gateway_with_run(folder.path(), "packs: {files: [\"packs/*.py\"]}", |_| {});
    let client = Client::connect(gateway.server()).await;
    let names = |range: std::ops::Range<usize>| -> Value { range.map(|it| format!("many.t{it}")).collect() };
    let too_many = client.call_text("tool_load", json!({"names": names(0..501)})).await;
    assert_eq!(too_many, "error: too many names: one call accepts at most 500");
    client.call("tool_load", json!({"names": names(0..300)})).await.unwrap();
    client.call("tool_load", json!({"names": names(250..500)})).await.unwrap();
    let one_more = client.call_text("tool_load", json!({"names": names(500..501)})).await;
    assert!(one_more.contains("at most 500 tools can be loaded at the same time"), "{one_more}");
    let swapped = json!({"names": names(500..501), "unload": names(0..1)});
    assert!(client.call_text("tool_load", swapped).await.starts_with("500 tools are active now."));
}

#[tokio::test]
async fn low_2_a_profile_has_a_name_of_bounded_length() {
    let http = HttpServer::start(&server(), HttpOptions::default()).await;
    for (length, status) in [(64, StatusCode::OK), (65, StatusCode::NOT_FOUND)] {
        let url = http.url(&format!("/mcp/{}", "p".repeat(length)));
        if status == StatusCode::OK {
            Client::connect_http(&url, None, Era::BOTH[0]).await.tool_names().await;
            continue;
        }
        let client = reqwest::Client::builder().no_proxy().build().unwrap();
        let response = client.post(url).json(&json!({})).send().await.unwrap();
        assert_eq!(response.status(), status);
        let body: Value = response.json().await.unwrap();
        assert_eq!(body["error"], "The profile name is longer than 64 characters.");
    }
}
