//! The page's API with a live gateway: tools over plain HTTP, and all data that the page shows.

use std::time::Duration;

use onetool::http::{Access, HttpOptions};
use onetool::{CallContext, Gateway, JsonObject, Server, ToolOutput, tool_fn};
use onetool_testkit::{Client, Era, HttpServer, Notification, scripted_upstream};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::sync::mpsc;

use crate::{Text, gateway_with_run};

pub(crate) const TOKEN: &str = "canary-token-0123456789";

/// A gateway with a page, and its directory.
pub(crate) struct Fixture {
    _folder: TempDir,
    pub(crate) gateway: Gateway,
    pub(crate) http: HttpServer,
    /// The arguments that the tool `demo.shout` received.
    pub(crate) shouted: mpsc::UnboundedReceiver<String>,
}

impl Fixture {
    pub(crate) async fn start(yaml: &str) -> Self {
        let folder = TempDir::new().unwrap();
        let (sender, shouted) = mpsc::unbounded_channel();
        let gateway = gateway_with_run(folder.path(), yaml, |server| register(server, sender));
        let mut options = HttpOptions::new(Access::with_token(TOKEN));
        options.max_body = 10_000;
        let http = HttpServer::start_gateway(&gateway, options).await;
        Self { _folder: folder, gateway, http, shouted }
    }

    pub(crate) fn request(&self, line: &str, body: &Value) -> reqwest::RequestBuilder {
        let (method, path) = line.split_once(' ').unwrap();
        let path = if path.starts_with('/') { path.to_owned() } else { format!("/api/v1/{path}") };
        let request = self.http.request(method, &path);
        if body.is_null() { request } else { request.body(body.to_string()) }
    }

    pub(crate) async fn get(&self, line: &str) -> (u16, Value) {
        self.send(line, &Value::Null).await
    }

    pub(crate) async fn send(&self, line: &str, body: &Value) -> (u16, Value) {
        fetch(self.request(line, body).bearer_auth(TOKEN)).await
    }
}

fn register(server: &Server, sender: mpsc::UnboundedSender<String>) {
    let shout = move |args: Text, _: CallContext| {
        sender.send(args.text.clone()).unwrap();
        async move { args.text.to_uppercase() }
    };
    server.register_tool(tool_fn("demo.shout", "Write a text in capitals.", shout)).unwrap();
    let lines = |_: JsonObject, _: CallContext| async { "a line of text\n".repeat(10_000) };
    server.register_tool(tool_fn("demo.lines", "Return many lines.", lines)).unwrap();
    let fail = |_: JsonObject, _: CallContext| async { ToolOutput::error("no luck") };
    server.register_tool(tool_fn("demo.fail", "Return an error.", fail)).unwrap();
}

pub(crate) async fn fetch(request: reqwest::RequestBuilder) -> (u16, Value) {
    let response = request.send().await.unwrap();
    let status = response.status().as_u16();
    let text = response.text().await.unwrap();
    let body = serde_json::from_str(&text).unwrap_or_else(|_| panic!("{status} is not JSON: {text}"));
    (status, body)
}

/// The gateway's stream of events.
struct Events {
    response: reqwest::Response,
    /// Data that was received and is not parsed yet.
    buffer: String,
}

impl Events {
    async fn open(fixture: &Fixture) -> Self {
        let response = fixture.request("GET events", &Value::Null).bearer_auth(TOKEN).send().await.unwrap();
        assert_eq!(response.headers()["content-type"], "text/event-stream");
        Self { response, buffer: String::new() }
    }

    /// Waits for the next event of a kind and skips others.
    async fn next(&mut self, kind: &str) -> Value {
        let reading = async {
            loop {
                while let Some(end) = self.buffer.find('\n') {
                    let line: String = self.buffer.drain(..=end).collect();
                    let event: Option<Value> =
                        line.strip_prefix("data:").map(|data| serde_json::from_str(data.trim()).unwrap());
                    if let Some(event) = event.filter(|event| event["type"] == kind) {
                        return event;
                    }
                }
                let piece = self.response.chunk().await.unwrap().expect("the stream stays open");
                self.buffer += std::str::from_utf8(&piece).unwrap();
            }
        };
        tokio::time::timeout(Duration::from_secs(30), reading).await.expect("the event arrives")
    }

