//! Upstreams that are missing, hang, print garbage or crash.

use std::sync::Arc;
use std::time::Duration;

use onetool_core::JsonObject;
use onetool_proxy::{ChildContext, State, Transport, Upstream};
use rustix::process::{Pid, Signal, kill_process};

use crate::kit::{
    FOREVER, Memory, TestClient, advance_time, call, connected, guarded, read_pid, scripted, text, tool,
    unguarded, wait_for_failure, wait_for_snapshot, wait_for_state, without_retries,
};

#[tokio::test]
async fn r1_a_missing_program_is_reported_immediately_with_a_fix() {
    for context in [guarded(), unguarded()] {
        let mut config = scripted(&[]);
        let Transport::Stdio { command, .. } = &mut config.transport else { unreachable!() };
        "no-such-program-here".clone_into(command);
        let upstream = Upstream::start(config, context);
        let reason = wait_for_failure(&upstream).await;
        assert_eq!(
            reason,
            "'no-such-program-here' was not found in PATH; install it, or use its full path in `command`"
        );
        upstream.shut_down().await;
    }
}

#[tokio::test]
async fn r1_a_server_that_hangs_on_initialize_does_not_hold_up_the_start() {
    let mut config = scripted(&["silent", "say=warming up"]);
    config.connect_timeout = Duration::from_millis(200);
    let upstream = Upstream::start(config, guarded());
    let other = connected(scripted(&[])).await;
    let state = wait_for_state(&upstream, |state| state.reason().is_some()).await;
    let reason = state.reason().unwrap();
    assert!(reason.contains("no response to `initialize` within 0.2 s"), "{reason}");
    assert!(reason.contains("last lines on standard error: warming up"), "{reason}");
    assert!(call(&other, "echo").await.is_ok());
    upstream.shut_down().await;
    other.shut_down().await;
}

#[tokio::test]
async fn r1_a_program_that_prints_only_garbage_is_reported() {
    let upstream = Upstream::start(scripted(&["garbage"]), guarded());
    let state = wait_for_state(&upstream, |state| matches!(state, State::BackingOff { .. })).await;
    let reason = state.reason().unwrap();
    assert!(
        reason.starts_with("its standard output is not MCP; it begins with 'this is not JSON'"),
        "{reason}"
    );
    upstream.shut_down().await;
}

#[tokio::test]
async fn r2_a_crash_loop_ends_in_a_named_state_and_reconnect_retries() {
    let directory = tempfile::tempdir().unwrap();
    let fixed = directory.path().join("fixed");
    let script = [format!("crash-unless={}", fixed.display()), "say=cannot open the database".to_owned()];
    let upstream = Upstream::start(scripted(&script.each_ref().map(String::as_str)), guarded());
    let reason = wait_for_failure(&upstream).await;
    assert!(reason.starts_with("it failed 4 times within 120 s, giving up: "), "{reason}");
    assert!(reason.contains("the program exited with code 3"), "{reason}");
    assert!(reason.contains("last lines on standard error: cannot open the database"), "{reason}");
    assert_eq!(upstream.snapshot().state.to_string(), format!("failed: {reason}"));
    std::fs::write(fixed, "").unwrap();
    upstream.reconnect();
    wait_for_state(&upstream, State::is_connected).await;
    assert!(call(&upstream, "echo").await.is_ok());
    upstream.shut_down().await;
}

#[tokio::test]
async fn seam_12_a_call_retries_a_failed_server_but_not_too_often() {
    let directory = tempfile::tempdir().unwrap();
    let (fixed, pid) = (directory.path().join("fixed"), directory.path().join("pid"));
    std::fs::write(&fixed, "").unwrap();
    let script = [format!("crash-unless={}", fixed.display()), format!("pid={}", pid.display())];
    let mut config = scripted(&script.each_ref().map(String::as_str));
    config.timing.retry_pause = Duration::ZERO;
    let upstream = connected(config.clone()).await;
    std::fs::remove_file(&fixed).unwrap();
    kill_process(Pid::from_raw(read_pid(&pid).await).unwrap(), Signal::KILL).unwrap();
    wait_for_failure(&upstream).await;
    assert!(!upstream.snapshot().tools.is_empty(), "the tools stay listed");
    let error = call(&upstream, "echo").await.unwrap_err().to_string();
    assert!(error.contains("exited with code 3"), "{error}");
    std::fs::write(&fixed, "").unwrap();
    assert!(call(&upstream, "echo").await.is_ok(), "one call is enough");
    upstream.shut_down().await;

    config.timing.retry_pause = FOREVER;
    let upstream = connected(config).await;
    std::fs::remove_file(&fixed).unwrap();
    kill_process(Pid::from_raw(read_pid(&pid).await).unwrap(), Signal::KILL).unwrap();
    wait_for_failure(&upstream).await;
    std::fs::write(&fixed, "").unwrap();
    let error = call(&upstream, "echo").await.unwrap_err().to_string();
    assert!(error.contains("it failed 4 times") && error.contains("call again in 36"), "{error}");
    upstream.shut_down().await;
}

