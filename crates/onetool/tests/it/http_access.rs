//! A1–A3, A6, R7: access control and shutdown of the server over HTTP.

use std::sync::Arc;

use onetool::http::{Access, HttpOptions};
use onetool::{CallContext, JsonObject, Server, tool_fn};
use onetool_testkit::HttpServer;
use reqwest::StatusCode;
use serde_json::{Value, json};
use tokio::net::TcpStream;
use tokio::sync::{Notify, mpsc};

use crate::server;

const TOKEN: &str = "canary-token-0123456789";

async fn with_token(server: &Server) -> HttpServer {
    let mut options = HttpOptions::new(Access::with_token(TOKEN));
    options.max_body = 10_000;
    HttpServer::start(server, options).await
}

#[tokio::test]
async fn a1_without_the_token_nothing_is_served() {
    let http = with_token(&server()).await;
    for wrong in [None, Some("Bearer wrong"), Some("Bearer "), Some(TOKEN), Some("Basic Y2FuYXJ5")] {
        let mut request = http.post_initialize();
        if let Some(value) = wrong {
            request = request.header("authorization", value);
        }
        assert_eq!(request.send().await.unwrap().status(), StatusCode::UNAUTHORIZED, "{wrong:?}");
    }
    let response = http.post_initialize().bearer_auth(TOKEN).send().await.unwrap();
    assert_eq!(response.status(), StatusCode::OK);
    let response = HttpServer::message(response).await;
    assert_eq!(response["result"]["serverInfo"]["name"], "onetool");
}

#[tokio::test]
async fn a2_a_foreign_host_or_origin_is_rejected_before_the_token_is_checked() {
    let http = with_token(&server()).await;
    for path in ["/mcp", "/tools", "/livez", "/readyz", "/"] {
        for (name, value) in
            [("host", "evil.example"), ("origin", "https://evil.example"), ("origin", "null")]
        {
            let response = http.get(path).header(name, value).send().await.unwrap();
            assert_eq!(response.status(), StatusCode::FORBIDDEN, "{path} {name}: {value}");
        }
        let doubled =
            http.get(path).header("origin", "http://localhost").header("origin", "https://evil.example");
        assert_eq!(doubled.send().await.unwrap().status(), StatusCode::FORBIDDEN, "{path}");
    }
    let local = http.post_initialize().bearer_auth(TOKEN).header("origin", "http://localhost:5173");
    assert_eq!(local.send().await.unwrap().status(), StatusCode::OK);
}

