//! CUS-1 and CUS-5.1: tools from code.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use insta::assert_snapshot;
use onetool::{
    BoxFuture, CallContext, ContentBlock, Json, JsonObject, Tool, ToolError, ToolOutput, ToolSpec,
    dynamic_tool, tool_fn,
};
use onetool_testkit::{Client, Era};
use serde_json::json;

use super::{EXISTING, builder};
use crate::{Text, object};

fn shout() -> impl Tool {
    tool_fn(
        "demo.shout",
        "Makes text loud.",
        |args: Text, _: CallContext| async move { args.text.to_uppercase() },
    )
}

#[tokio::test]
async fn cus_1_1_a_registered_tool_is_listed_and_called_with_its_arguments() {
    for era in Era::BOTH {
        let server = builder().build().unwrap();
        server.register_tool(shout()).unwrap();
        let client = Client::connect_with(&server, era).await;
        let (tools, _) = client.list_tools().await;
        let listed = tools.iter().find(|it| it["name"] == "demo_shout").unwrap();
        assert_eq!(listed["inputSchema"]["properties"]["text"]["description"], "The input.");
        assert_eq!(client.call_text("demo_shout", json!({"text": "hi"})).await, "HI");
        assert_eq!(
            client.call_text("demo.shout", json!({"text": "hi"})).await,
            "HI",
            "by canonical name too"
        );
    }
}

#[tokio::test]
async fn cus_1_1_any_implementation_of_the_trait_is_a_tool() {
    struct Own(ToolSpec);
    impl Tool for Own {
        fn spec(&self) -> &ToolSpec {
            &self.0
        }
        fn call<'a>(
            &'a self,
            args: JsonObject,
            _: &'a CallContext,
        ) -> BoxFuture<'a, Result<ToolOutput, ToolError>> {
            Box::pin(async move { Ok(ToolOutput::structured(args.into())) })
        }
    }
    let server = builder().build().unwrap();
    server.register_tool(Own(ToolSpec::new("own.mirror", "Returns its arguments."))).unwrap();
    let result = Client::connect(&server).await.call("own_mirror", json!({"a": [1, null]})).await.unwrap();
    assert_eq!(result["structuredContent"], json!({"a": [1, null]}));
}

#[tokio::test]
async fn cus_1_2_extra_tools_exist_before_the_first_request() {
    let tools: Vec<Arc<dyn Tool>> = vec![Arc::new(shout())];
    let server = builder().extra_tools(tools).build().unwrap();
    let expected: Vec<&str> = ["demo_shout"].into_iter().chain(EXISTING).collect();
    let mut names = Client::connect(&server).await.tool_names().await;
    names.sort_by_key(|name| expected.iter().position(|it| it == name));
    assert_eq!(names, expected);
}

#[tokio::test]
async fn cus_1_3_the_content_of_the_handler_is_returned() {
    let server = builder().build().unwrap();
    server
        .register_tool(tool_fn("demo.both", "Text and picture.", |_: JsonObject, _: CallContext| async {
            vec![ContentBlock::text("look"), ContentBlock::image([1, 2, 3], "image/png")]
        }))
        .unwrap();
    let result = Client::connect(&server).await.call("demo_both", json!({})).await.unwrap();
    assert_eq!(
        result["content"],
        json!([{"type": "text", "text": "look"}, {"type": "image", "data": "AQID", "mimeType": "image/png"}])
    );
}

