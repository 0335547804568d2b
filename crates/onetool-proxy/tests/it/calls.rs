//! Deadlines, cancellation, progress and log messages of calls, and responses that cannot be read.

use std::sync::Arc;
use std::time::{Duration, Instant};

use onetool_core::{CallContext, JsonObject};
use serde_json::{Value, json};

use crate::kit::{FOREVER, TestClient, call, call_with, connected, data, eventually, scripted, text, tool};

#[tokio::test]
async fn prx_1_5_progress_and_log_messages_arrive_in_order_before_the_response() {
    for script in [&[][..], &["stateless"]] {
        let upstream = connected(scripted(script)).await;
        let client = Arc::new(TestClient::default());
        for _ in 0..20 {
            let output = call_with(&upstream, "report", &client.context()).await.unwrap();
            assert_eq!(text(&output), "done");
            let events = std::mem::take(&mut *client.events.lock().unwrap());
            assert_eq!(
                events,
                [
                    json!(["progress", 1.0, 3.0, "one"]),
                    json!(["progress", 2.0, 3.0, "two"]),
                    json!(["progress", 3.0, 3.0, "three"]),
                    json!(["log", "Warning", "fixture", {"k": 1}]),
                ]
            );
        }
        upstream.shut_down().await;
    }
}

#[tokio::test]
async fn prx_1_5_progress_of_concurrent_calls_reaches_the_right_call() {
    let upstream = connected(scripted(&[])).await;
    let clients: Vec<Arc<TestClient>> = (0..20).map(|_| Arc::default()).collect();
    let calls = clients.iter().map(|client| {
        let (tool, cx) = (tool(&upstream, "report"), client.context());
        async move { tool.call(JsonObject::new(), &cx).await.unwrap() }
    });
    futures::future::join_all(calls).await;
    for client in clients {
        let events = client.events.lock().unwrap();
        let progress = events.iter().filter(|event| event[0] == "progress").count();
        assert_eq!(progress, 3, "{events:?}");
    }
    upstream.shut_down().await;
}

#[tokio::test]
async fn prx_1_5_a_call_that_times_out_is_canceled_upstream() {
    let directory = tempfile::tempdir().unwrap();
    let record = directory.path().join("record");
    let mut config = scripted(&[&format!("record={}", record.display())]);
    config.timeout = Duration::from_millis(100);
    let upstream = connected(config).await;
    let error = call(&upstream, "slow").await.unwrap_err().to_string();
    assert_eq!(error, "server 'up' did not respond within 0.1 s");
    // A response with an unknown id is ignored.
    let error = call(&upstream, "wrong_id").await.unwrap_err().to_string();
    assert_eq!(error, "server 'up' did not respond within 0.1 s");
    eventually("two cancellations", || {
        let received = std::fs::read_to_string(&record).unwrap();
        (received.matches("notifications/cancelled").count() == 2).then_some(())
    })
    .await;
    assert_eq!(data(&call(&upstream, "echo").await.unwrap()), json!({}));
    upstream.shut_down().await;
}

#[tokio::test]
async fn prx_1_5_the_callers_deadline_applies_if_it_is_earlier() {
    let upstream = connected(scripted(&[])).await;
    let cx = CallContext::detached().with_deadline(Instant::now() + Duration::from_millis(50));
    let error = call_with(&upstream, "slow", &cx).await.unwrap_err().to_string();
    assert_eq!(error, "server 'up' did not respond before the call's deadline");
    upstream.shut_down().await;
}

