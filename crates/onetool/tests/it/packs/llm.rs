//! The pack `llm` against a server on loopback that implements OpenAI's documented API, and against the client's model.

use std::sync::{Arc, Mutex};

use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Json, Router};
use onetool::Gateway;
use onetool_testkit::{Client, Era};
use serde_json::{Value, json};
use tempfile::TempDir;

use super::{call, failure, serve, text};
use crate::{gateway, gateway_with_run};

const KEY: &str = "canary-llm-key";

type Received = Arc<Mutex<Vec<Value>>>;

async fn complete(State(received): State<Received>, headers: HeaderMap, Json(body): Json<Value>) -> Response {
    let key = headers.get("authorization").map_or("", |it| it.to_str().unwrap()).to_owned();
    if key != format!("Bearer {KEY}") {
        let error =
            json!({"message": format!("Incorrect API key provided: {key}"), "code": "invalid_api_key"});
        return (StatusCode::UNAUTHORIZED, Json(json!({"error": error}))).into_response();
    }
    let messages = body["messages"].as_array().unwrap();
    let prompt = messages[1]["content"].as_str().unwrap().to_owned();
    let reply = match prompt.as_str() {
        it if it.contains("fenced") => "```json\n{\"a\": 1}\n```",
        it if it.contains("fixed") && messages.len() == 2 => "Sure! Here it is: [1, 2",
        it if it.contains("fixed") => "[1, 2]",
        it if it.contains("hopeless") => "I cannot",
        _ => "transformed",
    };
    let reason = if prompt.contains("endless") { "length" } else { "stop" };
    received.lock().unwrap().push(body);
    let message = json!({"role": "assistant", "content": reply});
    Json(json!({"object": "chat.completion", "choices": [{"index": 0, "message": message, "finish_reason": reason}]}))
        .into_response()
}

async fn start(received: &Received) -> String {
    serve(Router::new().route("/v1/chat/completions", post(complete)).with_state(received.clone())).await
}

fn yaml(url: &str, key: &str) -> String {
    format!("packs: {{llm: {{base_url: '{url}/v1', model: small, api_key: {key}, max_tokens: 77}}}}\n")
}

async fn with_model(received: &Received) -> (Gateway, TempDir) {
    let folder = TempDir::new().unwrap();
    let gateway = gateway(folder.path(), &yaml(&start(received).await, KEY));
    (gateway, folder)
}

#[tokio::test]
async fn an_endpoint_transforms_text_and_data() {
    let received = Received::default();
    let (gateway, _folder) = with_model(&received).await;
    let args = json!({"input": {"a": [1, 2]}, "prompt": "Sum up"});
    assert_eq!(text(&gateway, "llm.transform", args).await, "transformed");
    text(&gateway, "llm.transform", json!({"input": "plain", "prompt": "Sum up", "model": "large"})).await;
    let received = received.lock().unwrap();
    assert_eq!((&received[0]["model"], &received[0]["max_tokens"]), (&json!("small"), &json!(77)));
    assert_eq!(received[0]["messages"][1]["content"], "Instruction:\nSum up\n\nInput:\n{\"a\":[1,2]}");
    assert_eq!(
        (&received[1]["model"], &received[1]["messages"][1]["role"]),
        (&json!("large"), &json!("user"))
    );
}

#[tokio::test]
async fn json_is_returned_as_data_and_fixed_once() {
    let received = Received::default();
    let (gateway, _folder) = with_model(&received).await;
    let transform = async |input: &str| {
        call(&gateway, "llm.transform", json!({"input": input, "prompt": "p", "json": true})).await
    };
    assert_eq!(transform("fenced").await, json!({"a": 1}));
    assert_eq!(transform("fixed").await, json!([1, 2]));
    let second = received.lock().unwrap()[2]["messages"].clone();
    assert_eq!(second[2], json!({"role": "assistant", "content": "Sure! Here it is: [1, 2"}));
    assert!(second[3]["content"].as_str().unwrap().starts_with("That is not valid JSON"), "{second}");
    let args = json!({"input": "hopeless", "prompt": "p", "json": true});
    let error = failure(&gateway, "llm.transform", args).await;
    assert!(
        error.contains("did not return valid JSON, even after a retry; it returned: I cannot"),
        "{error}"
    );
    assert_eq!(received.lock().unwrap().len(), 5, "only one retry");
}

