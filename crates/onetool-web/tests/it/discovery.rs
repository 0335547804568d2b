//! Lists and descriptions, from every kind of provider.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use onetool_core::ToolSpec;
use onetool_core::{CallContext, JsonObject, ProviderError, Tool, ToolAnnotations, dynamic_tool};
use onetool_web::{WebOptions, router};
use serde_json::{Value, json};

use crate::{Served, echo, fetch};

fn annotated(name: &str, annotations: ToolAnnotations) -> Arc<dyn Tool> {
    let spec = ToolSpec::new(name, "").with_annotations(annotations);
    Arc::new(dynamic_tool(spec, |_: JsonObject, _: CallContext| async { "" }))
}

#[tokio::test]
async fn web_1_1_the_list_is_a_bare_array_of_every_tool() {
    let served = Served::start(router(vec![echo("a.one"), echo("two")], WebOptions::default())).await;
    let (status, list) = fetch(served.get("/tools")).await;
    assert_eq!(status, 200);
    let expected = json!([
        {"name": "a.one", "description": "What a.one does."},
        {"name": "two", "description": "What two does."}
    ]);
    assert_eq!(list.to_string(), expected.to_string());
}

#[tokio::test]
async fn web_1_2_annotations_contain_only_set_hints() {
    let some = ToolAnnotations { destructive_hint: Some(false), ..ToolAnnotations::read_only() };
    let tools = vec![echo("none"), annotated("empty", ToolAnnotations::default()), annotated("some", some)];
    let served = Served::start(router(tools, WebOptions::default())).await;
    let (_, list) = fetch(served.get("/tools")).await;
    assert_eq!(list[0].get("annotations"), None);
    assert_eq!(list[1].get("annotations"), None);
    assert_eq!(list[2]["annotations"], json!({"readOnlyHint": true, "destructiveHint": false}));
    let (_, tool) = fetch(served.get("/tools/empty")).await;
    assert_eq!(tool.get("annotations"), None);
}

#[tokio::test]
async fn web_2_1_the_schema_of_a_tool_keeps_its_order() {
    let served =
        Served::start(router(vec![echo("a.one"), echo("image/resize")], WebOptions::default())).await;
    for name in ["a.one", "a_one", "a%2Eone"] {
        let (status, tool) = fetch(served.get(&format!("/tools/{name}"))).await;
        assert_eq!(status, 200, "{name}");
        assert_eq!(tool["name"], "a.one");
        let keys: Vec<&String> = tool.as_object().unwrap().keys().collect();
        assert_eq!(keys, ["name", "description", "inputSchema"]);
        let properties: Vec<&String> =
            tool["inputSchema"]["properties"].as_object().unwrap().keys().collect();
        assert_eq!(properties, ["zebra", "apple"]);
    }
    let (status, tool) = fetch(served.get("/tools/image%2Fresize")).await;
    assert_eq!((status, tool["name"].as_str()), (200, Some("image/resize")));
}

#[tokio::test]
async fn web_2_2_an_unknown_name_is_404_with_a_message() {
    let served = Served::start(router(vec![echo("a.one")], WebOptions::default().allow_execute(true))).await;
    let expected = (404, json!({"error": "Tool not found: <b>\"nope\""}));
    let name = "/tools/%3Cb%3E%22nope%22";
    assert_eq!(fetch(served.get(name)).await, expected);
    assert_eq!(fetch(served.post(&format!("{name}/validate"), "{}")).await, expected);
    assert_eq!(fetch(served.post(&format!("{name}/call"), "{}")).await, expected);
}

#[tokio::test]
async fn d9_an_unknown_name_gets_similar_names_and_is_cut_if_it_is_huge() {
    let served = Served::start(router(vec![echo("weather.now"), echo("b")], WebOptions::default())).await;
    let expected = (404, json!({"error": "Tool not found: weather_nwo; did you mean 'weather.now'?"}));
    assert_eq!(fetch(served.get("/tools/weather_nwo")).await, expected);
    let (status, body) = fetch(served.get(&format!("/tools/{}", "x".repeat(20_000)))).await;
    assert_eq!(status, 404);
    assert!(body["error"].as_str().unwrap().len() < 300, "{body}");
}

