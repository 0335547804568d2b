//! CUS-2, CUS-4.1 and CUS-5.2: resources from code.

use std::sync::Arc;

use insta::assert_snapshot;
use onetool::{CallContext, ReadRequest, Resource, ResourceContents, resource_fn};
use onetool_testkit::{Client, Era, RawClient};
use serde_json::json;

use super::builder;

fn readme() -> impl Resource {
    resource_fn("docs://readme", "readme", |_: ReadRequest, _: CallContext| async {
        ResourceContents::text("# Read me", "text/markdown")
    })
    .description("Introduction.")
    .mime_type("text/markdown")
}

#[tokio::test]
async fn cus_2_1_a_registered_resource_is_listed_and_read_by_its_handler() {
    for era in Era::BOTH {
        let server = builder().build().unwrap();
        server.register_resource(readme()).unwrap();
        let client = Client::connect_with(&server, era).await;
        let listed = client.list_resources().await;
        assert_eq!(listed[0]["uri"], "docs://readme");
        assert_eq!(listed[0]["description"], "Introduction.");
        assert_eq!(client.read("docs://readme").await.unwrap()["text"], "# Read me");
    }
}

#[tokio::test]
async fn cus_2_2_extra_resources_exist_before_the_first_request() {
    let resources: Vec<Arc<dyn Resource>> = vec![Arc::new(readme())];
    let server = builder().extra_resources(resources).build().unwrap();
    assert_eq!(Client::connect(&server).await.list_resources().await.len(), 1);
}

#[tokio::test]
async fn cus_2_3_a_text_resource_is_text_with_its_mime_type() {
    let server = builder().build().unwrap();
    server.register_resource(readme()).unwrap();
    let contents = Client::connect(&server).await.read("docs://readme").await.unwrap();
    assert_eq!(contents, json!({"uri": "docs://readme", "mimeType": "text/markdown", "text": "# Read me"}));
}

#[tokio::test]
async fn cus_2_4_a_blob_resource_is_base64_with_its_mime_type() {
    let server = builder().build().unwrap();
    let logo = resource_fn("docs://logo", "logo", |_: ReadRequest, _: CallContext| async {
        ResourceContents::blob([0, 255, 16], "image/png")
    });
    server.register_resource(logo).unwrap();
    let contents = Client::connect(&server).await.read("docs://logo").await.unwrap();
    assert_eq!(contents, json!({"uri": "docs://logo", "mimeType": "image/png", "blob": "AP8Q"}));
}

#[tokio::test]
async fn cus_2_5_an_unknown_uri_is_an_error() {
    let server = builder().build().unwrap();
    server.register_resource(readme()).unwrap();
    for (era, code) in [(Era::Sessions, -32002), (Era::Stateless, -32602)] {
        let error = Client::connect_with(&server, era).await.read("docs://nothing").await.unwrap_err();
        assert_eq!(error.code, code);
        assert_eq!(error.message, "resource not found: docs://nothing");
        assert_eq!(error.data, Some(json!({"uri": "docs://nothing"})));
    }
}

#[tokio::test]
async fn cus_2_6_a_duplicate_uri_is_rejected_and_the_first_stays() {
    let server = builder().build().unwrap();
    server.register_resource(readme()).unwrap();
    let second = resource_fn("docs://readme", "second", |_: ReadRequest, _: CallContext| async {
        ResourceContents::text("second", "text/plain")
    });
    let error = server.register_resource(second).unwrap_err();
    assert_snapshot!(error, @"duplicate resource URI 'docs://readme': already registered; the first registration is kept");
    assert_eq!(Client::connect(&server).await.read("docs://readme").await.unwrap()["text"], "# Read me");
}

#[tokio::test]
async fn cus_4_1_a_resource_makes_the_server_declare_lists_of_resources() {
    let server = builder().build().unwrap();
    server.register_resource(readme()).unwrap();
    let response = RawClient::connect(&server).initialize().await;
    let capabilities = &response["result"]["capabilities"];
    assert_eq!(capabilities["resources"]["list"], true);
    assert_eq!(capabilities["resources"]["listChanged"], true);
    assert!(capabilities.get("prompts").is_none());
}

#[tokio::test]
async fn cus_4_3_without_resources_and_prompts_only_tools_are_declared() {
    let response = RawClient::connect(&builder().build().unwrap()).initialize().await;
    let capabilities = response["result"]["capabilities"].as_object().unwrap();
    assert_eq!(capabilities.keys().collect::<Vec<_>>(), ["tools"]);
}

#[tokio::test]
async fn cus_5_2_contents_have_a_type() {
    let server = builder().build().unwrap();
    let family = resource_fn("users://{id}", "user", |request: ReadRequest, _: CallContext| async move {
        vec![
            ResourceContents::text(format!("user {}", request.values["id"]), "text/plain"),
            ResourceContents::blob([1], "image/png").with_uri("users://picture"),
        ]
    })
    .completions(|_, typed| {
        ["ada", "alan", "grace"].iter().filter(|it| it.starts_with(typed)).map(ToString::to_string).collect()
    });
    server.register_resource(family).unwrap();
    let client = Client::connect(&server).await;
    assert_eq!(client.list_resource_templates().await[0]["uriTemplate"], "users://{id}");
    assert!(client.list_resources().await.is_empty(), "a template is not a resource");
    let contents = client.read("users://ada").await.unwrap();
    assert_eq!(contents, json!({"uri": "users://ada", "mimeType": "text/plain", "text": "user ada"}));
    assert_eq!(client.complete("users://{id}", "id", "a").await.unwrap(), ["ada", "alan"]);
}

#[tokio::test]
async fn cus_5_4_a_resource_handler_that_fails_or_panics_gets_an_error_and_the_server_keeps_running() {
    let server = builder().build().unwrap();
    let broken = resource_fn("demo://{how}", "broken", |request: ReadRequest, _: CallContext| async move {
        match request.values["how"].as_str() {
            "panic" => panic!("out of ideas"),
            "fail" => Err("disk on fire"),
            _ => Ok(ResourceContents::text("fine", "text/plain")),
        }
    });
    server.register_resource(broken).unwrap();
    let client = Client::connect(&server).await;
    for (uri, message) in [
        ("demo://fail", "resource 'demo://fail' failed: disk on fire"),
        ("demo://panic", "resource 'demo://panic' crashed: out of ideas"),
    ] {
        let error = client.read(uri).await.unwrap_err();
        assert_eq!((error.code, error.message.as_str()), (-32603, message));
    }
    assert_eq!(client.read("demo://fine").await.unwrap()["text"], "fine");
}
