//! FIND: search, description and loading of tools, over every transport; O2.

use std::path::Path;
use std::time::Duration;

use onetool::http::{Access, HttpOptions};
use onetool::{CallContext, Gateway, JsonObject, OpenStore, Policy, ToolSpec, dynamic_tool, tool_fn};
use onetool_testkit::{Client, Era, HttpServer, Notification, RawClient};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::{SURFACE, beyond_surface, config, gateway, gateway_with_run, object, options};

const TOKEN: &str = "canary-token-0123456789";

const REGISTRY: &str = r#"
"""Tasks and their owners."""

def list(kind: str = "open") -> str:
    """List the tasks that are registered."""
    return kind

def add(title: str, day: int = 1) -> str:
    """Add a task."""
    return title
"#;

const MAIL: &str = r#"
"""Mail."""

def send(to: str, text: str) -> str:
    """Send a message to a person."""
    return to

def delete(number: int) -> str:
    """Delete a message permanently."""
    return "gone"
"#;

/// A gateway whose tools come from packs, so that they are on no list until they are loaded.
fn with_packs(folder: &Path, yaml: &str) -> Gateway {
    let packs = folder.join("packs");
    std::fs::create_dir_all(&packs).unwrap();
    std::fs::write(packs.join("registry.py"), REGISTRY).unwrap();
    std::fs::write(packs.join("mail.py"), MAIL).unwrap();
    gateway_with_run(folder, yaml, |_| {})
}

async fn http(gateway: &Gateway) -> HttpServer {
    let mut options = HttpOptions::new(Access::with_token(TOKEN));
    options.max_body = 1 << 20;
    HttpServer::start(gateway.server(), options).await
}

async fn over_http(http: &HttpServer, profile: &str, era: Era) -> Client {
    Client::connect_http(&http.url(&format!("/mcp/{profile}")), Some(TOKEN), era).await
}

/// Connects with and without sessions, over streams and over HTTP.
async fn every_way(gateway: &Gateway, http: &HttpServer) -> Vec<Client> {
    let mut clients = Vec::new();
    for era in Era::BOTH {
        clients.push(Client::connect_with(gateway.server(), era).await);
        clients.push(over_http(http, "default", era).await);
    }
    clients
}

async fn data(client: &Client, tool: &str, args: Value) -> Value {
    let result = client.call(tool, args).await.unwrap();
    assert_ne!(result["isError"], true, "{result}");
    result["structuredContent"].clone()
}

fn names(tools: &Value) -> Vec<&str> {
    tools.as_array().unwrap().iter().map(|tool| tool["name"].as_str().unwrap()).collect()
}

#[tokio::test]
async fn find_1_1_tools_are_ranked_and_have_score_and_state() {
    let folder = TempDir::new().unwrap();
    let gateway = with_packs(folder.path(), "");
    let http = http(&gateway).await;
    for client in every_way(&gateway, &http).await {
        let found = data(&client, "tool_find", json!({"query": "registry list tasks"})).await;
        let tools = found["tools"].as_array().unwrap();
        assert_eq!(tools[0]["name"], "registry.list");
        assert_eq!(tools[0]["signature"], "registry.list(kind: str = 'open')");
        assert_eq!(tools[0]["description"], "List the tasks that are registered.");
        assert_eq!(tools[0]["active"], false);
        let scores: Vec<f64> = tools.iter().map(|tool| tool["score"].as_f64().unwrap()).collect();
        assert!(scores.len() > 1 && scores.is_sorted_by(|a, b| a >= b) && scores[0] > 0.0, "{scores:?}");
        let text = client.call_text("tool_find", json!({"query": "registry list tasks"})).await;
        for tool in tools {
            let (signature, score) = (tool["signature"].as_str().unwrap(), &tool["score"]);
            assert!(text.contains(&format!("{signature}  [score {score}]")), "{text}");
        }
    }
    let client = Client::connect(gateway.server()).await;
    data(&client, "tool_load", json!({"names": ["registry.list"]})).await;
    let found = data(&client, "tool_find", json!({"query": "registry list tasks"})).await;
    assert_eq!(found["tools"][0]["active"], true);
    assert_eq!(found["tools"][1]["active"], false);
}

