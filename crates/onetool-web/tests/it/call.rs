//! Validation and calls.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use onetool_core::{CallContext, JsonObject, Tool, ToolError, ToolOutput, ToolSpec, dynamic_tool};
use onetool_web::{WebOptions, router};
use serde_json::{Value, json};
use tokio::sync::mpsc;

use crate::{Served, fetch};

/// A tool with a strict schema that counts its calls.
fn counting(calls: &Arc<AtomicUsize>) -> Arc<dyn Tool> {
    let schema = json!({
        "type": "object", "required": ["city"], "additionalProperties": false,
        "properties": {"city": {"type": "string"}, "days": {"type": "integer", "maximum": 10}}
    });
    let spec = ToolSpec::new("weather.now", "").with_input_schema(schema.as_object().cloned().unwrap());
    let calls = calls.clone();
    Arc::new(dynamic_tool(spec, move |args: JsonObject, _cx: CallContext| {
        calls.fetch_add(1, Ordering::SeqCst);
        async move { format!("sunny in {}", args["city"].as_str().unwrap()) }
    }))
}

async fn serve(options: WebOptions) -> (Served, Arc<AtomicUsize>) {
    let calls = Arc::new(AtomicUsize::new(0));
    (Served::start(router(vec![counting(&calls)], options)).await, calls)
}