    /// Waits until a server is healthy, and returns it.
    async fn healthy(&mut self) -> Value {
        loop {
            let server = self.next("server_health").await["server"].take();
            if server["health"] == "healthy" {
                return server;
            }
        }
    }
}

pub(crate) const EXECUTE: &str = "http: {allow_execute: true}\n";

#[tokio::test]
async fn every_rejection_is_json_with_its_own_status() {
    let fixture = Fixture::start(EXECUTE).await;
    let (_, output) = fixture.send("POST run", &json!({"command": "demo.lines()"})).await;
    let stored: Value = serde_json::from_str(output["content"][0]["text"].as_str().unwrap()).unwrap();
    let page = format!("GET results/{}", stored["handle"].as_str().unwrap());
    let table = [
        ("GET tools/nope", Value::Null, 404),
        ("GET tools/run", Value::Null, 404),
        ("GET search", Value::Null, 400),
        ("GET stats?period=never", Value::Null, 400),
        ("POST servers/nope/reconnect", Value::Null, 404),
        ("PUT servers/nope/enabled", json!({"enabled": true}), 404),
        ("GET servers/nope/log", Value::Null, 404),
        ("PUT servers/nope/enabled", json!({}), 400),
        ("PUT active", json!({"names": ["nope", "demo.shout"], "active": true}), 404),
        ("PUT active", json!([]), 400),
        ("GET history/nope", Value::Null, 404),
        ("GET results/nope", Value::Null, 404),
        (&format!("{page}?offset=0"), Value::Null, 400),
        (&format!("{page}?search=("), Value::Null, 400),
        (&format!("{page}?nonsense=1"), Value::Null, 400),
        ("POST run", json!({"command": 1}), 400),
        ("POST expand", json!({"command": "$nope"}), 400),
    ];
    for (line, body, status) in table {
        let (got, reply) = fixture.send(line, &body).await;
        assert_eq!(got, status, "{line}: {reply}");
        assert!(reply["error"].is_string(), "{line}: {reply}");
    }
    let (status, off) = Fixture::start("stats: {enabled: false}\n").await.get("GET stats").await;
    assert_eq!(status, 409, "{off}");
}

#[tokio::test]
async fn the_search_ranks_like_the_agents_and_explains_the_matches() {
    let fixture = Fixture::start("").await;
    let (_, found) = fixture.get("GET search?q=text%20in%20capitals&limit=3").await;
    let hit = &found["hits"][0];
    assert_eq!(hit["name"], "demo.shout");
    let capitals = json!({"term": "capitals", "fields": ["description"]});
    assert!(hit["matched"].as_array().unwrap().contains(&capitals), "{hit}");
    let client = Client::connect(fixture.gateway.server()).await;
    let agent = client.call("tool_find", json!({"query": "text in capitals", "limit": 3})).await.unwrap();
    let ranking = |list: &Value| -> Vec<(Value, Value)> {
        list.as_array().unwrap().iter().map(|it| (it["name"].clone(), it["score"].clone())).collect()
    };
    assert_eq!(ranking(&found["hits"]), ranking(&agent["structuredContent"]["tools"]));
}

#[tokio::test]
async fn tools_activated_on_the_page_are_on_the_list_of_every_session() {
    let fixture = Fixture::start("").await;
    for era in [Era::Sessions, Era::Stateless] {
        let mut client = Client::connect_http(&fixture.http.url("/mcp"), Some(TOKEN), era).await;
        assert!(!client.tool_names().await.contains(&"ot_help".to_owned()), "{era:?}");
        let on = json!({"names": ["ot.help"], "active": true});
        let (status, active) = fixture.send("PUT active", &on).await;
        assert_eq!((status, active), (200, json!({"names": ["ot.help"], "count": 1})));
        if era == Era::Sessions {
            client.expect_notifications(vec![Notification::ToolsChanged]).await;
        }
        assert!(client.tool_names().await.contains(&"ot_help".to_owned()), "{era:?}");
        let active = client.call_text("tool_active", json!({})).await;
        assert!(active.contains("ot.help"), "{active}");
        // When the agent unloads it, it is inactive on the page, too.
        client.call_text("tool_load", json!({"unload": ["ot.help"]})).await;
        let (_, tool) = fixture.get("GET tools/ot.help").await;
        assert_eq!(tool["active"], false, "{era:?}");
        client.close().await;
    }
}

