//! Everything that persists or is shared goes through one store, so gateways with the same store share it.

use std::sync::Arc;
use std::time::Duration;

use onetool::http::{Access, HttpOptions};
use onetool::store::{LocalState, MemoryStore, SessionStore, Store};
use onetool::{
    CallContext, Gateway, InputRequest, InputRequired, JsonObject, OpenStore, Server, SourceState, ToolError,
    tool_fn,
};
use onetool_testkit::{Client, Era, HttpServer, Notification, RawClient, scripted_upstream};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::{beyond_surface, config, options};

const TOKEN: &str = "canary-token-0123456789";

/// Returns gateways with the same configuration and the same store.
fn two_gateways(folder: &TempDir, yaml: &str) -> [Gateway; 2] {
    let store: Arc<dyn Store> = Arc::new(MemoryStore::default());
    [(); 2].map(|()| {
        let store = store.clone();
        let mut options = options();
        options.store = OpenStore::new(move |_, _| store.clone());
        Gateway::new(config(folder.path(), yaml), options).unwrap()
    })
}

async fn serve(gateway: &Gateway) -> HttpServer {
    let mut options = HttpOptions::default();
    options.access = Access::with_token(TOKEN);
    HttpServer::start_gateway(gateway, options).await
}

/// Does what a person does on the page.
async fn put(http: &HttpServer, path: &str, body: &Value) {
    let request = http.request("PUT", &format!("/api/v1/{path}")).bearer_auth(TOKEN);
    request.body(body.to_string()).send().await.unwrap().error_for_status().unwrap();
}

#[tokio::test]
async fn str_3_gateways_with_one_store_share_the_tools_that_a_caller_loads() {
    let folder = TempDir::new().unwrap();
    let [here, there] = two_gateways(&folder, "");
    let loader = Client::connect_with(here.server(), Era::Stateless).await;
    let other = Client::connect_with(there.server(), Era::Stateless).await;
    assert!(beyond_surface(&other).await.is_empty());
    loader.call("tool_load", json!({"names": ["ot.version"]})).await.unwrap();
    assert_eq!(beyond_surface(&other).await, ["ot_version"]);
    let session = Client::connect_with(there.server(), Era::Sessions).await;
    assert!(beyond_surface(&session).await.is_empty(), "a session has its own list");
}

#[tokio::test]
async fn str_3_a_session_is_notified_of_what_a_person_activates_on_another_gateway() {
    let folder = TempDir::new().unwrap();
    let gateways = two_gateways(&folder, "");
    let (here, there) = (serve(&gateways[0]).await, serve(&gateways[1]).await);
    let mut session = Client::connect_http(&there.url("/mcp"), Some(TOKEN), Era::Sessions).await;
    assert!(beyond_surface(&session).await.is_empty());
    put(&here, "active", &json!({"names": ["ot.version"], "active": true})).await;
    session.expect_notifications(vec![Notification::ToolsChanged]).await;
    assert_eq!(beyond_surface(&session).await, ["ot_version"]);
}

