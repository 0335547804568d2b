//! Input requests that an upstream sends during a call, or between its rounds.

use std::sync::Arc;

use onetool_core::{CallContext, InputState, JsonObject, ToolError};
use serde_json::json;

use crate::kit::{TestClient, call, call_with, connected, data, scripted, text, tool};

#[tokio::test]
async fn prx_1_5_input_requests_go_to_the_client_that_made_the_call() {
    let upstream = connected(scripted(&[])).await;
    let message = json!({"role": "assistant", "content": {"type": "text", "text": "hi"}, "model": "m"});
    let cases = [
        ("sample", "sampling/createMessage", message),
        ("elicit", "elicitation/create", json!({"action": "accept", "content": {"name": "Ada"}})),
        ("roots", "roots/list", json!({"roots": [{"uri": "file:///tmp"}]})),
    ];
    for (name, method, response) in cases {
        let client = Arc::new(TestClient { response: response.clone(), ..TestClient::default() });
        let output = call_with(&upstream, name, &client.context()).await.unwrap();
        assert_eq!(client.input_requests.lock().unwrap()[0][0], method);
        let got = data(&output);
        for (key, value) in response.as_object().unwrap() {
            assert_eq!(&got[key], value, "{name}: {got}");
        }
    }
    upstream.shut_down().await;
}

#[tokio::test]
async fn prx_1_5_an_input_request_that_no_client_can_serve_is_rejected_with_the_reason() {
    let upstream = connected(scripted(&[])).await;
    let unsupported = text(&call(&upstream, "elicit").await.unwrap()).to_owned();
    assert_eq!(unsupported, r#""elicitation/create was rejected: the client does not support elicitation""#);
    let rejecting = Arc::new(TestClient::default());
    let rejected = call_with(&upstream, "elicit", &rejecting.context()).await.unwrap();
    assert!(text(&rejected).contains("the request to the client failed: no"), "{rejected:?}");
    // Over one pipe there is no telling which of two calls a request belongs to.
    let other = Arc::new(TestClient::default());
    let (slow, cx) = (tool(&upstream, "slow"), other.context());
    let running = tokio::spawn(async move { slow.call(JsonObject::new(), &cx).await });
    other.event_recorded.notified().await;
    let client = Arc::new(TestClient { response: json!({"action": "accept"}), ..TestClient::default() });
    let several = call_with(&upstream, "elicit", &client.context()).await.unwrap();
    assert!(text(&several).contains("several calls are in flight"), "{several:?}");
    assert!(
        client.input_requests.lock().unwrap().is_empty() && other.input_requests.lock().unwrap().is_empty()
    );
    running.abort();
    upstream.shut_down().await;
}

#[tokio::test]
async fn prx_1_5_a_client_with_a_session_responds_to_rounds_of_a_stateless_upstream() {
    let upstream = connected(scripted(&["stateless"])).await;
    let client = Arc::new(TestClient { response: json!({"action": "accept"}), ..TestClient::default() });
    let output = call_with(&upstream, "rounds", &client.context()).await.unwrap();
    assert_eq!(data(&output), json!({"q": {"action": "accept"}}));
    let requests = std::mem::take(&mut *client.input_requests.lock().unwrap());
    let messages: Vec<_> = requests.iter().map(|request| request[1]["message"].as_str().unwrap()).collect();
    assert_eq!(messages, ["Name?", "Age?"]);
    upstream.shut_down().await;
}

#[tokio::test]
async fn prx_1_5_rounds_pass_through_to_a_stateless_client() {
    let upstream = connected(scripted(&["stateless"])).await;
    let client = Arc::new(TestClient { is_stateless: true, ..TestClient::default() });
    let mut input = InputState::default();
    for (round, expected) in ["Name?", "Age?"].into_iter().enumerate() {
        let error =
            call_with(&upstream, "rounds", &client.context().with_input(input.clone())).await.unwrap_err();
        let ToolError::InputRequired(required) = error else { panic!("{error}") };
        let (key, request) = required.requests.iter().next().unwrap();
        assert_eq!(request.params["message"], expected);
        assert_eq!(key, ["q", "q~2"][round], "the upstream's own key, unless it is taken");
        // Like a client that sends all earlier responses again.
        input.responses.insert(key.clone(), json!({"round": round}));
        input.state = required.state;
    }
    let output = call_with(&upstream, "rounds", &client.context().with_input(input)).await.unwrap();
    assert_eq!(data(&output), json!({"q": {"round": 1}}));
    upstream.shut_down().await;
}

#[tokio::test]
async fn prx_1_5_a_response_that_a_client_sends_in_advance_is_used_once() {
    let upstream = connected(scripted(&["stateless"])).await;
    let client = Arc::new(TestClient { is_stateless: true, ..TestClient::default() });
    let answers = [("q".to_owned(), json!({"action": "accept"})), ("other".to_owned(), json!(1))].into();
    let cx = client.context().with_input(InputState { responses: answers, ..InputState::default() });
    let error = call_with(&upstream, "rounds", &cx).await.unwrap_err();
    let ToolError::InputRequired(required) = error else { panic!("{error}") };
    let (key, request) = required.requests.iter().next().unwrap();
    assert_eq!((key.as_str(), &request.params["message"]), ("q~2", &json!("Age?")));
    upstream.shut_down().await;
}

#[tokio::test]
async fn prx_1_5_an_upstream_gets_the_capabilities_of_the_client_behind_the_call() {
    let upstream = connected(scripted(&["stateless"])).await;
    let client = Arc::new(TestClient::default());
    let supported = call_with(&upstream, "capabilities", &client.context()).await.unwrap();
    assert_eq!(data(&supported), json!({"elicitation": {}, "sampling": {}, "roots": {}}));
    let without_client = call(&upstream, "capabilities").await.unwrap();
    assert_eq!(data(&without_client), json!({}), "no client is behind this call");
    let needs = JsonObject::from_iter([("b".to_owned(), json!("needs sampling"))]);
    let rejected = tool(&upstream, "capabilities").call(needs, &CallContext::detached()).await.unwrap_err();
    assert_eq!(rejected.to_string(), "the client does not support sampling");
    assert!(matches!(rejected, ToolError::Input(_)), "the client gets the protocol's own error");
    upstream.shut_down().await;
}

#[tokio::test]
async fn prx_1_5_a_stateless_client_rejects_input_requests_during_a_call() {
    let upstream = connected(scripted(&[])).await;
    let client = Arc::new(TestClient { is_stateless: true, ..TestClient::default() });
    let output = call_with(&upstream, "elicit", &client.context()).await.unwrap();
    assert!(text(&output).contains("requests during a call are not supported"), "{output:?}");
    upstream.shut_down().await;
}
