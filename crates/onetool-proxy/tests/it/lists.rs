//! Tools, resources and prompts as the upstream lists them.

use std::time::Duration;

use onetool_core::{CallContext, JsonObject, ReadRequest, ResourceError, ToolAnnotations};
use serde_json::json;

use crate::kit::{Log, call, connected, scripted, tool, wait_for_snapshot};

const TOOLS: usize = 21;

#[tokio::test]
async fn prx_1_4_pages_of_one_are_followed() {
    let upstream = connected(scripted(&["pages"])).await;
    let tools = &upstream.snapshot().tools;
    assert_eq!(tools.len(), TOOLS);
    assert_eq!(tools[0].spec().name.as_str(), "up.echo");
    assert_eq!(tools[TOOLS - 1].spec().name.as_str(), "up.two_words");
    upstream.shut_down().await;
}

#[tokio::test]
async fn o6_a_list_is_truncated_at_its_limits() {
    let mut config = scripted(&["pages"]);
    config.limits.pages = 3;
    let upstream = connected(config.clone()).await;
    assert_eq!(upstream.snapshot().tools.len(), 3);
    upstream.shut_down().await;
    config.limits.pages = 100;
    config.limits.items = 5;
    let upstream = connected(config).await;
    assert_eq!(upstream.snapshot().tools.len(), 5);
    upstream.shut_down().await;
}

#[tokio::test]
async fn prx_1_4_a_changed_list_is_fetched_again_in_both_eras() {
    for script in [&[][..], &["stateless"]] {
        let upstream = connected(scripted(script)).await;
        assert_eq!(upstream.snapshot().tools.len(), TOOLS);
        call(&upstream, "grow").await.unwrap();
        let grown = wait_for_snapshot(&upstream, |snapshot| snapshot.tools.len() > TOOLS).await;
        assert_eq!(grown.tools[TOOLS].spec().name.as_str(), "up.extra");
        assert_eq!(grown.resources.len(), 2);
        upstream.shut_down().await;
    }
}

#[tokio::test]
async fn prx_1_4_all_fields_of_a_tool_are_kept() {
    let upstream = connected(scripted(&[])).await;
    let echo = tool(&upstream, "echo");
    let spec = echo.spec();
    assert_eq!(spec.title.as_deref(), Some("Echo"));
    assert_eq!(spec.description, "Echoes its arguments.");
    assert_eq!(spec.signature(), "up.echo(b: str = ..., a: int = ...)");
    assert_eq!(spec.annotations, Some(ToolAnnotations::read_only()));
    assert_eq!(spec.output_schema.as_ref().unwrap()["type"], "object");
    assert_eq!(spec.meta.as_ref().unwrap()["ui"], "x");
    let extra = json!({
        "annotations": {"readOnlyHint": true, "vendorHint": 1},
        "execution": {"taskSupport": "forbidden"},
    });
    assert_eq!(serde_json::Value::Object(spec.extra.clone()), extra);
    let snapshot = upstream.snapshot();
    assert_eq!(snapshot.instructions.as_deref(), Some("Use with care."));
    assert_eq!(
        (snapshot.server_name.as_deref(), snapshot.server_version.as_deref()),
        (Some("fixture"), Some("1.2.3"))
    );
    assert_eq!(snapshot.protocol_version.as_deref(), Some("2025-11-25"));
    upstream.shut_down().await;
}

#[tokio::test]
async fn n1_only_invalid_and_duplicate_definitions_are_skipped() {
    let log = Log::capture();
    let upstream = connected(scripted(&["broken"])).await;
    let tools = &upstream.snapshot().tools;
    assert_eq!(tools.len(), TOOLS + 1, "only the tool without a schema is valid");
    assert_eq!(tools[TOOLS].spec().name.as_str(), "up.no_schema");
    assert_eq!(tool(&upstream, "echo").spec().description, "Echoes its arguments.");
    let log = log.text();
    for reason in ["its inputSchema is not an object", "it has no name", "duplicate name"] {
        assert!(log.contains(reason), "{reason}\n{log}");
    }
    upstream.shut_down().await;
}

