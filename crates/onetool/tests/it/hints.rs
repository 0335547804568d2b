//! H8 and D9: error messages for unknown names, on every path and of any length.

use onetool::http::HttpOptions;
use onetool::{CallContext, Gateway, JsonObject, Server, tool_fn};
use onetool_testkit::{Client, HttpServer};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::{Text, gateway_with_run, object};

const YAML: &str = "
renames: {demo.old: demo.shout, old.shout: demo.shout, gone: demo.gone, post: demo.shout}
aliases: {up: demo.shout}
snippets: {greet: {body: \"demo.shout(text='hi')\"}}
";

fn register(server: &Server) {
    server
        .register_tool(tool_fn("demo.shout", "Makes text loud.", |args: Text, _: CallContext| async move {
            args.text.to_uppercase()
        }))
        .unwrap();
    server
        .register_tool(tool_fn("brave.web_search", "Searches.", |_: JsonObject, _: CallContext| async { "" }))
        .unwrap();
}

fn gateway(folder: &TempDir) -> Gateway {
    gateway_with_run(folder.path(), YAML, register)
}

#[tokio::test]
async fn h8_a_name_of_megabytes_gets_a_short_error_on_every_path() {
    let folder = TempDir::new().unwrap();
    let gateway = gateway(&folder);
    let client = Client::connect(gateway.server()).await;
    let huge = "x".repeat(3_000_000);
    let mut errors = Vec::new();
    errors.push(format!("{:?}", client.call(&huge, json!({})).await.unwrap_err()));
    errors.push(format!("{:?}", client.call(&format!("go_ent_{huge}"), json!({})).await.unwrap_err()));
    errors.push(format!("{:?}", client.read(&format!("demo://{huge}")).await.unwrap_err()));
    errors.push(format!("{:?}", client.read(&format!("onetool://tool/{huge}")).await.unwrap_err()));
    errors.push(format!("{:?}", client.prompt(&huge, json!({})).await.unwrap_err()));
    errors.push(format!("{:?}", client.complete(&format!("demo://{huge}"), "name", "").await.unwrap_err()));
    for (tool, args) in [
        ("tool_describe", json!({"name": huge})),
        ("tool_load", json!({"names": [huge]})),
        ("tool_load", json!({"names": vec!["x".repeat(50); 50_000]})),
        ("tool_find", json!({"query": huge})),
        ("ot_help", json!({"query": huge})),
        ("ot_help", json!({"query": "word ".repeat(600_000)})),
        ("ot_tools", json!({"pattern": huge})),
        ("ot_snippets", json!({"pattern": huge})),
        ("ot_result", json!({"handle": huge})),
        ("ot_stats", json!({"period": huge})),
        ("run", json!({"command": format!("${huge}")})),
        ("run", json!({"command": format!("$greet {huge}=1")})),
        ("run", json!({"command": format!("demo.{huge}()")})),
        ("run", json!({"command": format!("demo.shout({huge}=1)")})),
    ] {
        errors.push(client.call_text(tool, args).await);
    }
    for error in errors {
        assert!(error.len() < 8_000, "{} bytes: {}", error.len(), &error[..300]);
    }
}

#[tokio::test]
async fn d9_hints_for_old_and_similar_names_work_inside_run() {
    let folder = TempDir::new().unwrap();
    let gateway = gateway(&folder);
    let client = Client::connect(gateway.server()).await;
    for (code, hint) in [
        // As a single call, which needs no interpreter, and as code.
        ("demo.old(text='a')", "pack 'demo' has no tool 'old'; it was renamed to 'demo.shout'"),
        ("x = 1\ndemo.old(text='a')", "pack 'demo' has no tool 'old'; it was renamed to 'demo.shout'"),
        ("old.shout(text='a')", "'old.shout' was renamed to 'demo.shout'."),
        ("post(text='a')", "It was renamed to 'demo.shout'."),
        ("go_ent_demo_shout(text='a')", "It was renamed to 'demo_shout'."),
        ("x = go_ent_post(text='a')", "It was renamed to 'demo.shout'."),
        ("gone()", "It was renamed to 'demo.gone', which this server does not have"),
        ("go_ent_nothing_here()", "It was renamed to 'nothing_here', which this server does not have."),
        ("demo_shuot(text='a')", "Did you mean 'demo.shout'?"),
        ("brave_websearch()", "Did you mean 'brave.web_search'?"),
        ("bravo.web_search()", "Did you mean 'brave'?"),
        ("upp(text='a')", "Did you mean 'up'?"),
        ("demo.shuot(text='a')", "did you mean 'shout'?"),
    ] {
        let text = client.call_text("run", json!({"command": code})).await;
        let is_error = text.starts_with("error: NameError: ") || text.starts_with("error: AttributeError: ");
        assert!(is_error && text.contains(hint), "{code}: {text}");
    }
}

#[tokio::test]
async fn d9_hints_for_old_and_similar_names_work_over_http() {
    let folder = TempDir::new().unwrap();
    let gateway = gateway(&folder);
    let http = HttpServer::start_gateway(&gateway, HttpOptions::default()).await;
    for (name, hint) in [
        ("post", "it was renamed to 'demo.shout'"),
        ("go_ent_demo_shout", "it was renamed to 'demo_shout'"),
        ("gone", "it was renamed to 'demo.gone', which this server does not have"),
        ("demo_shuot", "did you mean 'demo.shout'?"),
    ] {
        let response = http.get(&format!("/tools/{name}")).send().await.unwrap();
        assert_eq!(response.status(), 404);
        let body: Value = response.json().await.unwrap();
        assert_eq!(body.as_object().unwrap().keys().collect::<Vec<_>>(), ["error"]);
        assert!(
            body["error"].as_str().unwrap().starts_with(&format!("Tool not found: {name}; {hint}")),
            "{body}"
        );
    }
    let found: Value = http.get("/tools/demo_shout").send().await.unwrap().json().await.unwrap();
    assert_eq!(found["name"], "demo.shout");
    http.stop().await;
}

#[tokio::test]
async fn d9_batch_search_reports_invalid_arguments() {
    let folder = TempDir::new().unwrap();
    let gateway = gateway(&folder);
    let client = Client::connect(gateway.server()).await;
    for (prompt, arguments, message) in [
        ("batch_search", json!({"topics": "[]"}), "argument 'topics': the list is empty"),
        ("batch_search", json!({"topics": " , \n"}), "argument 'topics': the list is empty"),
        (
            "batch_search",
            json!({"topics": "a", "count": "0"}),
            "argument 'count': expected a number from 1 to 20, got 0",
        ),
        (
            "batch_search",
            json!({"topics": "a", "count": "-3"}),
            "argument 'count': expected a number from 1 to 20, got -3",
        ),
        (
            "batch_search",
            json!({"topics": "a", "count": "21"}),
            "argument 'count': expected a number from 1 to 20, got 21",
        ),
        ("batch_search", json!({"topics": "a", "count": "x"}), "argument 'count': expected integer"),
        ("transform_data", json!({"urls": "[]", "instruction": "i"}), "argument 'urls': the list is empty"),
    ] {
        let error = client.prompt(prompt, arguments).await.unwrap_err();
        assert_eq!((error.code, error.message.as_str()), (-32602, message));
    }
    client.prompt("batch_search", json!({"topics": "a", "count": "20"})).await.unwrap();
}

#[tokio::test]
async fn d9_statistics_of_an_invalid_period_are_an_error_and_counted_as_one() {
    let folder = TempDir::new().unwrap();
    let gateway = gateway(&folder);
    let client = Client::connect(gateway.server()).await;
    let message =
        "Error: Invalid period 'invalid'. Valid: day, week, month, all. Example: ot.stats(period='day')";
    let result = client.call("ot_stats", json!({"period": "invalid"})).await.unwrap();
    assert_eq!((&result["isError"], &result["content"][0]["text"]), (&json!(true), &json!(message)));
    // Inside code it is a string.
    let code = "x = ot.stats(period='invalid')\n[x]";
    let text = client.call_text("run", json!({"command": code})).await;
    assert_eq!(text, json!([message]).to_string());
    let text = client.call_text("run", json!({"command": "ot.stats(period='invalid')"})).await;
    assert_eq!(text, format!("error: {message}"));
    let stats = gateway.server().call("ot.stats", object(json!({})), CallContext::detached()).await.unwrap();
    let tools = stats.structured_content.unwrap()["tools"].clone();
    let own = tools.as_array().unwrap().iter().find(|it| it["tool"] == "ot.stats");
    let own = own.unwrap_or_else(|| panic!("{tools}"));
    assert_eq!((own["calls"].as_u64(), own["success_rate"].as_f64()), (Some(3), Some(0.0)), "{own}");
}
