//! Deadline, cancellation, progress and messages of a call.

use std::sync::Arc;
use std::time::{Duration, Instant};

use onetool_core::{CallContext, JsonObject};
use serde_json::{Value, json};

use crate::kit::{Host, call, call_with, connected, data, eventually, scripted, text, tool};

#[tokio::test]
async fn prx_1_5_progress_comes_in_order_grows_and_precedes_the_answer_with_the_log() {
    for script in [&[][..], &["stateless"]] {
        let upstream = connected(scripted(script)).await;
        let host = Arc::new(Host::default());
        for _ in 0..20 {
            let output = call_with(&upstream, "report", &host.context()).await.unwrap();
            assert_eq!(text(&output), "done");
            let heard = std::mem::take(&mut *host.heard.lock().unwrap());
            assert_eq!(
                heard,
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
async fn prx_1_5_progress_of_calls_at_the_same_time_goes_to_each_its_own() {
    let upstream = connected(scripted(&[])).await;
    let hosts: Vec<Arc<Host>> = (0..20).map(|_| Arc::default()).collect();
    let calls = hosts.iter().map(|host| {
        let (tool, cx) = (tool(&upstream, "report"), host.context());
        async move { tool.call(JsonObject::new(), &cx).await.unwrap() }
    });
    futures::future::join_all(calls).await;
    for host in hosts {
        let heard = host.heard.lock().unwrap();
        let progress = heard.iter().filter(|it| it[0] == "progress").count();
        assert_eq!(progress, 3, "{heard:?}");
    }
    upstream.shut_down().await;
}

#[tokio::test]
async fn prx_1_5_a_call_ends_at_its_own_limit_and_the_upstream_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let record = folder.path().join("record");
    let mut config = scripted(&[&format!("record={}", record.display())]);
    config.timeout = Duration::from_millis(100);
    let upstream = connected(config).await;
    let error = call(&upstream, "slow").await.unwrap_err().to_string();
    assert_eq!(error, "server 'up' did not answer within 0.1 s");
    // An answer with an id that nobody knows is no answer.
    let error = call(&upstream, "wrong_id").await.unwrap_err().to_string();
    assert_eq!(error, "server 'up' did not answer within 0.1 s");
    eventually("two cancellations", || {
        let received = std::fs::read_to_string(&record).unwrap();
        (received.matches("notifications/cancelled").count() == 2).then_some(())
    })
    .await;
    assert_eq!(data(&call(&upstream, "echo").await.unwrap()), json!({}));
    upstream.shut_down().await;
}

#[tokio::test]
async fn prx_1_5_a_deadline_of_the_caller_counts_when_it_is_earlier() {
    let upstream = connected(scripted(&[])).await;
    let cx = CallContext::detached().with_deadline(Instant::now() + Duration::from_millis(50));
    let error = call_with(&upstream, "slow", &cx).await.unwrap_err().to_string();
    assert_eq!(error, "server 'up' did not answer before the deadline of the call");
    upstream.shut_down().await;
}

#[tokio::test]
async fn prx_1_5_cancelling_or_dropping_a_call_reaches_the_upstream() {
    let folder = tempfile::tempdir().unwrap();
    let record = folder.path().join("record");
    let upstream = connected(scripted(&[&format!("record={}", record.display())])).await;
    let cancelled = |count: usize| {
        let record = record.clone();
        eventually("a cancellation", move || {
            let received = std::fs::read_to_string(&record).unwrap();
            (received.matches("notifications/cancelled").count() == count).then_some(())
        })
    };
    let host = Arc::new(Host::default());
    let (slow, cx) = (tool(&upstream, "slow"), host.context());
    let running = tokio::spawn(async move { slow.call(JsonObject::new(), &cx).await });
    host.news.notified().await;
    host.cancel.cancel();
    let error = running.await.unwrap().unwrap_err().to_string();
    assert_eq!(error, "server 'up' was not waited for: the call was cancelled");
    cancelled(1).await;
    let host = Arc::new(Host::default());
    let (slow, cx) = (tool(&upstream, "slow"), host.context());
    let running = tokio::spawn(async move { slow.call(JsonObject::new(), &cx).await });
    host.news.notified().await;
    running.abort();
    cancelled(2).await;
    upstream.shut_down().await;
}

#[tokio::test]
async fn o6_a_message_that_is_too_long_fails_by_name_and_only_its_call() {
    let mut config = scripted(&[]);
    config.limits.message = 100_000;
    let upstream = connected(config).await;
    let host = Arc::new(Host::default());
    let (slow, cx) = (tool(&upstream, "slow"), host.context());
    let other = tokio::spawn(async move { slow.call(JsonObject::new(), &cx).await });
    host.news.notified().await;
    let error = call(&upstream, "huge").await.unwrap_err().to_string();
    assert!(error.contains("the server sent a message longer than 100000 bytes"), "{error}");
    assert!(!other.is_finished());
    other.abort();
    assert!(call(&upstream, "echo").await.is_ok());
    upstream.shut_down().await;
}

#[tokio::test]
async fn l5_a_response_that_cannot_be_decoded_fails_its_call_at_once_and_only_that() {
    let too_deep = "server 'up' sent a response that nests too deep: more than 128 levels (error -32603)";
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
        // Longer than the test may take: a call that waits for its deadline fails the test.
        config.timeout = Duration::from_hours(1);
        let upstream = connected(config).await;
        let host = Arc::new(Host::default());
        let (slow, cx) = (tool(&upstream, "slow"), host.context());
        let other = tokio::spawn(async move { slow.call(JsonObject::new(), &cx).await });
        host.news.notified().await;
        let error = call(&upstream, "huge").await.unwrap_err().to_string();
        assert!(error.starts_with(expected), "{how}: {error}");
        assert!(!other.is_finished());
        other.abort();
        assert!(call(&upstream, "echo").await.is_ok());
        upstream.shut_down().await;
    }
}

#[tokio::test]
async fn seam_9_what_is_required_and_has_a_default_is_filled_in_and_nothing_else() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("schema.json");
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
