//! D2 and D3: errors for the client and in the log when a handler fails or returns invalid output.

use onetool::{
    CallContext, Json, JsonObject, Prompt, PromptMessage, ReadRequest, ResourceContents, ResourceSpec,
    Server, Tool, ToolError, ToolOutput, ToolSpec, dynamic_tool, prompt_fn, resource_fn, tool_fn,
};
use onetool_testkit::{CapturedLogs, Client, Era};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::{Text, object, server};

fn failing_tool() -> impl Tool {
    tool_fn("demo.fail", "", |_: JsonObject, _: CallContext| async {
        Err::<String, _>(ToolError::failed("disk on fire"))
    })
}

fn failing_prompt() -> impl Prompt {
    prompt_fn("sad", "", |_: Text, _: CallContext| async { Err::<PromptMessage, _>("no paper") })
}

/// Returns the lines of a level.
fn lines(logs: &CapturedLogs, level: &str) -> Vec<String> {
    logs.text().lines().filter(|line| line.contains(level)).map(str::to_owned).collect()
}

#[tokio::test]
async fn d2_a_failing_handler_is_a_warning_with_its_name_and_reason() {
    // At this level there is no span that could name the handler.
    let logs = CapturedLogs::start(tracing::Level::WARN);
    let server = server();
    server.register_tool(failing_tool()).unwrap();
    server.register_prompt(failing_prompt()).unwrap();
    let broken = resource_fn("demo://{key}", "broken", |_: ReadRequest, _: CallContext| async {
        Err::<ResourceContents, _>("out of ink")
    });
    server.register_resource(broken).unwrap();
    let cx = CallContext::detached;
    server.call("demo.fail", JsonObject::new(), cx()).await.unwrap_err();
    server.get_prompt("sad", object(json!({"text": "canary-value"})), cx()).await.unwrap_err();
    server.read_resource("demo://canary-value", cx()).await.unwrap_err();
    let warnings = lines(&logs, "WARN");
    let expected = [("demo.fail", "disk on fire"), ("sad", "no paper"), ("demo://{key}", "out of ink")];
    assert_eq!(warnings.len(), expected.len(), "{warnings:?}");
    for (line, (name, reason)) in warnings.iter().zip(expected) {
        assert!(
            line.contains(&format!("{name:?}")) && line.contains(&format!("reason={reason:?}")),
            "{line}"
        );
    }
    assert!(!logs.text().contains("canary-value"), "{}", logs.text());
}

#[tokio::test]
async fn d2_a_panic_is_an_error_and_a_call_that_never_reached_its_handler_is_neither() {
    let logs = CapturedLogs::start(tracing::Level::WARN);
    let server = server();
    server
        .register_tool(tool_fn("demo.panic", "", |args: JsonObject, _: CallContext| async move {
            assert!(!args.is_empty(), "nothing to do");
        }))
        .unwrap();
    server.register_tool(tool_fn("demo.text", "", |args: Text, _: CallContext| async { args.text })).unwrap();
    server.register_prompt(failing_prompt()).unwrap();
    let cx = CallContext::detached;
    server.call("demo.text", object(json!({"text": ["canary-value"]})), cx()).await.unwrap_err();
    server.get_prompt("sad", JsonObject::new(), cx()).await.unwrap_err();
    server.read_resource("demo://nothing", cx()).await.unwrap_err();
    server.call("demo.nothing", JsonObject::new(), cx()).await.unwrap_err();
    assert_eq!(logs.text(), "");
    server.call("demo.panic", JsonObject::new(), cx()).await.unwrap_err();
    let errors = lines(&logs, "ERROR");
    assert_eq!(errors.len(), 1, "{errors:?}");
    assert!(errors[0].contains("demo.panic") && errors[0].contains("panicked: nothing to do"), "{errors:?}");
}

#[tokio::test]
async fn d2_arguments_that_only_the_handlers_type_rejects_are_not_in_the_log() {
    #[derive(Deserialize, JsonSchema)]
    struct Strict {
        #[schemars(with = "i64")]
        small: u8,
    }
    let logs = CapturedLogs::start(tracing::Level::TRACE);
    let server = server();
    server
        .register_tool(tool_fn("demo.strict", "", |args: Strict, _: CallContext| async move {
            args.small.to_string()
        }))
        .unwrap();
    server
        .register_prompt(prompt_fn("strict", "", |args: Strict, _: CallContext| async move {
            PromptMessage::user(args.small.to_string())
        }))
        .unwrap();
    let args = || object(json!({"small": 987_654_321}));
    server.call("demo.strict", args(), CallContext::detached()).await.unwrap_err();
    server.get_prompt("strict", args(), CallContext::detached()).await.unwrap_err();
    let text = logs.text();
    assert!(text.contains("WARN") && text.contains("demo.strict"), "{text}");
    assert!(!text.contains("987654321"), "{text}");
}

#[tokio::test]
async fn d2_a_failing_prompt_or_resource_is_an_internal_error_that_names_it() {
    let server = server();
    server.register_prompt(failing_prompt()).unwrap();
    let broken = resource_fn("demo://{key}", "broken", |_: ReadRequest, _: CallContext| async {
        Err::<ResourceContents, _>("out of ink")
    });
    server.register_resource(broken).unwrap();
    for era in Era::BOTH {
        let client = Client::connect_with(&server, era).await;
        let error = client.prompt("sad", json!({"text": "x"})).await.unwrap_err();
        assert_eq!((error.code, error.message.as_str()), (-32603, "prompt 'sad' failed: no paper"));
        let error = client.prompt("sad", json!({})).await.unwrap_err();
        assert_eq!((error.code, error.message.as_str()), (-32602, "missing required argument: text"));
        let error = client.read("demo://x").await.unwrap_err();
        assert_eq!((error.code, error.message.as_str()), (-32603, "resource 'demo://x' failed: out of ink"));
    }
}

