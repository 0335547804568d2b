//! L2 and L3: what is logged, and what never is.

use onetool::{CallContext, JsonObject, ToolError, tool_fn};
use onetool_testkit::CapturedLogs;
use serde_json::json;

use crate::{Text, object, server};

#[tokio::test]
async fn l3_the_log_has_outcome_and_sizes_and_never_a_value() {
    let logs = CapturedLogs::start(tracing::Level::INFO);
    let server = server();
    server
        .register_tool(tool_fn("demo.echo", "", |args: Text, _: CallContext| async move { args.text }))
        .unwrap();
    server
        .register_tool(tool_fn("demo.fail", "", |args: Text, _: CallContext| async move {
            Err::<String, _>(ToolError::failed(format!("cannot use {}", args.text)))
        }))
        .unwrap();
    server
        .register_tool(tool_fn("demo.panic", "", |_: JsonObject, _: CallContext| async {
            let missing: Option<&str> = std::hint::black_box(None);
            missing.expect("canary-panic")
        }))
        .unwrap();
    let call = async |name: &str, args| server.call(name, object(args), CallContext::detached()).await;
    call("demo.echo", json!({"text": "canary-value"})).await.unwrap();
    call("demo.echo", json!({"text": ["canary-value"]})).await.unwrap_err();
    call("demo.fail", json!({"text": "canary-value"})).await.unwrap_err();
    call("demo.panic", json!({})).await.unwrap_err();
    call("canary.unknown", json!({"text": "canary-value"})).await.unwrap_err();
    let text = logs.text();
    for expected in [
        "tool=\"demo.echo\"",
        "outcome=\"ok\"",
        "outcome=\"invalid\"",
        "outcome=\"failed\"",
        "outcome=\"panicked\"",
        "outcome=\"unknown\"",
        "args_size=23",
        "took_ms=",
    ] {
        assert!(text.contains(expected), "{expected} in {text}");
    }
    assert!(!text.contains("canary-value") && !text.contains("canary-panic"), "{text}");
}
