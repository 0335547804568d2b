//! N1–N5: names and schemas.

use std::path::Path;
use std::sync::Arc;

use insta::assert_snapshot;
use onetool::openapi::{ApiOptions, Origin, load};
use onetool::{
    CallContext, Gateway, JsonObject, RegisterError, Server, Tool, ToolSpec, dynamic_tool, tool_fn,
};
use onetool_testkit::Client;
use serde_json::json;
use tempfile::TempDir;

use crate::{config, object, options, server};

fn register(server: &Server, name: &str) -> Result<(), RegisterError> {
    let owned = name.to_owned();
    server.register_tool(tool_fn(name, "", move |_: JsonObject, _: CallContext| {
        let name = owned.clone();
        async move { name }
    }))
}

/// Names that collide when flattened.
const COLLIDING: [(&str, &str); 2] = [("a", "b_c"), ("a_b", "c")];

/// Returns the description of an API with one operation, which is never called.
fn description(operation: &str) -> String {
    json!({
        "openapi": "3.1.0",
        "info": {"title": "Test", "version": "1"},
        "servers": [{"url": "https://93.184.215.14"}],
        "paths": {"/": {"get": {"operationId": operation, "summary": operation}}},
    })
    .to_string()
}

fn origin(operation: &str) -> Origin {
    Origin::Text { text: description(operation), base: None }
}

/// Writes API descriptions next to the configuration; returns the section that configures them.
fn apis(folder: &Path, apis: &[(&str, &str)]) -> String {
    let section = apis.iter().map(|(pack, operation)| {
        std::fs::write(folder.join(format!("{pack}.json")), description(operation)).unwrap();
        format!("  {pack}: {{spec: {pack}.json}}\n")
    });
    format!("openapi:\n{}", section.collect::<String>())
}

fn flat_name(server: &Server, name: &str) -> String {
    server.catalog().resolve(name).unwrap().flat_name().to_owned()
}

/// Checks that every flat or canonical name resolves to the tool that is listed under it.
async fn assert_names_resolve(server: &Server) {
    let catalog = server.catalog();
    for entry in catalog.tools() {
        for name in [entry.flat_name(), entry.name().as_str()] {
            assert_eq!(catalog.resolve(name).unwrap().name(), entry.name(), "{name}");
        }
    }
    let client = Client::connect(server).await;
    for tool in client.list_tools().await.0 {
        let entry = catalog.resolve(tool["name"].as_str().unwrap()).unwrap();
        assert_eq!(tool["description"].as_str().unwrap(), catalog.description(entry), "{tool}");
    }
}

