//! H4: external schemas that would keep a validator busy forever.

use std::time::Duration;

use onetool::{CallContext, CallError, Gateway, RegisterError, SourceState, ToolSpec, dynamic_tool};
use onetool_testkit::{Client, Era, scripted_upstream};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::{gateway, object, server};

/// Each definition applies the next one twice.
fn doubled(levels: usize) -> Value {
    let next = |level: usize| json!({"$ref": format!("#/$defs/d{}", level + 1)});
    let mut definitions: serde_json::Map<String, Value> = (0..levels)
        .map(|level| (format!("d{level}"), json!({"allOf": [next(level), next(level)]})))
        .collect();
    definitions.insert(format!("d{levels}"), json!({"required": ["a"]}));
    json!({"type": "object", "$ref": "#/$defs/d0", "$defs": definitions})
}

/// An accepted schema that takes too much work for each item of `list`.
fn costly() -> Value {
    let mut schema = doubled(17);
    schema["properties"] = json!({"list": {"items": {"$ref": "#/$defs/d0"}}});
    schema
}

/// A gateway in front of a server whose tool `echo` has this schema.
async fn in_front_of(folder: &TempDir, schema: &Value) -> Gateway {
    let path = folder.path().join("schema.json");
    std::fs::write(&path, schema.to_string()).unwrap();
    let (program, path) = (scripted_upstream(), path.display().to_string());
    let yaml =
        format!("servers:\n  up: {{command: {}, args: [server, 'schema={path}']}}\n", program.display());
    let gateway = gateway(folder.path(), &yaml);
    gateway.connected().await;
    gateway
}

#[tokio::test]
async fn h4_a_server_s_tool_with_exponential_references_is_skipped_and_named() {
    let folder = TempDir::new().unwrap();
    let gateway = in_front_of(&folder, &doubled(31)).await;
    let [report] = &gateway.sources()[..] else { panic!("one server") };
    assert_eq!(report.state, SourceState::Connected);
    let note = "skipped 'up.echo': references grow exponentially: '#/$defs/d13' expands to more than 1000000 schemas";
    assert!(report.notes.iter().any(|it| it == note), "{:?}", report.notes);
    let catalog = gateway.server().catalog();
    assert!(catalog.resolve("up.echo").is_err());
    assert!(catalog.resolve("up.env").is_ok(), "the other tools are listed");
    gateway.close().await;
}

#[tokio::test]
async fn h4_an_operation_with_exponential_references_is_skipped_and_named() {
    let folder = TempDir::new().unwrap();
    let schema = doubled(31);
    let definitions = schema["$defs"].to_string().replace("#/$defs/", "#/components/schemas/");
    let content = json!({"application/json": {"schema": {"$ref": "#/components/schemas/d0"}}});
    let operation = |id: &str| json!({"operationId": id});
    let spec = json!({
        "openapi": "3.1.0", "servers": [{"url": "https://93.184.215.14"}],
        "paths": {"/a": {
            "get": operation("fine"),
            "post": {"operationId": "costly", "requestBody": {"content": content}},
            "put": {"operationId": "reply", "responses": {"200": {"content": content}}},
        }},
        "components": {"schemas": serde_json::from_str::<Value>(&definitions).unwrap()},
    });
    std::fs::write(folder.path().join("api.json"), spec.to_string()).unwrap();
    let gateway = gateway(folder.path(), "openapi: {api: {spec: api.json}}\n");
    gateway.connected().await;
    let [report] = &gateway.sources()[..] else { panic!("one API") };
    let note = "skipped 'costly': the references of its schema grow exponentially at 'd0'";
    assert!(report.notes.iter().any(|it| it == note), "{:?}", report.notes);
    let catalog = gateway.server().catalog();
    assert!(catalog.resolve("api.costly").is_err());
    assert!(catalog.resolve("api.fine").is_ok());
    let reply = catalog.resolve("api.reply").unwrap();
    assert!(reply.spec().output_schema.is_none(), "only the output schema is dropped");
}