#[tokio::test]
async fn find_1_2_the_limit_applies() {
    let folder = TempDir::new().unwrap();
    let gateway = gateway(folder.path(), "search: {limit: 3}");
    let client = Client::connect(gateway.server()).await;
    let count = async |args: Value| data(&client, "tool_find", args).await["tools"].as_array().unwrap().len();
    assert_eq!(count(json!({"query": "tools"})).await, 3);
    assert_eq!(count(json!({"query": "tools", "limit": 2})).await, 2);
    let all = count(json!({"query": "tools", "limit": 1_000_000_000})).await;
    assert!(all > 3, "{all}");
    let ranked = data(&client, "tool_find", json!({"query": "tools", "limit": 100})).await;
    let first = data(&client, "tool_find", json!({"query": "tools", "limit": 1})).await;
    assert_eq!(first["tools"][0], ranked["tools"][0]);
}

#[tokio::test]
async fn find_2_1_a_tool_is_described() {
    let folder = TempDir::new().unwrap();
    let yaml = "docs: {tools: {registry.add: {keywords: [todo, ticket], category: work, examples: ['registry.add(title=\"x\")']}}}";
    let gateway = with_packs(folder.path(), yaml);
    let http = http(&gateway).await;
    for client in every_way(&gateway, &http).await {
        for name in ["registry.add", "registry_add"] {
            let described = data(&client, "tool_describe", json!({"name": name})).await;
            assert_eq!(described["name"], "registry.add");
            assert_eq!(described["description"], "Add a task.");
            assert_eq!(described["active"], false);
            assert_eq!(described["category"], "work");
            assert_eq!(described["keywords"], json!(["todo", "ticket"]));
            assert_eq!(described["input_schema"]["properties"]["day"]["type"], "integer");
            assert_eq!(described["input_schema"]["required"], json!(["title"]));
            let text = client.call_text("tool_describe", json!({"name": name})).await;
            assert!(text.contains("keywords: todo, ticket") && text.contains("active: no"), "{text}");
        }
        let described = data(&client, "tool_describe", json!({"name": "mail.send"})).await;
        assert!(described.get("category").is_none() && described.get("keywords").is_none(), "{described}");
    }
    let client = Client::connect(gateway.server()).await;
    data(&client, "tool_load", json!({"names": ["registry.add"]})).await;
    assert_eq!(data(&client, "tool_describe", json!({"name": "registry.add"})).await["active"], true);
    let found = data(&client, "tool_find", json!({"query": "ticket"})).await;
    assert_eq!(names(&found["tools"]), ["registry.add"]);
}

#[tokio::test]
async fn find_2_2_an_unknown_name_suggests_the_search() {
    let folder = TempDir::new().unwrap();
    let gateway = with_packs(folder.path(), "");
    let http = http(&gateway).await;
    for client in every_way(&gateway, &http).await {
        assert_eq!(
            client.call_text("tool_describe", json!({"name": "mail.sned"})).await,
            "error: tool not found: 'mail.sned'; did you mean 'mail.send'?\nSearch with tool_find(query=\"...\")."
        );
    }
}