#[tokio::test]
async fn str_3_servers_with_one_store_open_the_request_state_that_one_of_them_sealed() {
    let sessions: Arc<dyn SessionStore> = Arc::new(MemoryStore::default());
    let asking = || {
        let server = Server::builder().sessions(sessions.clone()).build().unwrap();
        let ask = |_: JsonObject, cx: CallContext| async move {
            match cx.input().responses.get("roots") {
                Some(_) => Ok(format!("state {}", cx.input().state.clone().unwrap_or_default())),
                None => Err(ToolError::InputRequired(Box::new(InputRequired {
                    requests: [("roots".to_owned(), InputRequest::roots())].into(),
                    state: Some(json!(42)),
                }))),
            }
        };
        server.register_tool(tool_fn("demo.ask", "Asks for roots.", ask)).unwrap();
        server
    };
    let call = |state: &Value| {
        let mut params = json!({
            "name": "demo_ask",
            "_meta": {
                "io.modelcontextprotocol/protocolVersion": "2026-07-28",
                "io.modelcontextprotocol/clientInfo": {"name": "t", "version": "1"},
                "io.modelcontextprotocol/clientCapabilities": {"roots": {}},
            },
        });
        if !state.is_null() {
            params["requestState"] = state.clone();
            params["inputResponses"] = json!({"roots": {"roots": []}});
        }
        params
    };
    let (first, second) = (asking(), asking());
    let asked = RawClient::connect(&first).request("tools/call", call(&Value::Null)).await;
    let state = &asked["result"]["requestState"];
    let answer = RawClient::connect(&second).request("tools/call", call(state)).await;
    assert_eq!(answer["result"]["content"][0]["text"], "state 42", "{answer}");
    let stranger = Server::builder().build().unwrap();
    let refused = RawClient::connect(&stranger).request("tools/call", call(state)).await;
    assert_eq!(refused["error"]["code"], -32602, "another store has other keys: {refused}");
}

#[tokio::test]
async fn str_3_gateways_with_one_store_share_which_sources_are_switched_off() {
    let folder = TempDir::new().unwrap();
    let yaml = format!("servers:\n  left: {{command: {}, args: [server]}}\n", scripted_upstream().display());
    let [here, there] = two_gateways(&folder, &yaml);
    here.connected().await;
    there.connected().await;
    let http = serve(&here).await;
    let until = async |gateway: &Gateway, is_on: bool| {
        let is_off = || gateway.sources()[0].state == SourceState::Disabled;
        let changed = async {
            while is_off() == is_on {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        };
        tokio::time::timeout(Duration::from_secs(10), changed).await.expect("the other gateway follows");
    };
    for is_on in [false, true] {
        put(&http, "servers/left/enabled", &json!({"enabled": is_on})).await;
        assert_eq!(here.sources()[0].state == SourceState::Disabled, !is_on, "done when the answer is there");
        until(&there, is_on).await;
    }
    here.close().await;
    there.close().await;
}

#[tokio::test]
async fn str_3_a_reload_that_moves_the_store_keeps_what_sessions_loaded() {
    let folder = TempDir::new().unwrap();
    let mut options = options();
    options.store = OpenStore::sqlite(folder.path().join("first.db"));
    let gateway = Gateway::new(config(folder.path(), ""), options).unwrap();
    let mut client = Client::connect(gateway.server()).await;
    client.call("tool_load", json!({"names": ["ot.version"]})).await.unwrap();
    client.expect_notifications(vec![Notification::ToolsChanged]).await;
    gateway.reload(config(folder.path(), "storage: {url: 'sqlite:second.db'}")).unwrap();
    assert_eq!(beyond_surface(&client).await, ["ot_version"]);
    client.call("tool_load", json!({"unload": ["ot.version"]})).await.unwrap();
    client.expect_notifications(vec![Notification::ToolsChanged]).await;
    assert!(beyond_surface(&client).await.is_empty());
    gateway.close().await;
}

#[tokio::test]
async fn str_3_a_gateway_gets_its_store_from_outside() {
    let folder = TempDir::new().unwrap();
    let store = Arc::new(MemoryStore::default().with_local(Arc::new(LocalState::default())));
    let given = store.clone();
    let mut options = options();
    options.store = OpenStore::new(move |_, _| given.clone());
    let gateway = Gateway::new(config(folder.path(), ""), options).unwrap();
    let hello = |_: JsonObject, _: CallContext| async { "hello" };
    gateway.server().register_tool(tool_fn("demo.hello", "Says hello.", hello)).unwrap();
    gateway.server().call("demo.hello", JsonObject::new(), CallContext::detached()).await.unwrap();
    gateway.close().await;
    let sums = store.event_sums(None, None).await.unwrap();
    assert_eq!((sums.tools[0].tool.as_str(), sums.tools[0].calls), ("demo.hello", 1));
}
