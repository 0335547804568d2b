//! D11: the forms of tools, resources, prompts and providers that the library accepts.

use std::sync::Arc;

use onetool::{
    CallContext, Json, JsonObject, PromptMessage, ReadRequest, RegisterError, ResourceContents, Server, Tool,
    ToolError, ToolSpec, ToolsProvider, dynamic_tool, prompt_fn, resource_fn, tool_fn,
};
use onetool_testkit::Client;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Value, json};

use crate::{Text, server};

#[derive(Serialize, JsonSchema)]
struct Hits {
    titles: Vec<String>,
}

async fn search(args: Text, _: CallContext) -> Result<Json<Hits>, ToolError> {
    Ok(Json(Hits { titles: vec![args.text] }))
}

async fn value((): (), _: CallContext) -> Value {
    json!({"n": 1})
}

#[tokio::test]
async fn d11_tools_of_different_closures_can_share_an_array() {
    let prefix = "hello".to_owned();
    let greet = move |args: Text, _: CallContext| {
        let prefix = prefix.clone();
        async move { format!("{prefix} {}", args.text) }
    };
    let mine: Arc<dyn Tool> = Arc::new(tool_fn("more.shared", "", value));
    let server = Server::builder()
        .extra_tools([
            tool_fn("demo.text", "", |_: JsonObject, _: CallContext| async { "text" }),
            tool_fn("demo.greet", "", greet),
            tool_fn("demo.search", "", search).output::<Hits>(),
            tool_fn("demo.undeclared", "", search),
            tool_fn("demo.value", "", value).title("Value"),
            dynamic_tool(ToolSpec::new("demo.dynamic", ""), |_: JsonObject, _: CallContext| async {
                "dynamic"
            }),
        ])
        .extra_tools(vec![mine])
        .extra_resources([
            resource_fn("r://1", "one", |_: ReadRequest, _: CallContext| async {
                ResourceContents::text("1", "text/plain")
            }),
            resource_fn("r://2", "two", |_: ReadRequest, _: CallContext| async {
                Ok::<_, std::io::Error>(ResourceContents::text("2", "text/plain"))
            }),
        ])
        .extra_prompts([
            prompt_fn("p1", "", |(): (), _: CallContext| async { PromptMessage::user("hi") }),
            prompt_fn("p2", "", |args: Text, _: CallContext| async { PromptMessage::user(args.text) }),
        ])
        .build()
        .unwrap();
    let client = Client::connect(&server).await;
    let listed = client.list_tools().await.0;
    assert_eq!(listed.len(), 7);
    let has_output =
        |name: &str| listed.iter().find(|it| it["name"] == name).unwrap().get("outputSchema").is_some();
    assert!(has_output("demo_search") && !has_output("demo_undeclared"));
    assert_eq!(client.call_text("demo_greet", json!({"text": "Ada"})).await, "hello Ada");
    assert_eq!(client.call_text("demo_text", json!({})).await, "text");
    assert_eq!(client.call_text("demo_dynamic", json!({})).await, "dynamic");
    for name in ["demo_search", "demo_undeclared"] {
        let found = client.call(name, json!({"text": "x"})).await.unwrap();
        assert_eq!(found["structuredContent"], json!({"titles": ["x"]}), "{name}");
    }
    assert_eq!(client.read("r://2").await.unwrap()["text"], "2");
    assert_eq!(
        client.prompt("p2", json!({"text": "hey"})).await.unwrap()["messages"][0]["content"]["text"],
        "hey"
    );
}

#[tokio::test]
async fn d11_a_shared_tool_can_be_registered() {
    let server = server();
    let shared: Arc<dyn Tool> = Arc::new(tool_fn("demo.shared", "Shared.", value));
    server.register_tool(shared.clone()).unwrap();
    server.register_tool(Arc::new(tool_fn("demo.arc", "Arc.", value))).unwrap();
    assert!(matches!(server.register_tool(shared), Err(RegisterError::DuplicateTool { .. })));
    let client = Client::connect(&server).await;
    assert_eq!(client.tool_names().await, ["demo_shared", "demo_arc"]);
    assert_eq!(client.call("demo_shared", json!({})).await.unwrap()["structuredContent"], json!({"n": 1}));
}