#[tokio::test]
async fn find_3_1_a_loaded_tool_belongs_only_to_this_session() {
    let folder = TempDir::new().unwrap();
    let gateway = with_packs(folder.path(), "");
    let http = http(&gateway).await;
    let pairs = [
        (Era::Sessions, Client::connect(gateway.server()).await, Client::connect(gateway.server()).await),
        (
            Era::Sessions,
            over_http(&http, "default", Era::Sessions).await,
            over_http(&http, "default", Era::Sessions).await,
        ),
        // Without sessions, each profile acts as one.
        (
            Era::Stateless,
            over_http(&http, "ada", Era::Stateless).await,
            over_http(&http, "bob", Era::Stateless).await,
        ),
    ];
    for (era, mut ada, bob) in pairs {
        assert_eq!(ada.tool_names().await, SURFACE);
        let result = ada.call("tool_load", json!({"names": ["registry.add", "mail_send"]})).await.unwrap();
        assert_eq!(result["structuredContent"]["active_count"], 2, "{result}");
        let text = result["content"][0]["text"].as_str().unwrap();
        assert_eq!(
            text,
            "2 tools are active now.\n\
             Loaded registry.add as registry_add; call it inside run: registry.add(title=\"...\")\n\
             Loaded mail.send as mail_send; call it inside run: mail.send(to=\"...\", text=\"...\")"
        );
        if era == Era::Sessions {
            ada.expect_notifications(vec![Notification::ToolsChanged]).await;
        }
        assert_eq!(beyond_surface(&ada).await, ["registry_add", "mail_send"]);
        let (tools, _) = ada.list_tools().await;
        let listed = tools.iter().find(|tool| tool["name"] == "registry_add").unwrap();
        assert_eq!(listed["description"], "Add a task.");
        assert_eq!(listed["inputSchema"]["properties"]["title"]["type"], "string");
        assert_eq!(ada.call_text("registry_add", json!({"title": "call Bob"})).await, "call Bob");

        // The other session has its own list.
        assert!(beyond_surface(&bob).await.is_empty());
        let result = data(&bob, "tool_load", json!({"names": ["registry.list"]})).await;
        assert_eq!(result["active_count"], 1);
        assert_eq!(beyond_surface(&bob).await, ["registry_list"]);
        assert_eq!(beyond_surface(&ada).await, ["registry_add", "mail_send"]);

        let result = data(&ada, "tool_load", json!({"names": [], "unload": ["mail.send"]})).await;
        assert_eq!(result["active_count"], 1);
        assert_eq!(beyond_surface(&ada).await, ["registry_add"]);
    }
}

