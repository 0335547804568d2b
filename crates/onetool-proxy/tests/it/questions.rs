//! Questions that an upstream asks in the middle of a call, or between its rounds.

use std::sync::Arc;

use onetool_core::{CallContext, InputState, JsonObject, ToolError};
use serde_json::json;

use crate::kit::{Host, call, call_with, connected, data, scripted, text, tool};

#[tokio::test]
async fn prx_1_5_questions_go_to_the_client_that_made_the_call() {
    let upstream = connected(scripted(&[])).await;
    let message = json!({"role": "assistant", "content": {"type": "text", "text": "hi"}, "model": "m"});
    let cases = [
        ("sample", "sampling/createMessage", message),
        ("elicit", "elicitation/create", json!({"action": "accept", "content": {"name": "Ada"}})),
        ("roots", "roots/list", json!({"roots": [{"uri": "file:///tmp"}]})),
    ];
    for (name, method, answer) in cases {
        let host = Arc::new(Host { answer: answer.clone(), ..Host::default() });
        let output = call_with(&upstream, name, &host.context()).await.unwrap();
        assert_eq!(host.asked.lock().unwrap()[0][0], method);
        let got = data(&output);
        for (key, value) in answer.as_object().unwrap() {
            assert_eq!(&got[key], value, "{name}: {got}");
        }
    }
    upstream.shut_down().await;
}

#[tokio::test]
async fn prx_1_5_a_question_that_nobody_can_answer_is_refused_by_name() {
    let upstream = connected(scripted(&[])).await;
    let unable = text(&call(&upstream, "elicit").await.unwrap()).to_owned();
    assert_eq!(unable, r#""elicitation/create is refused: the client does not support elicitation""#);
    let refusing = Arc::new(Host::default());
    let refused = call_with(&upstream, "elicit", &refusing.context()).await.unwrap();
    assert!(text(&refused).contains("the client did not answer: no"), "{refused:?}");
    // Which of the two asks cannot be told over one pipe.
    let other = Arc::new(Host::default());
    let (slow, cx) = (tool(&upstream, "slow"), other.context());
    let running = tokio::spawn(async move { slow.call(JsonObject::new(), &cx).await });
    other.news.notified().await;
    let asking = Arc::new(Host { answer: json!({"action": "accept"}), ..Host::default() });
    let several = call_with(&upstream, "elicit", &asking.context()).await.unwrap();
    assert!(text(&several).contains("several calls are under way"), "{several:?}");
    assert!(asking.asked.lock().unwrap().is_empty() && other.asked.lock().unwrap().is_empty());
    running.abort();
    upstream.shut_down().await;
}

#[tokio::test]
async fn prx_1_5_rounds_of_a_stateless_upstream_are_answered_by_a_client_that_can_be_asked() {
    let upstream = connected(scripted(&["stateless"])).await;
    let host = Arc::new(Host { answer: json!({"action": "accept"}), ..Host::default() });
    let output = call_with(&upstream, "rounds", &host.context()).await.unwrap();
    assert_eq!(data(&output), json!({"q": {"action": "accept"}}));
    let asked = std::mem::take(&mut *host.asked.lock().unwrap());
    let messages: Vec<_> = asked.iter().map(|it| it[1]["message"].as_str().unwrap()).collect();
    assert_eq!(messages, ["Name?", "Age?"]);
    upstream.shut_down().await;
}

#[tokio::test]
async fn prx_1_5_rounds_pass_through_to_a_client_that_is_stateless_itself() {
    let upstream = connected(scripted(&["stateless"])).await;
    let host = Arc::new(Host { is_stateless: true, ..Host::default() });
    let mut input = InputState::default();
    for (round, expected) in ["Name?", "Age?"].into_iter().enumerate() {
        let error =
            call_with(&upstream, "rounds", &host.context().with_input(input.clone())).await.unwrap_err();
        let ToolError::InputRequired(required) = error else { panic!("{error}") };
        let (key, request) = required.requests.iter().next().unwrap();
        assert_eq!(request.params["message"], expected);
        assert_eq!(key, ["q", "q~2"][round], "the upstream's own, unless it is taken");
        // As a client that brings all its answers along does.
        input.answers.insert(key.clone(), json!({"round": round}));
        input.state = required.state;
    }
    let output = call_with(&upstream, "rounds", &host.context().with_input(input)).await.unwrap();
    assert_eq!(data(&output), json!({"q": {"round": 1}}));
    upstream.shut_down().await;
}

#[tokio::test]
async fn prx_1_5_an_answer_that_a_client_brings_along_is_used_once() {
    let upstream = connected(scripted(&["stateless"])).await;
    let host = Arc::new(Host { is_stateless: true, ..Host::default() });
    let answers = [("q".to_owned(), json!({"action": "accept"})), ("other".to_owned(), json!(1))].into();
    let cx = host.context().with_input(InputState { answers, ..InputState::default() });
    let error = call_with(&upstream, "rounds", &cx).await.unwrap_err();
    let ToolError::InputRequired(required) = error else { panic!("{error}") };
    let (key, request) = required.requests.iter().next().unwrap();
    assert_eq!((key.as_str(), &request.params["message"]), ("q~2", &json!("Age?")));
    upstream.shut_down().await;
}

#[tokio::test]
async fn prx_1_5_an_upstream_is_told_what_the_client_behind_the_call_can_be_asked() {
    let upstream = connected(scripted(&["stateless"])).await;
    let host = Arc::new(Host::default());
    let able = call_with(&upstream, "capabilities", &host.context()).await.unwrap();
    assert_eq!(data(&able), json!({"elicitation": {}, "sampling": {}, "roots": {}}));
    let unable = call(&upstream, "capabilities").await.unwrap();
    assert_eq!(data(&unable), json!({}), "nobody is behind this call");
    let needs = JsonObject::from_iter([("b".to_owned(), json!("needs sampling"))]);
    let refused = tool(&upstream, "capabilities").call(needs, &CallContext::detached()).await.unwrap_err();
    assert_eq!(refused.to_string(), "the client does not support sampling", "what the upstream missed");
    assert!(matches!(refused, ToolError::Input(_)), "so that the client is told in the protocol's own words");
    upstream.shut_down().await;
}

#[tokio::test]
async fn prx_1_5_a_host_that_cannot_ask_in_the_middle_of_a_call_says_so() {
    let upstream = connected(scripted(&[])).await;
    let host = Arc::new(Host { is_stateless: true, ..Host::default() });
    let output = call_with(&upstream, "elicit", &host.context()).await.unwrap();
    assert!(text(&output).contains("it can only be asked between calls"), "{output:?}");
    upstream.shut_down().await;
}
