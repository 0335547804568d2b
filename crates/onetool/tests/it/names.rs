//! N1–N5: names and schemas.

use insta::assert_snapshot;
use onetool::{CallContext, Gateway, JsonObject, Server, ToolSpec, dynamic_tool, tool_fn};
use onetool_testkit::Client;
use serde_json::json;
use tempfile::TempDir;

use crate::{beyond_surface, config, object, options, server};

fn register(server: &Server, name: &str) {
    let owned = name.to_owned();
    server
        .register_tool(tool_fn(name, "", move |_: JsonObject, _: CallContext| {
            let name = owned.clone();
            async move { name }
        }))
        .unwrap();
}

#[tokio::test]
async fn n1_names_of_the_gateway_cannot_be_taken() {
    let folder = TempDir::new().unwrap();
    for name in ["run", "tool_find", "tool_describe", "tool_load", "tool_active", "ot.tools"] {
        let yaml = format!("tools:\n  - {{name: {name}, description: d, command: [echo]}}\n");
        let error = Gateway::new(config(folder.path(), &yaml), options()).err().unwrap();
        assert_eq!(
            error.to_string(),
            format!("tool name '{name}' is reserved for onetool itself; choose another name or pack")
        );
        assert_eq!(error.location().unwrap().line, 2);
    }
}

#[tokio::test]
async fn n1_a_flat_name_is_never_shared_with_a_name_of_the_gateway() {
    let folder = TempDir::new().unwrap();
    let yaml = "tools:\n  - {name: tool.find, description: d, command: [echo]}\n";
    let gateway = Gateway::new(config(folder.path(), yaml), options()).unwrap();
    assert_eq!(beyond_surface(&Client::connect(gateway.server()).await).await, ["tool_find_2"]);
}

#[tokio::test]
async fn n2_arguments_are_validated_on_every_path() {
    let server = server();
    let schema = json!({"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]});
    let spec = ToolSpec::new("demo.n", "").with_input_schema(object(schema));
    server.register_tool(dynamic_tool(spec, |_: JsonObject, _: CallContext| async { "ran" })).unwrap();
    let direct = server.call("demo.n", object(json!({"n": "x"})), CallContext::detached()).await.unwrap_err();
    let over_mcp = Client::connect(&server).await.call_text("demo_n", json!({"n": "x"})).await;
    assert_eq!(over_mcp, format!("error: {direct}"));
    assert_snapshot!(direct, @r#"schema validation failed for tool 'demo.n': at '/n': "x" is not of type "integer""#);
}

#[tokio::test]
async fn n4_odd_colliding_and_long_names_stay_callable() {
    let server = server();
    let long = format!("pack.{}", "long_".repeat(40));
    let names = ["github.get-issue", "a.b_c", "a_b.c", "a.b.c", "übung.größe", "x.ä/b:c", long.as_str()];
    for name in names {
        register(&server, name);
    }
    let client = Client::connect(&server).await;
    let flat = client.tool_names().await;
    assert_eq!(flat[..4], ["github_get-issue", "a_b_c", "a_b_c_2", "a_b_c_3"]);
    for (flat, canonical) in flat.iter().zip(names) {
        assert!(
            flat.len() <= 64 && flat.chars().all(|c| c.is_ascii_alphanumeric() || "_-".contains(c)),
            "{flat}"
        );
        assert_eq!(client.call_text(flat, json!({})).await, canonical);
        assert_eq!(client.call_text(canonical, json!({})).await, canonical);
    }
    let apart: Vec<String> = server.catalog().renamed_apart().map(|it| it.name().to_string()).collect();
    assert_eq!(apart, ["a_b.c", "a.b.c"]);
}

#[tokio::test]
async fn n5_every_listed_schema_is_an_object_without_a_union_at_the_top() {
    let server = server();
    let union = json!({"oneOf": [{"properties": {"a": {}}, "required": ["a"]}, {"properties": {"b": {}}, "required": ["b"]}]});
    let spec = ToolSpec::new("demo.union", "").with_input_schema(object(union));
    server.register_tool(dynamic_tool(spec, |_: JsonObject, _: CallContext| async { "ran" })).unwrap();
    let client = Client::connect(&server).await;
    let schema = client.list_tools().await.0[0]["inputSchema"].clone();
    assert_eq!(schema, json!({"type": "object", "properties": {"a": {}, "b": {}}}));
    assert_eq!(client.call_text("demo_union", json!({"a": 1})).await, "ran");
    let neither = client.call_text("demo_union", json!({})).await;
    assert!(neither.starts_with("error: schema validation failed"), "the original still decides: {neither}");
}

#[tokio::test]
async fn renamed_tools_give_their_new_name() {
    let folder = TempDir::new().unwrap();
    let yaml = "
renames: {old_name: demo.new}
tools: [{name: demo.new, description: d, command: [echo, hi]}]
";
    let gateway = Gateway::new(config(folder.path(), yaml), options()).unwrap();
    let client = Client::connect(gateway.server()).await;
    let message = async |name| client.call(name, json!({})).await.unwrap_err().message;
    assert_eq!(message("old_name").await, "tool not found: 'old_name'; it is called 'demo.new' now");
    assert_eq!(
        message("go_ent_demo_new").await,
        "tool not found: 'go_ent_demo_new'; it is called 'demo_new' now"
    );
    assert_eq!(message("demo.nww").await, "tool not found: 'demo.nww'; did you mean 'demo.new'?");
}