#[tokio::test]
async fn prx_1_8_resources_and_templates_are_served_under_the_name_of_the_pack() {
    let upstream = connected(scripted(&[])).await;
    let snapshot = upstream.snapshot();
    let uris: Vec<&str> = snapshot.resources.iter().map(|resource| resource.spec().uri.as_str()).collect();
    assert_eq!(uris, ["onetool://server/up/test://static", "onetool://server/up/test://item/{id}"]);
    let spec = snapshot.resources[0].spec();
    assert_eq!(
        (spec.name.as_str(), spec.title.as_deref(), spec.mime_type.as_deref()),
        ("static", Some("Static"), Some("text/plain"))
    );
    let read = async |which: usize, uri: &str| {
        let request = ReadRequest { uri: uri.into(), values: std::collections::BTreeMap::new() };
        snapshot.resources[which].read(request, &CallContext::detached()).await
    };
    let item = "onetool://server/up/test://item/7";
    assert_eq!(snapshot.resources[1].spec().uri.matches(item).unwrap()["id"], "7");
    let contents = read(1, item).await.unwrap();
    assert_eq!((contents[0].uri.as_str(), contents[0].text.as_deref()), (item, Some("test://item/7")));
    let missing = read(1, "onetool://server/up/test://item/0").await.unwrap_err();
    assert!(matches!(missing, ResourceError::NotFound { .. }), "{missing}");
    assert!(matches!(read(1, "test://item/7").await, Err(ResourceError::NotFound { .. })));
    assert_eq!(snapshot.resources[1].complete("id", "x").await, ["x1", "x2"]);
    upstream.shut_down().await;
}

#[tokio::test]
async fn prx_1_8_prompts_are_served_under_the_name_of_the_pack() {
    let upstream = connected(scripted(&["no-templates"])).await;
    let snapshot = upstream.snapshot();
    assert_eq!(snapshot.resources.len(), 1, "resources are served even if templates are rejected");
    let [prompt] = &snapshot.prompts[..] else { panic!("{snapshot:?}") };
    assert_eq!(prompt.spec().name, "up_greet");
    assert!(prompt.spec().arguments[0].required);
    let args = JsonObject::from_iter([("who".to_owned(), json!("Ada"))]);
    let output = prompt.get(args, &CallContext::detached()).await.unwrap();
    assert_eq!(output.messages[0].content.as_text(), Some("Hello Ada"));
    assert_eq!(prompt.complete("who", "A").await, ["A1", "A2"]);
    upstream.shut_down().await;
}

#[tokio::test]
async fn prx_1_8_lists_without_a_capability_are_empty() {
    let directory = tempfile::tempdir().unwrap();
    let record = directory.path().join("record");
    let upstream = connected(scripted(&["only-tools", &format!("record={}", record.display())])).await;
    let snapshot = upstream.snapshot();
    assert_eq!((snapshot.tools.len(), snapshot.resources.len(), snapshot.prompts.len()), (TOOLS, 0, 0));
    upstream.shut_down().await;
    let received = std::fs::read_to_string(record).unwrap();
    assert!(!received.contains("resources/") && !received.contains("prompts/"), "{received}");
}

#[tokio::test]
async fn prx_1_2_an_old_server_that_ignores_or_exits_on_the_newest_handshake_is_still_connected() {
    for word in ["ignore-discover", "exit-on-discover"] {
        let mut config = scripted(&[word]);
        config.connect_timeout = Duration::from_secs(1);
        let upstream = connected(config).await;
        assert_eq!(upstream.snapshot().protocol_version.as_deref(), Some("2025-11-25"), "{word}");
        upstream.shut_down().await;
    }
    let upstream = connected(scripted(&["stateless"])).await;
    assert_eq!(upstream.snapshot().protocol_version.as_deref(), Some("2026-07-28"));
    assert_eq!(upstream.snapshot().server_version.as_deref(), Some("1.2.3"));
    upstream.shut_down().await;
}