#[tokio::test]
async fn calls_of_every_kind_are_in_the_history_with_secrets_masked_until_it_is_off() {
    let fixture = Fixture::start(EXECUTE).await;
    fixture.send("POST /tools/demo.shout/call", &json!({"text": "a", "api_token": "hunter2"})).await;
    fixture.send("POST run", &json!({"command": "x = demo.fail()"})).await;
    let (_, list) = fixture.get("GET history").await;
    let calls: Vec<_> = list
        .as_array()
        .unwrap()
        .iter()
        .map(|it| {
            (it["tool"].as_str().unwrap(), it["surface"].as_str().unwrap(), it["is_error"].as_bool().unwrap())
        })
        .collect();
    assert_eq!(calls, [("run", "page", true), ("demo.fail", "code", true), ("demo.shout", "page", false)]);
    let (_, record) = fixture.get(&format!("GET history/{}", list[2]["id"].as_str().unwrap())).await;
    assert_eq!(record["arguments"], json!({"text": "a", "api_token": "••••••"}));
    assert_eq!(record["output"]["content"][0]["text"], "A");
    let pinned = fixture
        .send(&format!("PUT history/{}/pinned", list[2]["id"].as_str().unwrap()), &json!({"pinned": true}))
        .await;
    assert_eq!(pinned.1["pinned"], true);
    assert_eq!(fixture.get("DELETE history").await.0, 200);
    assert_eq!(fixture.send("PUT history", &json!({"enabled": false})).await.0, 200);
    fixture.send("POST /tools/demo.shout/call", &json!({"text": "b"})).await;
    let (_, list) = fixture.get("GET history").await;
    assert_eq!(list.as_array().unwrap().len(), 1, "{list}");
    assert_eq!(fixture.get("GET overview").await.1["history"], false);
    let off = Fixture::start("http: {allow_execute: true, history: false}\n").await;
    off.send("POST /tools/demo.shout/call", &json!({"text": "b"})).await;
    assert_eq!(off.get("GET history").await.1, json!([]));
}

#[tokio::test]
async fn calls_from_the_page_do_not_count_as_a_session() {
    let fixture = Fixture::start(EXECUTE).await;
    fixture.send("POST /tools/demo.shout/call", &json!({"text": "a"})).await;
    let (_, stats) = fixture.get("GET stats").await;
    assert_eq!((&stats["total_calls"], &stats["sessions"]), (&json!(1), &json!(0)), "{stats}");
    assert_eq!(stats["context_saved_parts"]["definitions_kept_out"], 0, "{stats}");
}

fn upstream(name: &str) -> String {
    format!("servers:\n  {name}: {{command: {}, args: [server]}}\n", scripted_upstream().display())
}

#[tokio::test]
async fn a_server_is_switched_off_and_on_and_the_page_is_notified() {
    let fixture = Fixture::start(&upstream("left")).await;
    fixture.gateway.connected().await;
    let (_, servers) = fixture.get("GET servers").await;
    assert_eq!(
        (&servers[0]["name"], &servers[0]["health"]),
        (&json!("left"), &json!("healthy")),
        "{servers}"
    );
    assert_eq!(servers[0]["transport"], "stdio");
    let mut events = Events::open(&fixture).await;
    let (_, off) = fixture.send("PUT servers/left/enabled", &json!({"enabled": false})).await;
    assert_eq!(off["enabled"], false);
    assert_eq!(events.next("server_health").await["server"]["enabled"], false);
    assert!(!has_pack(&fixture, "left").await);
    // The switch keeps its state when the configuration is reloaded.
    fixture.gateway.reload(fixture.gateway.config().as_ref().clone()).unwrap();
    assert_eq!(fixture.get("GET servers").await.1[0]["enabled"], false);
    fixture.send("PUT servers/left/enabled", &json!({"enabled": true})).await;
    events.healthy().await;
    assert!(has_pack(&fixture, "left").await);
    let (status, again) = fixture.get("POST servers/left/reconnect").await;
    assert_eq!((status, &again["name"]), (200, &json!("left")));
    fixture.gateway.close().await;
}