/// Reads a resource whose handler returns `contents`.
async fn read(contents: ResourceContents, listed_as: Option<&str>) -> Result<Value, (i32, String)> {
    struct Fixed(ResourceSpec, ResourceContents);
    impl onetool::Resource for Fixed {
        fn spec(&self) -> &ResourceSpec {
            &self.0
        }
        fn read<'a>(
            &'a self,
            _: ReadRequest,
            _: &'a CallContext,
        ) -> onetool::BoxFuture<'a, Result<Vec<ResourceContents>, onetool::ResourceError>> {
            Box::pin(async { Ok(vec![ResourceContents::text("fine", "text/plain"), self.1.clone()]) })
        }
    }
    let server = server();
    let mut spec = ResourceSpec::new("demo://it", "it");
    spec.mime_type = listed_as.map(str::to_owned);
    server.register_resource(Fixed(spec, contents)).unwrap();
    let client = Client::connect(&server).await;
    client.read("demo://it").await.map_err(|error| (error.code, error.message))
}

#[tokio::test]
async fn d3_contents_without_a_mime_type_and_text_or_blob_are_the_handlers_error() {
    let contents = |mime_type: Option<&str>, text: Option<&str>, blob: Option<&str>| ResourceContents {
        uri: String::new(),
        mime_type: mime_type.map(str::to_owned),
        text: text.map(str::to_owned),
        blob: blob.map(str::to_owned),
        extra: JsonObject::new(),
    };
    let plain = Some("text/plain");
    for (contents, reason) in [
        (contents(None, Some("x"), None), "no MIME type"),
        (contents(Some(""), Some("x"), None), "the invalid MIME type \"\""),
        (contents(Some("plain text"), Some("x"), None), "the invalid MIME type \"plain text\""),
        (contents(plain, None, None), "neither text nor blob"),
        (contents(plain, Some("x"), Some("AA==")), "both text and blob"),
        (contents(plain, None, Some("not base64!")), "a blob that is not valid base64"),
        (contents(plain, None, Some("AAA")), "a blob that is not valid base64"),
        (contents(plain, None, Some("A===")), "a blob that is not valid base64"),
    ] {
        let message = format!("resource 'demo://it' failed: the handler returned contents with {reason}");
        assert_eq!(read(contents, None).await, Err((-32603, message)));
    }
    read(contents(Some("text/html; charset=utf-8"), Some(""), None), None).await.unwrap();
    read(contents(None, None, Some("AA==")), Some("image/png")).await.unwrap();
}

#[derive(Serialize, JsonSchema)]
struct Count {
    n: u32,
}

fn register(server: &Server, name: &str, output: ToolOutput) {
    let schema = json!({"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]});
    let spec = ToolSpec::new(name, "").with_output_schema(object(schema));
    let handler = move |_: JsonObject, _: CallContext| std::future::ready(output.clone());
    server.register_tool(dynamic_tool(spec, handler)).unwrap();
}

#[tokio::test]
async fn d3_structured_output_that_does_not_match_the_output_schema_is_the_handlers_error() {
    let logs = CapturedLogs::start(tracing::Level::WARN);
    let server = server();
    register(&server, "demo.wrong", ToolOutput::structured(json!({"n": "canary-value"})));
    register(&server, "demo.missing", ToolOutput::text("3"));
    register(&server, "demo.bad", ToolOutput::error("nothing to count"));
    register(&server, "demo.right", ToolOutput::structured(json!({"n": 3, "more": true})));
    server
        .register_tool(
            tool_fn("demo.typed", "", |_: JsonObject, _: CallContext| async { Json(Count { n: 3 }) })
                .output::<Count>(),
        )
        .unwrap();
    for era in Era::BOTH {
        let client = Client::connect_with(&server, era).await;
        let text = async |name: &str| client.call_text(name, json!({})).await;
        assert_eq!(
            text("demo_wrong").await,
            r#"error: tool 'demo.wrong' failed: its output does not match its output schema: at '/n': "canary-value" is not of type "integer""#
        );
        assert_eq!(
            text("demo_missing").await,
            "error: tool 'demo.missing' failed: its output does not match its output schema: at the top level: structured content is missing"
        );
        assert_eq!(text("demo_bad").await, "error: nothing to count");
        assert_eq!(client.call("demo_right", json!({})).await.unwrap()["structuredContent"]["n"], 3);
        assert_eq!(client.call("demo_typed", json!({})).await.unwrap()["structuredContent"], json!({"n": 3}));
    }
    let warnings = lines(&logs, "WARN");
    assert!(
        warnings.iter().any(|it| it.contains("demo.wrong") && it.contains("output schema at '/n'")),
        "{warnings:?}"
    );
    assert!(!logs.text().contains("canary-value"), "results are not logged: {}", logs.text());
}

#[tokio::test]
async fn d3_an_output_schema_that_is_not_one_is_rejected_at_registration() {
    let spec = ToolSpec::new("demo.odd", "").with_output_schema(object(json!({"properties": 5})));
    let tool = dynamic_tool(spec, |_: JsonObject, _: CallContext| async { "" });
    assert_eq!(
        server().register_tool(tool).unwrap_err().to_string(),
        r#"invalid output schema of tool 'demo.odd': at '/properties': 5 is not of type "object""#
    );
}