#[tokio::test]
async fn find_3_1_a_subscription_without_a_session_is_notified_only_of_its_own_caller() {
    let folder = TempDir::new().unwrap();
    let gateway = with_packs(folder.path(), "");
    let mut listener = RawClient::connect(gateway.server());
    let meta = json!({"io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {}});
    let params = json!({"_meta": meta, "notifications": {"toolsListChanged": true}});
    let listen = json!({"jsonrpc": "2.0", "id": 1, "method": "subscriptions/listen", "params": params});
    listener.send_line(&listen.to_string()).await;
    let acknowledged = listener.message().await.unwrap();
    assert_eq!(acknowledged["method"], "notifications/subscriptions/acknowledged", "{acknowledged}");
    for era in Era::BOTH {
        let client = Client::connect_with(gateway.server(), era).await;
        data(&client, "tool_load", json!({"names": ["mail.send"]})).await;
    }
    assert_eq!(listener.message().await.unwrap()["method"], "notifications/tools/list_changed");
    listener.close_input().await;
    while let Some(message) = listener.message().await {
        assert_ne!(message["method"], "notifications/tools/list_changed", "only one notification");
    }
}

#[tokio::test]
async fn find_3_1_a_later_session_starts_with_an_empty_set() {
    let folder = TempDir::new().unwrap();
    let gateway = with_packs(folder.path(), "");
    let first = Client::connect(gateway.server()).await;
    data(&first, "tool_load", json!({"names": ["mail.send"]})).await;
    first.close().await;
    let second = Client::connect(gateway.server()).await;
    assert!(beyond_surface(&second).await.is_empty());
}

#[tokio::test]
async fn find_3_1_loaded_tools_disappear_and_return_with_their_source() {
    let folder = TempDir::new().unwrap();
    let gateway = with_packs(folder.path(), "");
    let client = Client::connect(gateway.server()).await;
    data(&client, "tool_load", json!({"names": ["mail.send"]})).await;
    let mut changed = config(folder.path(), "");
    changed.pack_files.clear();
    gateway.reload(changed).unwrap();
    assert!(beyond_surface(&client).await.is_empty());
    assert_eq!(data(&client, "tool_active", json!({})).await["count"], 0);
    gateway.reload(config(folder.path(), "")).unwrap();
    assert_eq!(beyond_surface(&client).await, ["mail_send"]);
}

#[tokio::test]
async fn find_3_2_loading_twice_is_loading_once() {
    let folder = TempDir::new().unwrap();
    let gateway = with_packs(folder.path(), "tools: [{name: demo.date, description: d, command: [date]}]");
    let client = Client::connect(gateway.server()).await;
    for names in [json!(["mail.send"]), json!(["mail.send", "mail_send", "mail.send"])] {
        let result = data(&client, "tool_load", json!({"names": names})).await;
        assert_eq!(result["active_count"], 1);
        assert_eq!(result["loaded"].as_array().unwrap().len(), 1);
    }
    // A tool that is on every list is not listed twice either.
    let result = data(&client, "tool_load", json!({"names": ["demo.date"]})).await;
    assert_eq!(result["active_count"], 2);
    assert_eq!(beyond_surface(&client).await, ["demo_date", "mail_send"]);
}

#[tokio::test]
async fn find_3_3_with_one_unknown_name_nothing_is_loaded() {
    let folder = TempDir::new().unwrap();
    let gateway = with_packs(folder.path(), "policy: {deny: [mail.delete]}");
    let http = http(&gateway).await;
    for client in every_way(&gateway, &http).await {
        for wrong in ["mail.sned", "mail.delete", ""] {
            let args =
                json!({"names": ["registry.add", wrong, "no.such.thing"], "unload": ["registry.list"]});
            let text = client.call_text("tool_load", args).await;
            assert!(text.starts_with(&format!("error: tool not found: '{wrong}'")), "{text}");
            assert!(text.contains("tool not found: 'no.such.thing'") && text.contains("tool_find"), "{text}");
            assert_eq!(data(&client, "tool_active", json!({})).await["count"], 0);
        }
        let text = client.call_text("tool_load", json!({})).await;
        assert_eq!(
            text,
            "error: names is empty; pass the names of the tools to load, as returned by tool_find"
        );
        let text = client.call_text("tool_load", json!({"names": ["run"]})).await;
        assert_eq!(text, "error: 'run' is always on your list and does not need to be loaded");
    }
}

#[tokio::test]
async fn find_4_1_active_tools_are_listed_and_counted() {
    let folder = TempDir::new().unwrap();
    let gateway = with_packs(folder.path(), "tools: [{name: demo.date, description: d, command: [date]}]");
    let client = Client::connect(gateway.server()).await;
    data(&client, "tool_load", json!({"names": ["mail.send", "registry.add"]})).await;
    let active = data(&client, "tool_active", json!({})).await;
    assert_eq!(active["count"], 2);
    assert_eq!(names(&active["tools"]), ["mail.send", "registry.add"]);
    assert_eq!(active["tools"][0]["description"], "Send a message to a person.");
    assert_eq!(
        client.call_text("tool_active", json!({})).await,
        "2 tools are active:\nmail.send (mail_send): Send a message to a person.\nregistry.add (registry_add): Add a task."
    );
}

#[tokio::test]
async fn find_4_2_the_result_says_if_no_tool_is_active() {
    let folder = TempDir::new().unwrap();
    let gateway = gateway(folder.path(), "");
    let http = http(&gateway).await;
    for client in every_way(&gateway, &http).await {
        let active = data(&client, "tool_active", json!({})).await;
        assert_eq!((&active["tools"], &active["count"]), (&json!([]), &json!(0)));
        let text = client.call_text("tool_active", json!({})).await;
        assert!(text.starts_with("No tools are active."), "{text}");
        assert_eq!(active["message"], text);
    }
}

#[tokio::test]
async fn find_5_1_the_index_follows_the_catalog() {
    let folder = TempDir::new().unwrap();
    let gateway = gateway(folder.path(), "");
    let found = async |query: &str| -> Vec<String> {
        gateway.find(query, 10).await.into_iter().map(|hit| hit.name.to_string()).collect()
    };
    assert!(found("zebra").await.is_empty());
    let handler = |_: JsonObject, _: CallContext| async { "" };
    gateway.server().register_tool(tool_fn("zoo.feed", "Feeds the zebra.", handler)).unwrap();
    assert_eq!(found("zebra").await, ["zoo.feed"]);
    // Names and parameters are searched like descriptions.
    let schema = object(json!({"type": "object", "properties": {"zebra": {"type": "string"}}}));
    let spec = ToolSpec::new("stable.open", "").with_input_schema(schema);
    gateway.server().register_tool(dynamic_tool(spec, handler)).unwrap();
    gateway.server().register_tool(tool_fn("zebra.ride", "", handler)).unwrap();
    let mut all = found("zebra").await;
    all.sort();
    assert_eq!(all, ["stable.open", "zebra.ride", "zoo.feed"]);
    assert!(gateway.server().unregister_tool("zoo.feed"));
    assert!(!found("zebra").await.contains(&"zoo.feed".to_owned()));

    // The operator's descriptions and the policy apply immediately after a reload.
    let docs =
        "docs: {tools: {zebra.ride: {description: Rides a quagga., keywords: [gallop], category: sport}}}";
    gateway.reload(config(folder.path(), docs)).unwrap();
    for query in ["quagga", "gallop", "sport"] {
        assert_eq!(found(query).await, ["zebra.ride"], "{query}");
    }
    gateway.reload(config(folder.path(), "policy: {deny: [zebra.*]}")).unwrap();
    assert!(!found("quagga gallop sport").await.contains(&"zebra.ride".to_owned()));
    assert_eq!(found("zebra").await, ["stable.open"]);
}

#[tokio::test]
async fn find_5_2_a_score_is_the_sum_of_its_explanation() {
    let folder = TempDir::new().unwrap();
    let gateway = gateway(folder.path(), "");
    let hits = gateway.find("list the snippets and packs", 10).await;
    assert!(hits.len() > 2 && hits[0].name.starts_with("ot."), "{hits:?}");
    assert!(hits.is_sorted_by(|a, b| a.score >= b.score));
    for hit in hits {
        let why = &hit.explanation;
        let terms: f64 = why.terms.iter().map(|term| term.part).sum();
        assert!(!why.terms.is_empty());
        assert!((terms + why.name + why.phrases + why.segment - hit.score).abs() < 1e-6, "{hit:?}");
    }
}

#[tokio::test]
async fn find_6_1_names_are_short_and_the_change_is_marked_as_breaking() {
    let folder = TempDir::new().unwrap();
    let gateway = with_packs(folder.path(), "");
    let names = Client::connect(gateway.server()).await.tool_names().await;
    assert_eq!(names, SURFACE);
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let changelog = std::fs::read_to_string(root.join("CHANGELOG.md")).unwrap();
    let breaking =
        changelog.split("### Breaking").nth(1).and_then(|rest| rest.split("\n### ").next()).unwrap();
    assert!(breaking.contains("go_ent_"), "{breaking}");
    let guide = std::fs::read_to_string(root.join("docs/find.md")).unwrap();
    assert!(guide.contains("go_ent_") && guide.contains("short names"));
}

#[tokio::test]
async fn find_6_2_a_legacy_name_suggests_the_new_one_on_every_path() {
    let folder = TempDir::new().unwrap();
    let yaml = "renames: {post: mail.send}\npolicy: {deny: [mail.delete]}";
    let gateway = with_packs(folder.path(), yaml);
    let http = http(&gateway).await;
    let message = |old: &str, new: &str| format!("tool not found: '{old}'; it was renamed to '{new}'");
    for client in every_way(&gateway, &http).await {
        for (old, new) in [
            ("go_ent_registry_list", "registry_list"),
            ("go_ent_tool_find", "tool_find"),
            ("post", "mail.send"),
            ("go_ent_post", "mail.send"),
        ] {
            let error = client.call(old, json!({})).await.unwrap_err();
            assert_eq!((error.code, error.message), (-32602, message(old, new)));
            for (tool, args) in
                [("tool_describe", json!({"name": old})), ("tool_load", json!({"names": [old]}))]
            {
                let text = client.call_text(tool, args).await;
                assert!(text.contains(&message(old, new)), "{tool}: {text}");
            }
        }
        let error = client.call("go_ent_registry_lits", json!({})).await.unwrap_err();
        let near = "tool not found: 'go_ent_registry_lits'; it was renamed to 'registry_lits', which this server does \
                    not have; did you mean 'registry.list'";
        assert!(error.message.starts_with(near), "{}", error.message);
        // A denied tool looks like one that does not exist.
        for name in ["mail_delete", "xyzzy"] {
            let error = client.call(&format!("go_ent_{name}"), json!({})).await.unwrap_err();
            let gone = format!("it was renamed to '{name}', which this server does not have");
            assert_eq!(error.message, format!("tool not found: 'go_ent_{name}'; {gone}"));
        }
    }
}

#[tokio::test]
async fn pinned_tools_are_on_every_list_from_the_start() {
    let folder = TempDir::new().unwrap();
    let yaml =
        "search: {pinned: [mail.send, registry_add, not.there, mail.delete]}\npolicy: {deny: [mail.delete]}";
    let gateway = with_packs(folder.path(), yaml);
    let http = http(&gateway).await;
    for client in every_way(&gateway, &http).await {
        let mut listed = beyond_surface(&client).await;
        listed.sort();
        assert_eq!(listed, ["mail_send", "registry_add"]);
        assert_eq!(data(&client, "tool_active", json!({})).await["count"], 0);
    }
    let mut client = Client::connect(gateway.server()).await;
    assert_eq!(beyond_surface(&client).await.len(), 2);
    gateway.reload(config(folder.path(), "")).unwrap();
    client.expect_notifications(vec![Notification::ToolsChanged]).await;
    assert!(beyond_surface(&client).await.is_empty());
}

/// A gateway with a storage file.
fn with_file(folder: &Path, yaml: &str) -> Gateway {
    let mut options = options();
    options.store = OpenStore::sqlite(folder.join("onetool.db"));
    let gateway = Gateway::new(config(folder, yaml), options).unwrap();
    let handler = |_: JsonObject, _: CallContext| async { "done" };
    for (name, description) in [
        ("sky.forecast", "Returns how warm it gets tomorrow."),
        ("sky.stars", "Shows which stars can be seen."),
    ] {
        gateway.server().register_tool(tool_fn(name, description, handler)).unwrap();
    }
    gateway
}

#[tokio::test]
async fn queries_that_led_to_a_tool_are_remembered() {
    let folder = TempDir::new().unwrap();
    let gateway = with_file(folder.path(), "");
    let (ada, bob) = (Client::connect(gateway.server()).await, Client::connect(gateway.server()).await);
    let first = |found: &Value| found["tools"][0]["name"].clone();
    assert_eq!(data(&ada, "tool_find", json!({"query": "umbrella"})).await["tools"], json!([]));

    // Loading and calling count, each query once. A tool that the query did not find does not count.
    for query in ["do I need an Umbrella  tomorrow", "do i need an umbrella tomorrow", "is it warm"] {
        data(&ada, "tool_find", json!({"query": query})).await;
        data(&ada, "tool_load", json!({"names": ["sky.forecast"]})).await;
    }
    data(&ada, "tool_find", json!({"query": "warm coat"})).await;
    assert_eq!(ada.call_text("sky_forecast", json!({})).await, "done");
    assert_eq!(ada.call_text("sky_stars", json!({})).await, "done");
    // Searches of another session do not count.
    data(&bob, "tool_find", json!({"query": "which warm stars"})).await;
    assert_eq!(ada.call_text("sky_forecast", json!({})).await, "done");

    assert_eq!(first(&data(&bob, "tool_find", json!({"query": "umbrella"})).await), "sky.forecast");
    let remembered = async |client: &Client, name: &str| {
        data(client, "tool_describe", json!({"name": name})).await["remembered_queries"].clone()
    };
    let queries = json!(["do i need an umbrella tomorrow", "is it warm", "warm coat"]);
    assert_eq!(remembered(&bob, "sky.forecast").await, queries);
    assert_eq!(remembered(&bob, "sky.stars").await, Value::Null);

    // Queries survive a restart, unless that is switched off.
    gateway.close().await;
    let again = with_file(folder.path(), "");
    let client = Client::connect(again.server()).await;
    assert_eq!(first(&data(&client, "tool_find", json!({"query": "umbrella"})).await), "sky.forecast");
    assert_eq!(remembered(&client, "sky.forecast").await, queries);
    again.reload(config(folder.path(), "search: {remember: false}")).unwrap();
    assert_eq!(data(&client, "tool_find", json!({"query": "umbrella"})).await["tools"], json!([]));
    assert_eq!(remembered(&client, "sky.forecast").await, Value::Null);
    data(&client, "tool_find", json!({"query": "warm socks"})).await;
    data(&client, "tool_load", json!({"names": ["sky.forecast"]})).await;
    again.reload(config(folder.path(), "")).unwrap();
    assert_eq!(remembered(&client, "sky.forecast").await, queries);
}

#[tokio::test]
async fn only_the_latest_queries_of_a_tool_stay() {
    let folder = TempDir::new().unwrap();
    let gateway = with_file(folder.path(), "");
    let client = Client::connect(gateway.server()).await;
    for number in 0..15 {
        data(&client, "tool_find", json!({"query": format!("warm day {number}")})).await;
        data(&client, "tool_load", json!({"names": ["sky.forecast"]})).await;
    }
    let expected: Vec<String> = (5..15).map(|number| format!("warm day {number}")).collect();
    for gateway in [gateway, with_file(folder.path(), "")] {
        let client = Client::connect(gateway.server()).await;
        let described = data(&client, "tool_describe", json!({"name": "sky.forecast"})).await;
        let mut queries: Vec<String> =
            serde_json::from_value(described["remembered_queries"].clone()).unwrap();
        queries.sort_by_key(String::len);
        assert_eq!(queries, expected);
        gateway.close().await;
    }
}

#[tokio::test]
async fn unusual_searches_get_a_result() {
    let folder = TempDir::new().unwrap();
    let gateway = gateway(folder.path(), "");
    let handler = |_: JsonObject, _: CallContext| async { "" };
    let long = format!("long.{}", "x".repeat(300));
    let twins = ["twin.a", "twin.b"];
    for (name, description) in [
        (long.as_str(), "Mango"),
        ("bare.papaya", ""),
        (twins[0], "Peels a kiwi."),
        (twins[1], "Peels a kiwi."),
    ] {
        gateway.server().register_tool(tool_fn(name, description, handler)).unwrap();
    }
    let http = http(&gateway).await;
    for client in every_way(&gateway, &http).await {
        for empty in ["", " \n\t "] {
            let text = client.call_text("tool_find", json!({"query": empty})).await;
            assert_eq!(text, "error: the query is empty; describe in a few words what the tool should do");
        }
        for nothing in ["the of and", "🦀🦀", "\u{0}\u{7}\u{202e}", "qqqqzzzz"] {
            let result = client.call("tool_find", json!({"query": nothing})).await.unwrap();
            assert_eq!(result["structuredContent"]["tools"], json!([]), "{nothing:?}");
            let text = result["content"][0]["text"].as_str().unwrap();
            assert!(text.starts_with("No tool matches") && !text.contains('\u{0}'), "{text:?}");
        }
        let huge = "peel a kiwi and then read a page. ".repeat(3_000);
        let result = client.call("tool_find", json!({"query": huge, "limit": 2})).await.unwrap();
        assert_eq!(names(&result["structuredContent"]["tools"]), twins);
        assert!(result.to_string().len() < 4_000, "the result does not repeat a huge query");
        let found = data(&client, "tool_find", json!({"query": "mango"})).await;
        assert_eq!(names(&found["tools"]), [long.as_str()]);
        let found = data(&client, "tool_find", json!({"query": "papaya"})).await;
        assert_eq!(found["tools"][0]["description"], "");
        for limit in [json!(0), json!(-1), json!(1.5), json!("many")] {
            let text = client.call_text("tool_find", json!({"query": "kiwi", "limit": limit})).await;
            assert!(
                text.starts_with("error: schema validation failed for tool 'tool_find': at '/limit'"),
                "{text}"
            );
        }
        let loaded = data(&client, "tool_load", json!({"names": [long]})).await;
        assert!(loaded["loaded"][0]["listed_as"].as_str().unwrap().len() <= 64);
        data(&client, "tool_load", json!({"unload": [long]})).await;
    }
}

#[tokio::test]
async fn o2_ten_thousand_tools_are_searched_and_the_index_is_updated() {
    const COLORS: [&str; 10] =
        ["amber", "blue", "cyan", "denim", "ebony", "fawn", "green", "hazel", "ivory", "jade"];
    let folder = TempDir::new().unwrap();
    let gateway = gateway(folder.path(), "");
    let handler = |_: JsonObject, _: CallContext| async { "" };
    for number in 0..10_000 {
        let color = COLORS[number % 10];
        let name = format!("shop{}.paint_{number}", number / 100);
        let description = format!("Paints fence number{number} in {color}.");
        gateway.server().register_tool(tool_fn(name.as_str(), description, handler)).unwrap();
    }
    for number in [0, 4711, 9999] {
        let query = format!("paint fence number{number} {}", COLORS[number % 10]);
        let hits = gateway.find(&query, 5).await;
        assert_eq!(*hits[0].name, format!("shop{}.paint_{number}", number / 100));
        assert_eq!(hits.len(), 5);
    }
    let index = std::sync::Arc::new(gateway);
    let searches: Vec<_> = (0..16)
        .map(|number| {
            let gateway = index.clone();
            tokio::spawn(async move { gateway.find(&format!("number{}", number * 625), 1).await })
        })
        .collect();
    index.server().register_tool(tool_fn("shop.late", "Paints a gazebo.", handler)).unwrap();
    for (number, search) in searches.into_iter().enumerate() {
        let hits = tokio::time::timeout(Duration::from_mins(1), search).await.unwrap().unwrap();
        assert!(hits[0].name.ends_with(&format!("paint_{}", number * 625)));
    }
    assert_eq!(&*index.find("gazebo", 5).await[0].name, "shop.late");
    let mut denied = config(folder.path(), "");
    denied.policy = Policy { allow: vec!["*".into()], deny: vec!["shop4*".into()] };
    index.reload(denied).unwrap();
    assert!(index.find("number4711", 5).await.iter().all(|hit| !hit.name.starts_with("shop4")));
}

#[tokio::test]
async fn seam_15_the_notification_of_a_changed_list_precedes_the_response_of_tool_load() {
    let folder = TempDir::new().unwrap();
    let gateway = gateway(folder.path(), "");
    let mut client = RawClient::connect(gateway.server());
    client.initialize().await;
    for _ in 0..3 {
        client.request("ping", json!({})).await;
    }
    for arguments in [json!({"names": ["ot.version"]}), json!({"names": [], "unload": ["ot.version"]})] {
        let params = json!({"name": "tool_load", "arguments": arguments});
        let call = json!({"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": params});
        client.send_line(&call.to_string()).await;
        let (first, second) = (client.message().await.unwrap(), client.message().await.unwrap());
        assert_eq!(first["method"], "notifications/tools/list_changed", "{first}");
        assert_eq!((&second["id"], &second["result"]["isError"]), (&json!(7), &json!(false)), "{second}");
    }
    // A call that changes nothing sends no notification and does not wait for one.
    let params = json!({"name": "tool_load", "arguments": {"names": [], "unload": ["ot.version"]}});
    assert_eq!(client.request("tools/call", params).await["id"], 1);
}