#[tokio::test]
async fn seam_8_a_server_that_fails_on_discover_is_restarted_immediately_and_that_is_remembered() {
    let directory = tempfile::tempdir().unwrap();
    let memory = Arc::new(Memory::default());
    let context = ChildContext { memory: Some(memory.clone()), ..guarded() };
    let sent = |name: &str| {
        let text = std::fs::read_to_string(directory.path().join(name)).unwrap();
        let method = |line: &str| serde_json::from_str::<serde_json::Value>(line).unwrap()["method"].clone();
        text.lines().map(method).filter(|it| it != "notifications/initialized").collect::<Vec<_>>()
    };
    let config = |word: &str, record: &str| {
        let record = format!("record={}", directory.path().join(record).display());
        without_retries(scripted(&[word, &record]))
    };
    for (word, record) in [("hang-on-discover", "hangs"), ("exit-on-discover", "first")] {
        *memory.0.lock().unwrap() = None;
        let upstream = Upstream::start(config(word, record), context.clone());
        let mut states = upstream.watch();
        states.wait_for(|it| it.state != State::Connecting).await.unwrap();
        assert!(upstream.snapshot().state.is_connected(), "{:?}", upstream.snapshot());
        upstream.shut_down().await;
        assert_eq!(sent(record)[..2], ["server/discover", "initialize"]);
        assert_eq!(memory.0.lock().unwrap().as_deref(), Some("1.2.3"));
    }

    let upstream = Upstream::start(config("exit-on-discover", "second"), context.clone());
    wait_for_state(&upstream, State::is_connected).await;
    upstream.shut_down().await;
    assert_eq!(sent("second")[0], "initialize");

    // Another version may support a newer revision.
    *memory.0.lock().unwrap() = Some("1.2.2".to_owned());
    let upstream = Upstream::start(config("exit-on-discover", "third"), context);
    wait_for_state(&upstream, State::is_connected).await;
    upstream.shut_down().await;
    assert_eq!(sent("third")[0], "initialize");
    assert_eq!(*memory.0.lock().unwrap(), None);
}

#[tokio::test]
async fn r2_a_child_killed_during_a_call_fails_it_with_the_reason_and_can_be_restarted() {
    for context in [guarded(), unguarded()] {
        let directory = tempfile::tempdir().unwrap();
        let pid = directory.path().join("pid");
        let config = without_retries(scripted(&[&format!("pid={}", pid.display())]));
        let upstream = Upstream::start(config, context);
        wait_for_state(&upstream, State::is_connected).await;
        let client = Arc::new(TestClient::default());
        let (slow, cx) = (tool(&upstream, "slow"), client.context());
        let running = tokio::spawn(async move { slow.call(JsonObject::new(), &cx).await });
        client.event_recorded.notified().await;
        let killed = read_pid(&pid).await;
        kill_process(Pid::from_raw(killed).unwrap(), Signal::KILL).unwrap();
        let error = running.await.unwrap().unwrap_err().to_string();
        assert_eq!(
            error,
            "server 'up' disconnected during the call: the connection was closed; the program was terminated by signal 9"
        );
        let lost = wait_for_snapshot(&upstream, |it| matches!(it.state, State::BackingOff { .. })).await;
        assert!(!lost.tools.is_empty(), "the tools stay listed while the server is down");
        upstream.reconnect();
        wait_for_snapshot(&upstream, |snapshot| snapshot.state.is_connected()).await;
        assert!(call(&upstream, "echo").await.is_ok());
        assert_ne!(read_pid(&pid).await, killed);
        upstream.shut_down().await;
    }
}