#[tokio::test]
async fn web_3_1_a_fixed_list_is_used_unchanged() {
    let tools: Vec<Arc<dyn Tool>> = vec![echo("b"), echo("a"), echo("b")];
    let served = Served::start(router(tools, WebOptions::default())).await;
    let (_, list) = fetch(served.get("/tools")).await;
    let names: Vec<&str> =
        list.as_array().unwrap().iter().map(|tool| tool["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["b", "a", "b"]);
}

#[tokio::test]
async fn web_3_2_a_function_is_called_on_every_request() {
    let count = Arc::new(AtomicUsize::new(0));
    let seen = count.clone();
    let provider = move || vec![echo(&format!("tool{}", seen.fetch_add(1, Ordering::SeqCst)))];
    let served = Served::start(router(provider, WebOptions::default())).await;
    for number in 0..3 {
        let (_, list) = fetch(served.get("/tools")).await;
        assert_eq!(list[0]["name"], format!("tool{number}"));
    }
    assert_eq!(fetch(served.get("/tools/tool3")).await.0, 200);
    assert_eq!(fetch(served.get("/tools/tool3")).await.0, 404);
    assert_eq!(count.load(Ordering::SeqCst), 5);
}

#[tokio::test]
async fn web_3_3_an_async_function_is_awaited_on_every_request() {
    let count = Arc::new(AtomicUsize::new(0));
    let seen = count.clone();
    let provider = move || {
        let seen = seen.clone();
        async move {
            tokio::task::yield_now().await;
            vec![echo(&format!("tool{}", seen.fetch_add(1, Ordering::SeqCst)))]
        }
    };
    let served = Served::start(router(provider, WebOptions::default())).await;
    for number in 0..3 {
        let (_, list) = fetch(served.get("/tools")).await;
        assert_eq!(list[0]["name"], format!("tool{number}"));
    }
}

#[tokio::test]
async fn web_3_4_a_provider_that_fails_or_panics_is_500_and_the_server_keeps_running() {
    let count = Arc::new(AtomicUsize::new(0));
    let seen = count.clone();
    let provider = move || match seen.fetch_add(1, Ordering::SeqCst) {
        0 => Err(ProviderError::new("the registry is offline")),
        1 => panic!("on purpose"),
        _ => Ok(vec![echo("fine")]),
    };
    let served = Served::start(router(provider, WebOptions::default())).await;
    let (status, body) = fetch(served.get("/tools")).await;
    assert_eq!((status, body), (500, json!({"error": "cannot list tools: the registry is offline"})));
    let (status, body) = fetch(served.get("/tools/fine")).await;
    assert_eq!((status, body), (500, json!({"error": "the tools provider crashed"})));
    assert_eq!(fetch(served.get("/tools")).await.0, 200);
}

#[tokio::test]
async fn web_5_1_empty_fields_are_omitted_and_a_null_in_the_schema_stays() {
    let served = Served::start(router(vec![echo("a")], WebOptions::default().allow_execute(true))).await;
    let (_, tool) = fetch(served.get("/tools/a")).await;
    assert_eq!(tool["inputSchema"]["properties"]["zebra"].get("default"), Some(&Value::Null));
    let own = |value: &Value| value.as_object().unwrap().values().any(Value::is_null);
    assert!(!own(&tool));
    let (_, verdict) = fetch(served.post("/tools/a/validate", "{}")).await;
    assert_eq!(verdict.to_string(), r#"{"valid":true}"#);
    let (_, output) = fetch(served.post("/tools/a/call", r#"{"x": null}"#)).await;
    assert_eq!(output, json!({"content": [{"type": "text", "text": "{\"x\":null}"}], "isError": false}));
}