#[tokio::test]
async fn a3_the_list_of_tools_needs_the_same_access_as_mcp_and_a_rejection_reveals_nothing() {
    let http = with_token(&server()).await;
    for path in ["/tools", "/tools/x", "/mcp", "/mcp/other", "/no/such/path"] {
        let response = http.get(path).send().await.unwrap();
        assert_eq!(response.status(), StatusCode::UNAUTHORIZED, "{path}");
        assert_eq!(response.text().await.unwrap(), r#"{"error":"Unauthorized"}"#, "{path}");
    }
}

#[tokio::test]
async fn a6_large_and_invalid_bodies_are_rejected_with_json_rpc_errors() {
    let http = with_token(&server()).await;
    let post = async |body: String| {
        let response = http.post_mcp(body).bearer_auth(TOKEN).send().await.unwrap();
        let status = response.status().as_u16();
        let response: Value = response.json().await.unwrap();
        (status, response["error"]["code"].as_i64().unwrap())
    };
    assert_eq!(post("x".repeat(20_000)).await, (413, -32600));
    assert_eq!(post("{nonsense".into()).await, (400, -32700));
    assert_eq!(post(String::new()).await, (400, -32700));
    for not_an_object in ["[]", "5", "\"text\"", "null", r#"[{"jsonrpc": "2.0", "id": 1, "method": "ping"}]"#]
    {
        assert_eq!(post(not_an_object.into()).await, (400, -32600), "{not_an_object}");
    }
    // The order of the checks: origin, access, body.
    let foreign = http.post_mcp("{nonsense").header("origin", "https://evil.example").send().await.unwrap();
    assert_eq!(foreign.status(), StatusCode::FORBIDDEN);
    assert_eq!(http.post_mcp("{nonsense").send().await.unwrap().status(), StatusCode::UNAUTHORIZED);
    assert_eq!(http.post_initialize().bearer_auth(TOKEN).send().await.unwrap().status(), StatusCode::OK);
}

#[tokio::test]
async fn health_needs_no_token() {
    let http = with_token(&server()).await;
    assert_eq!(http.get("/livez").send().await.unwrap().text().await.unwrap(), "ok\n");
    assert_eq!(http.get("/readyz").send().await.unwrap().text().await.unwrap(), "ready\n");
}

#[tokio::test]
async fn cus_4_1_and_4_2_hold_over_http_in_both_eras() {
    let server = server();
    server
        .register_prompt(onetool::prompt_fn("p", "", |(): (), _: CallContext| async {
            onetool::PromptMessage::user("")
        }))
        .unwrap();
    let http = HttpServer::start(&server, HttpOptions::default()).await;
    let response = HttpServer::message(http.post_initialize().send().await.unwrap()).await;
    assert_eq!(response["result"]["capabilities"]["prompts"], json!({"listChanged": true, "list": true}));
    let meta = json!({"io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {}, "io.modelcontextprotocol/clientInfo": {"name": "t", "version": "0"}});
    let discover = json!({"jsonrpc": "2.0", "id": 1, "method": "server/discover", "params": {"_meta": meta}});
    let request = http.post_mcp(discover.to_string());
    let request =
        request.header("mcp-protocol-version", "2026-07-28").header("mcp-method", "server/discover");
    let response = HttpServer::message(request.send().await.unwrap()).await;
    assert_eq!(response["result"]["capabilities"]["prompts"], json!({"listChanged": true, "list": true}));
    assert!(response["result"]["capabilities"].get("resources").is_none());
}

#[tokio::test]
async fn r7_an_in_flight_call_completes_before_the_server_stops() {
    let server = server();
    let (started, mut is_started) = mpsc::unbounded_channel();
    let release = Arc::new(Notify::new());
    let released = release.clone();
    server
        .register_tool(tool_fn("demo.slow", "", move |_: JsonObject, _: CallContext| {
            let (started, released) = (started.clone(), released.clone());
            async move {
                started.send(()).unwrap();
                released.notified().await;
                "done at last"
            }
        }))
        .unwrap();
    let http = HttpServer::start(&server, HttpOptions::default()).await;
    let address = http.url("").strip_prefix("http://").unwrap().to_owned();
    let opened = http.post_initialize().send().await.unwrap();
    let session = opened.headers()["mcp-session-id"].clone();
    let body = json!({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": "demo_slow", "arguments": {}}});
    let call = http.post_mcp(body.to_string()).header("mcp-session-id", session).send();
    let call = tokio::spawn(async move { HttpServer::message(call.await.unwrap()).await });
    is_started.recv().await.unwrap();
    let release_at_shutdown = async {
        // The server is shutting down once it no longer listens.
        while TcpStream::connect(&address).await.is_ok() {}
        release.notify_one();
    };
    tokio::join!(http.stop(), release_at_shutdown);
    assert_eq!(call.await.unwrap()["result"]["content"][0]["text"], "done at last");
}

#[tokio::test]
async fn another_profile_has_its_own_path() {
    let http = with_token(&server()).await;
    let request = reqwest::Client::builder().no_proxy().build().unwrap().post(http.url("/mcp/work"));
    let request = request.header("accept", "application/json, text/event-stream").bearer_auth(TOKEN);
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"protocolVersion": "2025-11-25",
        "capabilities": {}, "clientInfo": {"name": "t", "version": "0"}}});
    assert_eq!(request.json(&body).send().await.unwrap().status(), StatusCode::OK);
}

#[tokio::test]
async fn a_page_of_an_allowed_origin_may_read_the_responses() {
    let access = Access::with_token(TOKEN).allow_origins(["https://app.example".into()]);
    let http = HttpServer::start(&server(), HttpOptions::new(access)).await;
    let client = reqwest::Client::builder().no_proxy().build().unwrap();
    let preflight = client
        .request(reqwest::Method::OPTIONS, http.url("/mcp"))
        .header("origin", "https://app.example")
        .header("access-control-request-method", "POST")
        .header("access-control-request-headers", "authorization,mcp-protocol-version");
    let response = preflight.send().await.unwrap();
    assert_eq!(response.headers()["access-control-allow-origin"], "https://app.example");
    assert_eq!(response.headers()["access-control-allow-headers"], "authorization,mcp-protocol-version");
    let opened = http
        .post_initialize()
        .bearer_auth(TOKEN)
        .header("origin", "https://app.example")
        .send()
        .await
        .unwrap();
    assert_eq!(opened.status(), StatusCode::OK);
    assert_eq!(opened.headers()["access-control-expose-headers"], "mcp-session-id");
}

#[tokio::test]
async fn a_client_that_accepts_any_content_type_is_served() {
    let http = HttpServer::start(&server(), HttpOptions::default()).await;
    // By default this client sends `accept: */*`.
    let client = reqwest::Client::builder().no_proxy().build().unwrap();
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"protocolVersion": "2025-11-25",
        "capabilities": {}, "clientInfo": {"name": "t", "version": "0"}}});
    let opened = client.post(http.url("/mcp")).json(&body).send().await.unwrap();
    assert_eq!(opened.status(), StatusCode::OK);
}

#[tokio::test]
async fn a_client_can_end_its_session() {
    let http = HttpServer::start(&server(), HttpOptions::default()).await;
    let session = http.post_initialize().send().await.unwrap().headers()["mcp-session-id"].clone();
    let client = reqwest::Client::builder().no_proxy().build().unwrap();
    let ended =
        client.delete(http.url("/mcp")).header("mcp-session-id", session.clone()).send().await.unwrap();
    assert_eq!(ended.status(), StatusCode::NO_CONTENT);
    let ping = json!({"jsonrpc": "2.0", "id": 2, "method": "ping"}).to_string();
    let after = http.post_mcp(ping).header("mcp-session-id", session).send().await.unwrap();
    assert_eq!(after.status(), StatusCode::NOT_FOUND);
}