#[tokio::test]
async fn r2_a_lost_child_is_restarted_automatically_and_its_tools_reappear() {
    let upstream = connected(scripted(&["calls=2"])).await;
    let old = tool(&upstream, "echo");
    call(&upstream, "echo").await.unwrap();
    call(&upstream, "echo").await.unwrap_err();
    let again =
        wait_for_snapshot(&upstream, |it| it.state.is_connected() && !Arc::ptr_eq(&it.tools[0], &old)).await;
    assert_eq!(again.tools[0].spec(), old.spec());
    assert!(
        old.call(JsonObject::new(), &Arc::new(TestClient::default()).context()).await.is_ok(),
        "the old tool works too"
    );
    upstream.shut_down().await;
}

#[tokio::test]
async fn r2_a_server_that_exits_during_a_call_is_reported_with_its_last_lines() {
    let upstream = connected(scripted(&[])).await;
    let error = call(&upstream, "crash").await.unwrap_err().to_string();
    assert_eq!(
        error,
        "server 'up' disconnected during the call: the connection was closed; the program exited with code 3; \
         last lines on standard error: the sky is falling"
    );
    upstream.shut_down().await;
}

#[tokio::test]
async fn r2_a_response_written_before_the_server_exits_still_arrives() {
    for context in [guarded(), unguarded()] {
        let mut config = scripted(&[]);
        config.timing.crash_limit = usize::MAX;
        let upstream = Upstream::start(config, context);
        wait_for_state(&upstream, State::is_connected).await;
        for _ in 0..10 {
            let old = tool(&upstream, "last");
            assert_eq!(text(&call(&upstream, "last").await.unwrap()).len(), 100_000);
            wait_for_snapshot(&upstream, |it| {
                it.state.is_connected() && !it.tools.iter().any(|it| Arc::ptr_eq(it, &old))
            })
            .await;
        }
        upstream.shut_down().await;
    }
}

#[tokio::test]
async fn r2_while_a_server_is_down_calls_fail_immediately_with_the_reason() {
    let upstream = connected(without_retries(scripted(&["calls=1"]))).await;
    let echo = tool(&upstream, "echo");
    call(&upstream, "echo").await.unwrap_err();
    wait_for_state(&upstream, |state| matches!(state, State::BackingOff { attempt: 1, .. })).await;
    let error = echo
        .call(JsonObject::new(), &Arc::new(TestClient::default()).context())
        .await
        .unwrap_err()
        .to_string();
    assert!(
        error.starts_with("server 'up' is not connected: ") && error.contains("exited with code 5"),
        "{error}"
    );
    upstream.reconnect();
    wait_for_state(&upstream, State::is_connected).await;
    upstream.shut_down().await;
    let error = echo
        .call(JsonObject::new(), &Arc::new(TestClient::default()).context())
        .await
        .unwrap_err()
        .to_string();
    assert_eq!(error, "server 'up' is not connected: it was shut down");
}

/// Calls a tool that never responds, and advances the clock past the timeout once the call has arrived.
async fn call_until_timeout(upstream: &Upstream) -> String {
    let client = Arc::new(TestClient::default());
    let (slow, cx) = (tool(upstream, "slow"), client.context());
    let running = tokio::spawn(async move { slow.call(JsonObject::new(), &cx).await });
    client.event_recorded.notified().await;
    advance_time(FOREVER).await;
    running.await.unwrap().unwrap_err().to_string()
}

#[tokio::test]
async fn r5_the_breaker_opens_after_timeouts_and_closes_after_one_call_that_works() {
    let mut config = scripted(&[]);
    config.timeout = FOREVER;
    config.timing.breaker_failures = 2;
    config.timing.breaker_pause = FOREVER;
    let upstream = connected(config).await;
    for _ in 0..2 {
        assert_eq!(call_until_timeout(&upstream).await, "server 'up' did not respond within 3600 s");
    }
    let error = call(&upstream, "echo").await.unwrap_err().to_string();
    let expected = "server 'up' is unavailable: the last 2 calls failed, most recently because it did not respond \
                    within 3600 s; next attempt in ";
    assert!(error.starts_with(expected), "{error}");
    advance_time(FOREVER).await;
    assert_eq!(text(&call(&upstream, "echo").await.unwrap()), "{}");
    // An error of a tool is not a failure of its server.
    for _ in 0..5 {
        assert!(call(&upstream, "fail").await.unwrap().is_error);
        call(&upstream, "reject").await.unwrap_err();
    }
    assert!(call(&upstream, "echo").await.is_ok());
    upstream.shut_down().await;
}