#[tokio::test]
async fn cus_1_4_invalid_arguments_never_reach_the_handler() {
    let calls = Arc::new(AtomicUsize::new(0));
    let counted = calls.clone();
    let server = builder().build().unwrap();
    server
        .register_tool(tool_fn("demo.count", "Counts.", move |args: Text, _: CallContext| {
            counted.fetch_add(1, Ordering::Relaxed);
            async move { args.text }
        }))
        .unwrap();
    let client = Client::connect(&server).await;
    assert_snapshot!(client.call_text("demo_count", json!({"text": 5})).await,
        @r#"error: schema validation failed for tool 'demo.count': at '/text': 5 is not of type "string""#);
    assert_snapshot!(client.call_text("demo_count", json!({})).await,
        @r#"error: schema validation failed for tool 'demo.count': at the top level: "text" is a required property"#);
    assert_eq!(calls.load(Ordering::Relaxed), 0);
    assert_eq!(client.call_text("demo_count", json!({"text": "ok"})).await, "ok");
    assert_eq!(calls.load(Ordering::Relaxed), 1);
}

#[tokio::test]
async fn cus_1_5_a_duplicate_name_is_rejected_and_the_first_stays() {
    let server = builder().build().unwrap();
    server.register_tool(shout()).unwrap();
    let second = tool_fn("demo.shout", "Another.", |_: JsonObject, _: CallContext| async { "second" });
    let error = server.register_tool(second).unwrap_err();
    assert_snapshot!(error, @"duplicate tool name 'demo.shout': already registered; the first registration is kept");
    assert_eq!(
        Client::connect(&server).await.call_text("demo_shout", json!({"text": "first"})).await,
        "FIRST"
    );
}

#[tokio::test]
async fn cus_5_1_a_result_has_typed_content_and_may_be_an_error() {
    let server = builder().build().unwrap();
    server
        .register_tool(tool_fn("demo.bad", "Fails.", |_: JsonObject, _: CallContext| async {
            ToolOutput::error("no such page")
        }))
        .unwrap();
    server
        .register_tool(tool_fn("demo.data", "Data.", |_: JsonObject, _: CallContext| async {
            Json(json!({"n": 1}))
        }))
        .unwrap();
    let client = Client::connect(&server).await;
    let bad = client.call("demo_bad", json!({})).await.unwrap();
    assert_eq!(bad["isError"], true);
    assert_eq!(bad["content"], json!([{"type": "text", "text": "no such page"}]));
    let data = client.call("demo_data", json!({})).await.unwrap();
    assert_eq!(data["structuredContent"], json!({"n": 1}));
    assert_eq!(data["content"][0]["text"], r#"{"n":1}"#);
}

#[tokio::test]
async fn cus_5_4_a_tool_handler_that_fails_or_panics_gets_an_error_and_the_server_keeps_running() {
    let server = builder().build().unwrap();
    server
        .register_tool(tool_fn("demo.fail", "Fails.", |_: JsonObject, _: CallContext| async {
            Err::<String, _>(std::io::Error::other("disk on fire"))
        }))
        .unwrap();
    server
        .register_tool(tool_fn("demo.panic", "Panics.", |args: JsonObject, _: CallContext| async move {
            assert!(!args.is_empty(), "nothing to do");
            "fine"
        }))
        .unwrap();
    for era in Era::BOTH {
        let client = Client::connect_with(&server, era).await;
        assert_eq!(
            client.call_text("demo_fail", json!({})).await,
            "error: tool 'demo.fail' failed: disk on fire"
        );
        assert_eq!(
            client.call_text("demo_panic", json!({})).await,
            "error: tool 'demo.panic' crashed: nothing to do"
        );
        assert_eq!(client.call_text("demo_panic", json!({"a": 1})).await, "fine");
    }
}

#[tokio::test]
async fn cus_6_1_an_invalid_schema_is_rejected_at_registration() {
    let server = builder().build().unwrap();
    let handler = |_: JsonObject, _: CallContext| async { "" };
    let spec =
        ToolSpec::new("demo.odd", "").with_input_schema(object(json!({"type": "object", "properties": 5})));
    let error = server.register_tool(dynamic_tool(spec, handler)).unwrap_err();
    assert_snapshot!(error, @r#"invalid input schema of tool 'demo.odd': at '/properties': 5 is not of type "object""#);
    let not_an_object = tool_fn("demo.text", "", |text: String, _: CallContext| async { text });
    let error = server.register_tool(not_an_object).unwrap_err();
    assert_snapshot!(error, @r#"invalid input schema of tool 'demo.text': arguments are an object, so 'type' must be 'object', not "string""#);
    assert_eq!(server.catalog().tools().count(), EXISTING.len());
}

#[tokio::test]
async fn defaults_of_the_schema_are_filled_in() {
    let schema = json!({"type": "object", "properties": {"n": {"type": "integer", "default": 3}}});
    let spec = ToolSpec::new("demo.n", "").with_input_schema(object(schema));
    let server = builder().build().unwrap();
    server
        .register_tool(dynamic_tool(
            spec,
            |args: JsonObject, _: CallContext| async move { args["n"].to_string() },
        ))
        .unwrap();
    let client = Client::connect(&server).await;
    assert_eq!(client.call_text("demo_n", json!({})).await, "3");
    assert_eq!(client.call_text("demo_n", json!({"n": 4})).await, "4");
}

#[tokio::test]
async fn a_server_provides_its_tools_to_others() {
    let server = builder().build().unwrap();
    server.register_tool(shout()).unwrap();
    let tools = onetool::ToolsProvider::tools(&server).await.unwrap();
    assert!(tools.iter().any(|it| it.spec().name.as_str() == "demo.shout"));
}

#[tokio::test]
async fn o6_a_list_of_large_definitions_is_split_into_pages_that_clients_accept() {
    let server = builder().build().unwrap();
    for number in 0..20 {
        let spec = ToolSpec::new(format!("demo.large{number}"), "x".repeat(1 << 20));
        server.register_tool(dynamic_tool(spec, |_: JsonObject, _: CallContext| async { "" })).unwrap();
    }
    let (tools, pages) = Client::connect(&server).await.list_tools().await;
    assert_eq!(tools.len(), 20 + EXISTING.len());
    assert!((4..=6).contains(&pages), "{pages} pages of some 4 MB");
}