#[tokio::test]
async fn d11_a_schema_can_be_written_as_json() {
    let server = server();
    let schema = json!({"type": "object", "properties": {"id": {"type": "integer"}}, "required": ["id"]});
    let spec = ToolSpec::new("orders.get", "")
        .with_input_schema(schema)
        .with_output_schema(json!({"type": "object"}));
    let get = |args: JsonObject, _: CallContext| async move { json!({"order": args["id"]}) };
    server.register_tool(dynamic_tool(spec, get)).unwrap();
    let client = Client::connect(&server).await;
    assert_eq!(
        client.call("orders_get", json!({"id": 7})).await.unwrap()["structuredContent"],
        json!({"order": 7})
    );
    assert!(client.call_text("orders_get", json!({"id": "x"})).await.contains("schema validation failed"));
    for wrong in [json!(5), json!(null), json!([]), json!("object"), json!(true)] {
        let spec = ToolSpec::new("orders.wrong", "").with_input_schema(wrong.clone());
        let refused = server.register_tool(dynamic_tool(spec, |_: JsonObject, _: CallContext| async { "" }));
        assert!(matches!(refused, Err(RegisterError::InvalidSchema { .. })), "{wrong}: {refused:?}");
    }
}

#[tokio::test]
async fn d11_a_value_is_an_output_and_a_declared_type() {
    let server = server();
    server.register_tool(tool_fn("v.object", "", value)).unwrap();
    server.register_tool(tool_fn("v.declared", "", value).output::<Value>()).unwrap();
    server.register_tool(tool_fn("v.typed", "", value).output::<Hits>()).unwrap();
    let list = |(): (), _: CallContext| async { Ok::<_, std::io::Error>(json!([1, "two", null])) };
    server.register_tool(tool_fn("v.list", "", list)).unwrap();
    let client = Client::connect(&server).await;
    assert_eq!(client.call("v_object", json!({})).await.unwrap()["structuredContent"], json!({"n": 1}));
    assert_eq!(client.call_text("v_list", json!({})).await, r#"[1,"two",null]"#);
    let listed = client.list_tools().await.0;
    let output =
        |name: &str| listed.iter().find(|it| it["name"] == name).unwrap().get("outputSchema").cloned();
    assert_eq!(output("v_declared"), None, "a type that allows any value declares no schema");
    assert_eq!(output("v_typed").unwrap()["required"], json!(["titles"]));
}

#[tokio::test]
async fn d11_unit_is_an_argument_type() {
    #[derive(serde::Deserialize, JsonSchema)]
    struct Nothing;
    let server = server();
    server.register_tool(tool_fn("demo.ping", "", |(): (), _: CallContext| async { "pong" })).unwrap();
    server.register_tool(tool_fn("demo.none", "", |_: Nothing, _: CallContext| async { "none" })).unwrap();
    let client = Client::connect(&server).await;
    let listed = client.list_tools().await.0;
    for tool in &listed {
        assert_eq!(tool["inputSchema"], json!({"type": "object", "properties": {}}));
    }
    assert_eq!(client.call_text("demo_ping", json!({})).await, "pong");
    assert_eq!(client.call_text("demo_none", json!({})).await, "none");
    assert_eq!(client.call_text("demo_ping", json!({"extra": 1})).await, "pong", "as for a struct");
}

#[tokio::test]
async fn d11_a_closure_that_returns_a_list_is_a_provider() {
    async fn names<Kind>(provider: impl ToolsProvider<Kind>) -> Result<Vec<String>, String> {
        let tools = provider.tools().await.map_err(|error| error.to_string())?;
        Ok(tools.iter().map(|tool| tool.spec().name.to_string()).collect())
    }
    async fn list() -> Vec<Arc<dyn Tool>> {
        vec![Arc::new(tool_fn("a.b", "", value))]
    }
    let expected = Ok(vec!["a.b".to_owned()]);
    let shared: Arc<dyn Tool> = Arc::new(tool_fn("a.b", "", value));
    assert_eq!(names(|| vec![tool_fn("a.b", "", search)]).await, expected);
    assert_eq!(names(|| [tool_fn("a.b", "", search)]).await, expected);
    assert_eq!(names(async || vec![tool_fn("a.b", "", search)]).await, expected);
    assert_eq!(names(list).await, expected);
    let captured = shared.clone();
    assert_eq!(names(move || vec![captured.clone()]).await, expected);
    let captured = shared.clone();
    let later = move || {
        let tool = captured.clone();
        async move { Ok::<_, std::io::Error>(vec![tool]) }
    };
    assert_eq!(names(later).await, expected);
    assert_eq!(names(vec![shared]).await, expected);
    let fails = || Err::<Vec<Arc<dyn Tool>>, _>(std::io::Error::other("the registry is offline"));
    assert_eq!(names(fails).await, Err("cannot list tools: the registry is offline".to_owned()));
}
