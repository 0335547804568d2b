//! Which packs exist, which wins when names clash, and the metadata of their tools.

use onetool::validate::check_schema;
use onetool::{CallContext, Source, tool_fn};
use onetool_testkit::Client;
use serde_json::{Value, json};
use tempfile::TempDir;

use super::call;
use crate::{Text, beyond_surface, gateway, gateway_with_run};

#[tokio::test]
async fn every_tool_has_a_schema_that_compiles_an_example_that_matches_and_keywords() {
    let folder = TempDir::new().unwrap();
    let yaml = "packs: {file: {roots: [.]}, db: {urls: {shop: 'sqlite:shop.db'}}}\n";
    let gateway = gateway_with_run(folder.path(), yaml, |_| {});
    let catalog = gateway.server().catalog();
    let bundled: Vec<_> = catalog.tools().filter(|it| *it.source() == Source::Bundled).collect();
    assert_eq!(
        bundled.len(),
        25,
        "eight of file, one of ripgrep, three of db, two of web, seven of brave, three of package, one of llm"
    );
    for entry in bundled {
        let name = entry.name().as_str();
        let schema = Value::Object((**entry.spec().input_schema.shared()).clone());
        assert_eq!(check_schema(&schema), Ok(()), "{name}");
        let spec = entry.spec();
        assert!(spec.annotations.unwrap().read_only_hint.is_some(), "{name}");
        let properties = spec.input_schema["properties"].as_object().unwrap();
        for (parameter, schema) in properties {
            assert!(schema.get("description").is_some(), "{name}: {parameter} has no description");
        }
        let docs = catalog.docs(entry.name()).unwrap();
        assert!(docs.keywords.len() >= 3 && docs.category.is_some(), "{name}");
        assert!(docs.examples[0].starts_with(&format!("{name}(")), "{name}");
        assert!(catalog.pack_description(entry.name().pack().unwrap()).is_some(), "{name}");
    }
    let client = Client::connect(gateway.server()).await;
    assert_eq!(beyond_surface(&client).await, [""; 0], "they are found by search, not listed");
    let found = client.call("tool_find", json!({"query": "newest version of an npm package"})).await.unwrap();
    assert!(found.to_string().contains("package.npm"), "{found}");
}

#[tokio::test]
async fn the_operators_docs_of_a_tool_override_its_own() {
    let folder = TempDir::new().unwrap();
    let yaml = "docs: {tools: {web.fetch: {keywords: [wiki]}}}\n";
    let gateway = gateway(folder.path(), yaml);
    let catalog = gateway.server().catalog();
    let docs = catalog.docs(catalog.resolve("web.fetch").unwrap().name()).unwrap();
    assert_eq!(docs.keywords, ["wiki"]);
    assert_eq!(docs.examples.len(), 1, "what is not set stays");
}

#[tokio::test]
async fn a_pack_that_is_not_configured_yields_to_any_other_of_its_name() {
    let folder = TempDir::new().unwrap();
    let yaml = "tools: [{name: web.own, description: Own., command: [echo, hi]}]\n";
    let declared = gateway(folder.path(), yaml);
    assert!(declared.server().catalog().resolve("web.own").is_ok());
    assert!(
        declared.server().catalog().resolve("web.fetch").is_err(),
        "packs of the same name are not mixed"
    );

    let registered = gateway(folder.path(), "");
    assert!(registered.server().catalog().resolve("llm.transform").is_ok());
    let tool = tool_fn("llm.own", "Own.", |args: Text, _: CallContext| async move { args.text });
    registered.server().register_tool(tool).unwrap();
    assert!(registered.server().catalog().resolve("llm.transform").is_err());
    registered.reload(crate::config(folder.path(), "")).unwrap();
    assert!(registered.server().catalog().resolve("llm.own").is_ok());
    assert!(registered.server().catalog().resolve("llm.transform").is_err());

    let served = gateway(folder.path(), "servers: {brave: {command: ./none}}\n");
    assert!(served.server().catalog().resolve("brave.search").is_err(), "the name belongs to the server");
    assert_eq!(served.broken_packs(), []);
}

#[tokio::test]
async fn a_configured_pack_is_reported_if_another_has_its_name() {
    let folder = TempDir::new().unwrap();
    let yaml =
        "packs:\n  web: {timeout: 5}\ntools: [{name: web.own, description: Own., command: [echo, hi]}]\n";
    let broken = gateway(folder.path(), yaml).broken_packs();
    assert_eq!(broken.len(), 1);
    let text = broken[0].to_string();
    assert!(text.ends_with("onetool.yaml:2: another pack is also named 'web' and wins; rename it"), "{text}");
}

#[tokio::test]
async fn a_reload_switches_packs_on_and_off() {
    let folder = TempDir::new().unwrap();
    let gateway = gateway(folder.path(), "packs: {web: {enabled: false}}\n");
    assert!(gateway.server().catalog().resolve("web.fetch").is_err());
    std::fs::write(folder.path().join("a"), "text").unwrap();
    let report = gateway.reload(crate::config(folder.path(), "packs: {file: {roots: [.]}}\n")).unwrap();
    assert!(report.added.contains(&"file.read".to_owned()) && report.added.contains(&"web.fetch".to_owned()));
    assert_eq!(call(&gateway, "file.read", json!({"path": "a"})).await["text"], "text");
}