#[tokio::test]
async fn n1_names_of_the_gateway_are_reserved() {
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
    let error = Gateway::new(config(folder.path(), yaml), options()).err().unwrap();
    assert_eq!(
        error.to_string(),
        "tool name 'tool.find' is reserved for onetool itself; choose another name or pack"
    );
    let gateway = Gateway::new(config(folder.path(), &apis(folder.path(), &[("tool", "find")])), options());
    let gateway = gateway.unwrap();
    gateway.connected().await;
    assert_eq!(flat_name(gateway.server(), "tool.find"), "tool_find_2");
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
async fn n4_unusual_and_long_names_stay_callable() {
    let server = server();
    let long = format!("pack.{}", "long_".repeat(40));
    let names = ["github.get-issue", "a.b_c", "übung.größe", "x.ä/b:c", long.as_str()];
    for name in names {
        register(&server, name).unwrap();
    }
    let client = Client::connect(&server).await;
    let flat = client.tool_names().await;
    assert_eq!(flat[..2], ["github_get-issue", "a_b_c"]);
    for (flat, canonical) in flat.iter().zip(names) {
        assert!(
            flat.len() <= 64 && flat.chars().all(|c| c.is_ascii_alphanumeric() || "_-".contains(c)),
            "{flat}"
        );
        assert_eq!(client.call_text(flat, json!({})).await, canonical);
        assert_eq!(client.call_text(canonical, json!({})).await, canonical);
    }
}

#[tokio::test]
async fn n4_d1_names_of_two_sources_that_collide_when_flattened_stay_distinct() {
    let folder = TempDir::new().unwrap();
    let gateway = Gateway::new(config(folder.path(), &apis(folder.path(), &COLLIDING)), options()).unwrap();
    gateway.connected().await;
    let mut flat = COLLIDING.map(|(pack, tool)| flat_name(gateway.server(), &format!("{pack}.{tool}")));
    let renamed: Vec<String> =
        gateway.server().catalog().renamed_apart().map(|it| it.flat_name().to_owned()).collect();
    assert_eq!(renamed, ["a_b_c_2"]);
    assert_names_resolve(gateway.server()).await;
    flat.sort();
    assert_eq!(flat, ["a_b_c", "a_b_c_2"]);
}

#[tokio::test]
async fn d1_a_registration_whose_flat_name_is_taken_is_rejected() {
    let server = server();
    register(&server, "pets.get_pet").unwrap();
    let message = |name: &str| register(&server, name).unwrap_err().to_string();
    assert_eq!(
        message("pets_get_pet"),
        "duplicate tool name 'pets_get_pet': clients already see tool 'pets.get_pet' as 'pets_get_pet'; choose another name"
    );
    assert_eq!(
        message("pets_get.pet"),
        "duplicate tool name 'pets_get.pet': clients already see tool 'pets.get_pet' as 'pets_get_pet'; choose another name"
    );
    assert!(message("pets.get_pet").starts_with("duplicate tool name 'pets.get_pet'"));
    let client = Client::connect(&server).await;
    assert_eq!(client.tool_names().await, ["pets_get_pet"]);
    assert_eq!(client.call_text("pets_get_pet", json!({})).await, "pets.get_pet");
    // The other way round: a name without a pack is its own flat name.
    register(&server, "plain_name").unwrap();
    assert!(message("plain.name").contains("clients already see tool 'plain_name' as 'plain_name'"));
    assert!(server.unregister_tool("plain_name"));
    register(&server, "plain.name").unwrap();
    assert_eq!(client.call_text("plain_name", json!({})).await, "plain.name");
}

#[tokio::test]
async fn d1_a_tool_from_code_never_takes_the_flat_name_of_an_api() {
    let api = async || load(origin("get_pet"), ApiOptions::new("pets"), None).await.unwrap();
    let server = Server::builder().pack(api().await).build().unwrap();
    let error = register(&server, "pets_get_pet").unwrap_err();
    assert!(
        error.to_string().contains("clients already see tool 'pets.get_pet' as 'pets_get_pet'"),
        "{error}"
    );
    assert_names_resolve(&server).await;
    let extra: Vec<Arc<dyn Tool>> =
        vec![Arc::new(tool_fn("pets_get_pet", "", |_: JsonObject, _: CallContext| async { "" }))];
    let error = Server::builder().pack(api().await).extra_tools(extra).build().err().unwrap();
    assert!(
        error.to_string().contains("clients already see tool 'pets.get_pet' as 'pets_get_pet'"),
        "{error}"
    );
}

#[tokio::test]
async fn d1_two_configured_tools_with_the_same_flat_name_are_an_error_with_its_location() {
    let folder = TempDir::new().unwrap();
    let yaml = "tools:\n  - {name: a.b_c, description: d, command: [echo]}\n  - {name: a_b.c, description: d, command: [echo]}\n";
    let error = Gateway::new(config(folder.path(), yaml), options()).err().unwrap();
    assert!(error.to_string().contains("clients already see tool 'a.b_c' as 'a_b_c'"), "{error}");
    assert_eq!(error.location().unwrap().line, 3);
}

#[tokio::test]
async fn d1_a_reload_assigns_the_same_names_as_a_fresh_start() {
    let folder = TempDir::new().unwrap();
    let apis = apis(folder.path(), &[("pets", "get_pet")]);
    let own = format!("{apis}tools:\n  - {{name: pets_get_pet, description: d, command: [printf, own]}}\n");
    let gateway = Gateway::new(config(folder.path(), &apis), options()).unwrap();
    gateway.connected().await;
    assert_eq!(flat_name(gateway.server(), "pets.get_pet"), "pets_get_pet");

    gateway.reload(config(folder.path(), &own)).unwrap();
    let fresh = Gateway::new(config(folder.path(), &own), options()).unwrap();
    fresh.connected().await;
    for gateway in [&gateway, &fresh] {
        assert_eq!(flat_name(gateway.server(), "pets.get_pet"), "pets_get_pet_2");
        assert_names_resolve(gateway.server()).await;
        let client = Client::connect(gateway.server()).await;
        assert_eq!(client.call_text("pets_get_pet", json!({})).await, "own");
    }

    gateway.reload(config(folder.path(), &apis)).unwrap();
    assert_eq!(flat_name(gateway.server(), "pets.get_pet"), "pets_get_pet");
    assert_names_resolve(gateway.server()).await;
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
    assert!(
        neither.starts_with("error: schema validation failed"),
        "the original schema still applies: {neither}"
    );
}

#[tokio::test]
async fn renamed_tools_report_their_new_name() {
    let folder = TempDir::new().unwrap();
    let yaml = "
renames: {old_name: demo.new}
tools: [{name: demo.new, description: d, command: [echo, hi]}]
";
    let gateway = Gateway::new(config(folder.path(), yaml), options()).unwrap();
    let client = Client::connect(gateway.server()).await;
    let message = async |name| client.call(name, json!({})).await.unwrap_err().message;
    assert_eq!(message("old_name").await, "tool not found: 'old_name'; it was renamed to 'demo.new'");
    assert_eq!(
        message("go_ent_demo_new").await,
        "tool not found: 'go_ent_demo_new'; it was renamed to 'demo_new'"
    );
    assert_eq!(message("demo.nww").await, "tool not found: 'demo.nww'; did you mean 'demo.new'?");
}