#[tokio::test]
async fn errors_are_reported_without_the_key() {
    let received = Received::default();
    let (gateway, folder) = with_model(&received).await;
    let error = failure(&gateway, "llm.transform", json!({"input": "x", "prompt": " "})).await;
    assert!(error.ends_with("'prompt' is empty; describe how to transform the input"), "{error}");
    let error = failure(&gateway, "llm.transform", json!({"input": "endless", "prompt": "p"})).await;
    assert!(
        error.ends_with("truncated at 77 tokens; ask for less, or raise packs.llm.max_tokens"),
        "{error}"
    );
    let wrong = crate::gateway(folder.path(), &yaml(&start(&received).await, "canary-wrong-key"));
    let error = failure(&wrong, "llm.transform", json!({"input": "x", "prompt": "p"})).await;
    assert!(error.contains("the model's API responded with HTTP 401: invalid_api_key"), "{error}");
    assert!(!error.contains("canary"), "{error}");
    let none = crate::gateway(folder.path(), "");
    let error = failure(&none, "llm.transform", json!({"input": "x", "prompt": "p"})).await;
    assert!(error.contains("no model is available; set base_url, model and api_key"), "{error}");
}

/// The model of the test's client answers every prompt with 42.
#[tokio::test]
async fn seam_11_without_an_endpoint_the_clients_own_model_is_used_in_both_eras_and_by_code() {
    let folder = TempDir::new().unwrap();
    let gateway = gateway_with_run(folder.path(), "version: 1\n", |_| {});
    for era in Era::BOTH {
        let client = Client::connect_with(gateway.server(), era).await;
        let args = json!({"input": "six times seven", "prompt": "Calculate"});
        assert_eq!(client.call_text("llm_transform", args).await, "42", "{era:?}");
        let args = json!({"input": "six times seven", "prompt": "Calculate", "json": true});
        assert_eq!(client.call_text("llm_transform", args).await, "42", "{era:?}");
    }
    let code = "llm.transform(input=['six', 'times'], prompt='Calculate')";
    for era in Era::BOTH {
        let client = Client::connect_with(gateway.server(), era).await;
        assert_eq!(
            client.call_text("run", json!({"command": format!("x = {code}\nx")})).await,
            "42",
            "{era:?}"
        );
    }
}

#[tokio::test]
async fn the_shipped_snippets_for_research_run_end_to_end() {
    let folder = TempDir::new().unwrap();
    let received = Received::default();
    let llm = start(&received).await;
    let page = serve(Router::new().route("/page", get(|| async { "the text of the page" }))).await;
    let found =
        json!({"web": {"results": [{"title": "T", "url": format!("{page}/page"), "description": "D"}]}});
    let brave = serve(Router::new().route("/web/search", get(|| async { Json(found) }))).await;
    let yaml = format!(
        "packs:\n  brave: {{api_key: k-123456, base_url: '{brave}'}}\n  web: {{allow_private: true}}\n  llm: {{base_url: '{llm}/v1', model: small, api_key: {KEY}}}\n"
    );
    let gateway = gateway_with_run(folder.path(), &yaml, |_| {});
    let client = Client::connect(gateway.server()).await;
    for (command, expected) in [
        ("$brv_research topic=\"two words\" count=2", "\"description\":\"D\""),
        ("$web_research topic=crabs", "the text of the page"),
    ] {
        assert_eq!(client.call_text("run", json!({"command": command})).await, "transformed", "{command}");
        let prompt =
            received.lock().unwrap().last().unwrap()["messages"][1]["content"].as_str().unwrap().to_owned();
        assert!(prompt.contains(expected), "{command}: {prompt}");
    }
    let listed = client.call_text("run", json!({"command": "ot.snippets()"})).await;
    for name in ["brv_research", "web_research", "pkg_latest"] {
        assert!(listed.contains(name), "{listed}");
    }
    let configured = client.call_text("run", json!({"command": "ot.config()"})).await;
    assert!(
        configured.contains("snippets: {}"),
        "bundled snippets are not in the configuration: {configured}"
    );
}
