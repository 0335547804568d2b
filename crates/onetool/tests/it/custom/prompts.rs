//! CUS-3, CUS-4.2 and CUS-5.3: prompts from code.

use std::sync::Arc;

use insta::assert_snapshot;
use onetool::{CallContext, Prompt, PromptMessage, prompt_fn};
use onetool_testkit::{Client, Era, RawClient};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use super::builder;

#[derive(Deserialize, JsonSchema)]
struct Review {
    /// The files to look at.
    files: Vec<String>,
    /// The reviewer.
    reviewer: String,
    /// The number of remarks.
    remarks: Option<u32>,
}

fn review() -> impl Prompt {
    prompt_fn("review", "Reviews files.", |args: Review, _: CallContext| async move {
        let remarks = args.remarks.unwrap_or(3);
        PromptMessage::user(format!("{}: {} remarks on {}", args.reviewer, remarks, args.files.join(" and ")))
    })
}

fn greet() -> impl Prompt {
    prompt_fn("greet", "Says hello.", |(): (), _: CallContext| async { PromptMessage::assistant("hello") })
}

#[tokio::test]
async fn cus_3_1_a_registered_prompt_is_listed_and_its_handler_creates_the_messages() {
    for era in Era::BOTH {
        let server = builder().build().unwrap();
        server.register_prompt(review()).unwrap();
        let client = Client::connect_with(&server, era).await;
        let listed = client.list_prompts().await;
        assert_eq!(listed[0]["name"], "review");
        assert_eq!(
            listed[0]["arguments"][0],
            json!({"name": "files", "description": "The files to look at.", "required": true})
        );
        assert_eq!(listed[0]["arguments"][2]["required"], false);
        let got = client.prompt("review", json!({"files": "a.rs", "reviewer": "Ada"})).await.unwrap();
        assert_eq!(got["messages"][0]["content"]["text"], "Ada: 3 remarks on a.rs");
    }
}

#[tokio::test]
async fn cus_3_2_extra_prompts_exist_before_the_first_request() {
    let prompts: Vec<Arc<dyn Prompt>> = vec![Arc::new(greet())];
    let server = builder().extra_prompts(prompts).build().unwrap();
    assert_eq!(Client::connect(&server).await.list_prompts().await.len(), 1);
}

#[tokio::test]
async fn cus_3_3_a_prompt_without_arguments_needs_none() {
    let server = builder().build().unwrap();
    server.register_prompt(greet()).unwrap();
    let client = Client::connect(&server).await;
    let without = client.prompt("greet", json!(null)).await.unwrap();
    assert_eq!(
        without["messages"],
        json!([{"role": "assistant", "content": {"type": "text", "text": "hello"}}])
    );
    assert_eq!(client.prompt("greet", json!({})).await.unwrap(), without);
}

#[tokio::test]
async fn cus_3_4_arguments_are_converted_to_the_types_of_the_handler() {
    let server = builder().build().unwrap();
    server.register_prompt(review()).unwrap();
    let client = Client::connect(&server).await;
    for files in [r#"["a.rs", "b.rs"]"#, "a.rs, b.rs", "a.rs\nb.rs"] {
        let got = client
            .prompt("review", json!({"files": files, "reviewer": "Ada", "remarks": "5"}))
            .await
            .unwrap();
        assert_eq!(got["messages"][0]["content"]["text"], "Ada: 5 remarks on a.rs and b.rs", "{files}");
    }
    let error = client
        .prompt("review", json!({"files": "a", "reviewer": "Ada", "remarks": "many"}))
        .await
        .unwrap_err();
    assert_eq!((error.code, error.message.as_str()), (-32602, "argument 'remarks': expected integer"));
}

#[tokio::test]
async fn cus_3_5_every_missing_argument_is_named() {
    let server = builder().build().unwrap();
    server.register_prompt(review()).unwrap();
    let error = Client::connect(&server).await.prompt("review", json!({})).await.unwrap_err();
    assert_eq!((error.code, error.message.as_str()), (-32602, "missing required arguments: files, reviewer"));
}

#[tokio::test]
async fn cus_3_6_a_duplicate_name_is_rejected_and_the_first_stays() {
    let server = builder().build().unwrap();
    server.register_prompt(greet()).unwrap();
    let second = prompt_fn("greet", "", |(): (), _: CallContext| async { PromptMessage::user("second") });
    let error = server.register_prompt(second).unwrap_err();
    assert_snapshot!(error, @"duplicate prompt name 'greet': already registered; the first registration is kept");
    let got = Client::connect(&server).await.prompt("greet", json!({})).await.unwrap();
    assert_eq!(got["messages"][0]["content"]["text"], "hello");
}

#[tokio::test]
async fn cus_4_2_a_prompt_makes_the_server_declare_lists_of_prompts() {
    let server = builder().build().unwrap();
    server.register_prompt(greet()).unwrap();
    let response = RawClient::connect(&server).initialize().await;
    let capabilities = &response["result"]["capabilities"];
    assert_eq!(capabilities["prompts"]["list"], true);
    assert_eq!(capabilities["prompts"]["listChanged"], true);
    assert!(capabilities.get("resources").is_none());
}

#[tokio::test]
async fn cus_5_3_messages_have_a_role_and_content() {
    let server = builder().build().unwrap();
    let talk = prompt_fn("talk", "", |(): (), _: CallContext| async {
        vec![PromptMessage::user("hello?"), PromptMessage::assistant("yes")]
    });
    server.register_prompt(talk).unwrap();
    let got = Client::connect(&server).await.prompt("talk", json!({})).await.unwrap();
    let roles: Vec<_> =
        got["messages"].as_array().unwrap().iter().map(|it| it["role"].as_str().unwrap()).collect();
    assert_eq!(roles, ["user", "assistant"]);
    assert_eq!(got["messages"][1]["content"], json!({"type": "text", "text": "yes"}));
}

#[tokio::test]
async fn cus_5_4_a_prompt_handler_that_fails_or_panics_gets_an_error_and_the_server_keeps_running() {
    let server = builder().build().unwrap();
    let broken = prompt_fn("broken", "", |args: Review, _: CallContext| async move {
        assert_ne!(args.reviewer, "panic", "no reviewer");
        if args.reviewer == "fail" { Err("disk on fire") } else { Ok(PromptMessage::user("fine")) }
    });
    server.register_prompt(broken).unwrap();
    let client = Client::connect(&server).await;
    let got =
        async |reviewer: &str| client.prompt("broken", json!({"files": "a", "reviewer": reviewer})).await;
    let failed = got("fail").await.unwrap_err();
    assert_eq!((failed.code, failed.message.as_str()), (-32603, "prompt 'broken' failed: disk on fire"));
    let panicked = got("panic").await.unwrap_err();
    assert!(panicked.message.starts_with("prompt 'broken' crashed: "), "{panicked:?}");
    assert_eq!(panicked.code, -32603);
    assert_eq!(got("Ada").await.unwrap()["messages"][0]["content"]["text"], "fine");
    let unknown = client.prompt("brokn", json!({})).await.unwrap_err();
    assert_eq!(unknown.message, "prompt not found: 'brokn'; did you mean 'broken'?");
}