#[tokio::test]
async fn a_failed_server_reconnects_on_request() {
    let programs = TempDir::new().unwrap();
    let program = programs.path().join("late");
    let fixture =
        Fixture::start(&format!("servers: {{late: {{command: {}, args: [server]}}}}\n", program.display()))
            .await;
    fixture.gateway.connected().await;
    let (_, servers) = fixture.get("GET servers").await;
    assert_eq!(servers[0]["health"], "unhealthy", "{servers}");
    assert!(servers[0]["reason"].is_string() && servers[0]["next_action"].is_string(), "{servers}");
    let mut events = Events::open(&fixture).await;
    std::os::unix::fs::symlink(scripted_upstream(), program).unwrap();
    assert_eq!(fixture.get("POST servers/late/reconnect").await.0, 200);
    let now = events.healthy().await;
    assert!(now["last_error"].is_string(), "the last error is still reported: {now}");
    assert!(has_pack(&fixture, "late").await);
    fixture.gateway.close().await;
}

async fn has_pack(fixture: &Fixture, pack: &str) -> bool {
    let (_, packs) = fixture.get("GET packs").await;
    packs.as_array().unwrap().iter().any(|it| it["name"] == pack)
}

#[tokio::test]
async fn calls_and_changes_are_events() {
    let fixture = Fixture::start(EXECUTE).await;
    let mut events = Events::open(&fixture).await;
    fixture.send("POST /tools/demo.shout/call", &json!({"text": "a"})).await;
    assert_eq!(events.next("call_finished").await["call"]["tool"], "demo.shout");
    fixture.send("PUT active", &json!({"names": ["demo.shout"], "active": true})).await;
    events.next("active_changed").await;
    fixture.gateway.server().unregister_tool("demo.fail");
    events.next("tools_changed").await;
    fixture.http.stop().await;
    // The stream ends with the server and does not keep it running.
    while let Ok(Some(_)) = events.response.chunk().await {}
}

#[tokio::test]
async fn a_call_whose_request_is_closed_is_canceled() {
    let fixture = Fixture::start(EXECUTE).await;
    let (sender, mut started) = mpsc::unbounded_channel();
    let wait = move |_: JsonObject, _: CallContext| {
        let sender = sender.clone();
        async move {
            sender.send(()).unwrap();
            std::future::pending::<()>().await;
            "never"
        }
    };
    fixture.gateway.server().register_tool(tool_fn("demo.wait", "Waits.", wait)).unwrap();
    let request = fixture.request("POST /tools/demo.wait/call", &Value::Null).bearer_auth(TOKEN);
    let calling = tokio::spawn(request.send());
    started.recv().await.unwrap();
    calling.abort();
    let (_, mut history) = fixture.get("GET history").await;
    while history.as_array().unwrap().is_empty() {
        tokio::task::yield_now().await;
        history = fixture.get("GET history").await.1;
    }
    assert_eq!((&history[0]["tool"], &history[0]["is_error"]), (&json!("demo.wait"), &json!(true)));
}

#[tokio::test]
async fn seam_17_metrics_need_the_token() {
    let fixture = Fixture::start("storage: {url: 'sqlite:onetool.db'}\n").await;
    assert_eq!(fixture.http.get("/metrics").send().await.unwrap().status(), 401);
    // A large result creates the database.
    fixture.send("POST /tools/demo.lines/call", &json!({})).await;
    let client = Client::connect(fixture.gateway.server()).await;
    client.call("run", json!({"command": "demo.lines()"})).await.unwrap();
    let response = fixture.http.get("/metrics").bearer_auth(TOKEN).send().await.unwrap();
    assert!(response.headers()["content-type"].to_str().unwrap().starts_with("text/plain; version=0.0.4"));
    let text = response.text().await.unwrap();
    let value = |name: &str| -> u64 {
        let line = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
        line.unwrap_or_else(|| panic!("no {name} in\n{text}")).parse().unwrap()
    };
    assert!(value("onetool_storage_bytes") > 100_000, "{text}");
    assert!(value("onetool_tools") >= 3, "{text}");
    assert_eq!(value("onetool_sources{state=\"failed\"}"), 0);
}