#[tokio::test]
async fn prx_1_5_canceling_or_dropping_a_call_cancels_it_upstream() {
    let directory = tempfile::tempdir().unwrap();
    let record = directory.path().join("record");
    let upstream = connected(scripted(&[&format!("record={}", record.display())])).await;
    let canceled = |count: usize| {
        let record = record.clone();
        eventually("a cancellation", move || {
            let received = std::fs::read_to_string(&record).unwrap();
            (received.matches("notifications/cancelled").count() == count).then_some(())
        })
    };
    let client = Arc::new(TestClient::default());
    let (slow, cx) = (tool(&upstream, "slow"), client.context());
    let running = tokio::spawn(async move { slow.call(JsonObject::new(), &cx).await });
    client.event_recorded.notified().await;
    client.cancel.cancel();
    let error = running.await.unwrap().unwrap_err().to_string();
    assert_eq!(error, "server 'up' did not finish: the call was canceled");
    canceled(1).await;
    let client = Arc::new(TestClient::default());
    let (slow, cx) = (tool(&upstream, "slow"), client.context());
    let running = tokio::spawn(async move { slow.call(JsonObject::new(), &cx).await });
    client.event_recorded.notified().await;
    running.abort();
    canceled(2).await;
    upstream.shut_down().await;
}

#[tokio::test]
async fn o6_a_message_that_is_too_long_fails_only_its_call() {
    let mut config = scripted(&[]);
    config.limits.message = 100_000;
    let upstream = connected(config).await;
    let client = Arc::new(TestClient::default());
    let (slow, cx) = (tool(&upstream, "slow"), client.context());
    let other = tokio::spawn(async move { slow.call(JsonObject::new(), &cx).await });
    client.event_recorded.notified().await;
    let error = call(&upstream, "huge").await.unwrap_err().to_string();
    assert!(error.contains("the server sent a message longer than 100000 bytes"), "{error}");
    assert!(!other.is_finished());
    other.abort();
    assert!(call(&upstream, "echo").await.is_ok());
    upstream.shut_down().await;
}

#[tokio::test]
async fn l5_a_response_that_cannot_be_decoded_fails_only_its_call_immediately() {
    let too_deep =
        "server 'up' sent a response that is nested too deeply: more than 128 levels (error -32603)";
    let unreadable = "server 'up' sent a response that cannot be read: ";
    for (how, expected) in [
        ("deep", too_deep),
        ("deep-id-last", too_deep),
        ("odd-error", unreadable),
        ("lone-surrogate", unreadable),
        (
            "heavy",
            "server 'up' sent a response that cannot be read: it would take more than 128 MiB of memory",
        ),
    ] {
        let mut config = scripted(&[&format!("garble={how}")]);
        // A call that waits for its timeout fails the test.
        config.timeout = FOREVER;
        let upstream = connected(config).await;
        let client = Arc::new(TestClient::default());
        let (slow, cx) = (tool(&upstream, "slow"), client.context());
        let other = tokio::spawn(async move { slow.call(JsonObject::new(), &cx).await });
        client.event_recorded.notified().await;
        let error = call(&upstream, "huge").await.unwrap_err().to_string();
        assert!(error.starts_with(expected), "{how}: {error}");
        assert!(!other.is_finished());
        other.abort();
        assert!(call(&upstream, "echo").await.is_ok());
        upstream.shut_down().await;
    }
}

#[tokio::test]
async fn seam_9_only_required_properties_with_a_default_are_filled_in() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("schema.json");
    let schema = json!({
        "type": "object",
        "properties": {
            "kept": {"type": "string", "default": "all"},
            "asked": {"type": "string"},
            "free": {"type": "integer", "default": 5},
        },
        "required": ["kept", "asked"],
    });
    std::fs::write(&path, schema.to_string()).unwrap();
    let upstream = connected(scripted(&[&format!("schema={}", path.display())])).await;
    let echo = tool(&upstream, "echo");
    assert_eq!(echo.spec().input_schema["required"], json!(["asked"]));
    let cx = CallContext::detached();
    for (args, sent) in [
        (json!({"asked": "x"}), json!({"asked": "x", "kept": "all"})),
        (json!({"asked": "x", "kept": "none"}), json!({"asked": "x", "kept": "none"})),
    ] {
        let Value::Object(args) = args else { panic!("an object") };
        let output = echo.call(args, &cx).await.unwrap();
        assert_eq!(data(&output), sent);
    }
    upstream.shut_down().await;
}