#[tokio::test]
async fn h4_our_own_tool_with_exponential_references_is_rejected() {
    let spec = ToolSpec { input_schema: object(doubled(31)).into(), ..ToolSpec::new("a", "A.") };
    let tool = dynamic_tool(spec, |_, _| async { "never" });
    match server().register_tool(tool) {
        Err(RegisterError::InvalidSchema { reason, .. }) => {
            assert!(reason.contains("'#/$defs/d13'"), "{reason}");
        }
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn h4_a_validation_that_takes_too_long_stops_and_blocks_no_other_client() {
    let folder = TempDir::new().unwrap();
    let gateway = in_front_of(&folder, &costly()).await;
    let items: Vec<Value> = (0..2000).map(|i| json!({"a": i})).collect();
    let args = object(json!({"a": 1, "list": items}));
    let other = Client::connect(gateway.server()).await;
    let costly = gateway.server().call("up.echo", args, CallContext::detached());
    let mut costly = std::pin::pin!(costly);
    let mut responses = 0;
    let error = loop {
        tokio::select! {
            result = &mut costly => break result.unwrap_err(),
            is_alive = other.is_alive(Era::Sessions) => {
                assert!(is_alive);
                responses += 1;
            }
        }
    };
    assert!(responses > 10, "only {responses} responses during the validation, on one thread");
    let CallError::Invalid { errors, .. } = error else { panic!("{error}") };
    assert_eq!(errors[0].message, "validation against the schema takes too much work");
    let fine = object(json!({"a": 1, "list": [{"a": 2}]}));
    assert!(gateway.server().call("up.echo", fine, CallContext::detached()).await.is_ok());
    gateway.close().await;
}

#[tokio::test]
async fn h4_a_validation_stops_with_the_call() {
    let folder = TempDir::new().unwrap();
    let gateway = in_front_of(&folder, &costly()).await;
    let items: Vec<Value> = (0..2000).map(|i| json!({"a": i})).collect();
    let args = object(json!({"a": 1, "list": items}));
    let cx = CallContext::detached().with_deadline(std::time::Instant::now() + Duration::from_millis(1));
    let error = gateway.server().call("up.echo", args, cx).await.unwrap_err();
    assert!(matches!(error, CallError::Invalid { .. }), "{error}");
    gateway.close().await;
}

#[tokio::test]
async fn seam_1_an_api_lists_output_schemas_that_reject_nothing_and_describes_strict_ones() {
    let folder = TempDir::new().unwrap();
    let pet = json!({
        "type": "object", "required": ["id"], "additionalProperties": false,
        "properties": {"id": {"type": "string", "enum": ["a"], "pattern": "\\p{Print}"}},
    });
    let content = json!({"application/json": {"schema": pet}});
    let parameter = json!({"name": "q", "in": "query", "schema": {"type": "string", "pattern": "^\\_+$"}});
    let get =
        json!({"operationId": "get", "parameters": [parameter], "responses": {"200": {"content": content}}});
    let spec = json!({
        "openapi": "3.1.0", "servers": [{"url": "https://93.184.215.14"}], "paths": {"/a": {"get": get}},
    });
    std::fs::write(folder.path().join("api.json"), spec.to_string()).unwrap();
    let gateway = gateway(folder.path(), "openapi: {api: {spec: api.json}}\nsearch: {pinned: [api.get]}\n");
    gateway.connected().await;
    let client = Client::connect(gateway.server()).await;
    let listed = client.list_tools().await.0.into_iter().find(|it| it["name"] == "api_get").unwrap();
    let described = json!({"type": "object", "properties": {"id": {"type": ["string", "null"]}}});
    assert_eq!(listed["outputSchema"], described);
    assert!(!listed["inputSchema"].to_string().contains("pattern"), "{listed}");
    // The pattern still applies when arguments are validated.
    let wrong = gateway.server().call("api.get", object(json!({"q": "1"})), CallContext::detached()).await;
    assert!(matches!(wrong, Err(CallError::Invalid { .. })), "{wrong:?}");
    let described = client.call("tool_describe", json!({"name": "api.get"})).await.unwrap();
    assert_eq!(described["structuredContent"]["output_schema"]["required"], json!(["id"]), "{described}");
}