#[tokio::test]
async fn web_4_2_with_execution_off_the_handler_rejects_calls() {
    let (served, calls) = serve(WebOptions::default()).await;
    let refused = (403, json!({"error": "Tool execution is disabled."}));
    for body in ["{}", r#"{"city": "Oslo"}"#, "not json"] {
        assert_eq!(fetch(served.post("/tools/weather.now/call", body)).await, refused);
    }
    // The response does not reveal whether the tool exists, either.
    assert_eq!(fetch(served.post("/tools/nope/call", "{}")).await, refused);
    let (status, verdict) = fetch(served.post("/tools/weather.now/validate", r#"{"city": "Oslo"}"#)).await;
    assert_eq!((status, verdict), (200, json!({"valid": true})));
    assert_eq!(calls.load(Ordering::SeqCst), 0);
}

#[tokio::test]
async fn a6_a_body_that_is_not_an_object_never_reaches_a_tool() {
    let (served, calls) = serve(WebOptions::default().allow_execute(true).max_body(1000)).await;
    let large = format!(r#"{{"city": "{}"}}"#, "x".repeat(2000));
    let table = [
        ("[]", 400),
        ("null", 400),
        ("1", 400),
        ("\"text\"", 400),
        ("true", 400),
        ("{", 400),
        ("\u{0}", 400),
        (large.as_str(), 413),
        // An empty body is an empty object, which here lacks the city.
        ("", 400),
        (" \n", 400),
    ];
    for (body, expected) in table {
        for route in ["call", "validate"] {
            let (status, reply) =
                fetch(served.post(&format!("/tools/weather.now/{route}"), body.to_owned())).await;
            let expected = if route == "validate" && body.trim().is_empty() { 200 } else { expected };
            assert_eq!(status, expected, "{route} {body:.20}: {reply}");
            let has_message = reply["errors"][0]["message"].is_string() || reply["error"].is_string();
            assert!(has_message, "{route} {body:.20}: {reply}");
        }
    }
    assert_eq!(calls.load(Ordering::SeqCst), 0);
}

#[tokio::test]
async fn a6_an_empty_body_means_no_arguments() {
    let tool = dynamic_tool(ToolSpec::new("ping", ""), |args: JsonObject, _: CallContext| async move {
        args.len().to_string()
    });
    let served = Served::start(router(
        vec![Arc::new(tool) as Arc<dyn Tool>],
        WebOptions::default().allow_execute(true),
    ))
    .await;
    let (status, output) = fetch(served.post("/tools/ping/call", "")).await;
    assert_eq!((status, output["content"][0]["text"].as_str()), (200, Some("0")));
}

#[tokio::test]
async fn n2_invalid_arguments_are_reported_by_field_and_never_reach_the_tool() {
    let (served, calls) = serve(WebOptions::default().allow_execute(true)).await;
    let body = r#"{"days": 11, "extra": 1}"#;
    let (status, refused) = fetch(served.post("/tools/weather.now/call", body)).await;
    let (checked, verdict) = fetch(served.post("/tools/weather.now/validate", body)).await;
    assert_eq!((status, checked, &verdict["valid"]), (400, 200, &json!(false)));
    assert_eq!(refused["errors"], verdict["errors"]);
    let mut found: Vec<(&str, &str)> = verdict["errors"]
        .as_array()
        .unwrap()
        .iter()
        .map(|error| (error["path"].as_str().unwrap(), error["keyword"].as_str().unwrap()))
        .collect();
    found.sort_unstable();
    assert_eq!(found, [("", "additionalProperties"), ("", "required"), ("/days", "maximum")]);
    assert_eq!(calls.load(Ordering::SeqCst), 0);
    assert_eq!(fetch(served.post("/tools/weather.now/call", r#"{"city": "Oslo"}"#)).await.0, 200);
    assert_eq!(calls.load(Ordering::SeqCst), 1);
}

#[tokio::test]
async fn n3_an_invalid_schema_is_reported_as_such_and_is_not_a_server_error() {
    let schema = json!({"type": "object", "properties": {"a": {"type": "strin"}}});
    let spec = ToolSpec::new("broken", "").with_input_schema(schema.as_object().cloned().unwrap());
    let tool = dynamic_tool(spec, |_: JsonObject, _: CallContext| async { "" });
    let served = Served::start(router(
        vec![Arc::new(tool) as Arc<dyn Tool>],
        WebOptions::default().allow_execute(true),
    ))
    .await;
    let (status, verdict) = fetch(served.post("/tools/broken/validate", "{}")).await;
    assert_eq!(
        (status, &verdict["valid"], &verdict["errors"][0]["keyword"]),
        (200, &json!(false), &json!("schema"))
    );
    assert!(verdict["errors"][0]["message"].as_str().unwrap().starts_with("Invalid schema: "), "{verdict}");
    assert_eq!(fetch(served.post("/tools/broken/call", "{}")).await.0, 400);
}

#[tokio::test]
async fn the_outcome_of_a_call_is_its_status() {
    let options = WebOptions::default().allow_execute(true).on_call(|call| async move {
        let trace = |id: &str| json!({"_trace_id": id}).as_object().cloned();
        match call.args["city"].as_str().unwrap() {
            "fine" => Ok(ToolOutput { meta: trace("abc"), ..ToolOutput::text("sunny") }),
            "quiet" => Ok(ToolOutput { meta: trace(""), ..ToolOutput::text("sunny") }),
            "bad" => Ok(ToolOutput::error("no such city")),
            "panic" => panic!("on purpose"),
            _ => Err(ToolError::failed("the station is offline")),
        }
    });
    let (served, calls) = serve(options).await;
    let text = |text: &str| json!([{"type": "text", "text": text}]);
    let table = [
        ("fine", 200, json!({"content": text("sunny"), "isError": false, "_meta": {"_trace_id": "abc"}})),
        ("quiet", 200, json!({"content": text("sunny"), "isError": false})),
        ("bad", 500, json!({"content": text("no such city"), "isError": true})),
        ("offline", 500, json!({"content": text("the station is offline"), "isError": true})),
        ("panic", 500, json!({"content": text("The tool 'weather.now' crashed."), "isError": true})),
    ];
    for (city, status, body) in table {
        let sent = json!({"city": city}).to_string();
        assert_eq!(fetch(served.post("/tools/weather_now/call", sent)).await, (status, body), "{city}");
    }
    assert_eq!(calls.load(Ordering::SeqCst), 0, "the handler replaces the tool");
}

#[tokio::test]
async fn closing_the_request_cancels_the_call() {
    struct ReportDrop(mpsc::UnboundedSender<&'static str>);
    impl Drop for ReportDrop {
        fn drop(&mut self) {
            let _ = self.0.send("dropped");
        }
    }
    let (sender, mut events) = mpsc::unbounded_channel();
    let tool = dynamic_tool(ToolSpec::new("forever", ""), move |_: JsonObject, _: CallContext| {
        let sender = sender.clone();
        async move {
            let guard = ReportDrop(sender);
            guard.0.send("started").unwrap();
            std::future::pending::<Value>().await.to_string()
        }
    });
    let served = Served::start(router(
        vec![Arc::new(tool) as Arc<dyn Tool>],
        WebOptions::default().allow_execute(true),
    ))
    .await;
    let request = tokio::spawn(served.post("/tools/forever/call", "{}").send());
    assert_eq!(events.recv().await, Some("started"));
    request.abort();
    let dropped = tokio::time::timeout(Duration::from_secs(10), events.recv()).await;
    assert_eq!(dropped.unwrap(), Some("dropped"));
}
