//! Upstreams that are missing, hang, talk nonsense or die.

use std::sync::Arc;
use std::time::Duration;

use onetool_core::JsonObject;
use onetool_proxy::{State, Surroundings, Transport, Upstream};
use rustix::process::{Pid, Signal, kill_process};

use crate::kit::{
    Host, Memory, call, connected, failed, guarded, pid_in, scripted, snapshot, state, text, tool, unguarded,
};

#[tokio::test]
async fn r1_a_missing_program_is_named_at_once_with_what_to_do() {
    for surroundings in [guarded(), unguarded()] {
        let mut config = scripted(&[]);
        let Transport::Stdio { command, .. } = &mut config.transport else { unreachable!() };
        "no-such-program-here".clone_into(command);
        let upstream = Upstream::start(config, surroundings);
        let reason = failed(&upstream).await;
        assert_eq!(
            reason,
            "'no-such-program-here' is not in PATH; install it, or give the whole path in `command`"
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
    let state = state(&upstream, |it| it.reason().is_some()).await;
    let reason = state.reason().unwrap();
    assert!(reason.contains("it did not answer `initialize` within 0.2 s"), "{reason}");
    assert!(reason.contains("last on its standard error: warming up"), "{reason}");
    assert!(call(&other, "echo").await.is_ok());
    upstream.shut_down().await;
    other.shut_down().await;
}

#[tokio::test]
async fn r1_nothing_but_garbage_ends_in_a_named_reason() {
    let upstream = Upstream::start(scripted(&["garbage"]), guarded());
    let state = state(&upstream, |it| matches!(it, State::BackingOff { .. })).await;
    let reason = state.reason().unwrap();
    assert!(
        reason.starts_with("its standard output is no MCP, it begins with 'this is not JSON'"),
        "{reason}"
    );
    upstream.shut_down().await;
}

#[tokio::test]
async fn r2_a_crash_loop_ends_in_a_named_state_and_reconnect_tries_again() {
    let folder = tempfile::tempdir().unwrap();
    let mended = folder.path().join("mended");
    let script = [format!("crash-unless={}", mended.display()), "say=cannot open the database".to_owned()];
    let upstream = Upstream::start(scripted(&script.each_ref().map(String::as_str)), guarded());
    let reason = failed(&upstream).await;
    assert!(reason.starts_with("it failed 4 times within 120 s and is not started again: "), "{reason}");
    assert!(reason.contains("the program ended with exit code 3"), "{reason}");
    assert!(reason.contains("last on its standard error: cannot open the database"), "{reason}");
    assert_eq!(upstream.snapshot().state.to_string(), format!("failed: {reason}"));
    std::fs::write(mended, "").unwrap();
    upstream.reconnect();
    state(&upstream, State::is_connected).await;
    assert!(call(&upstream, "echo").await.is_ok());
    upstream.shut_down().await;
}

#[tokio::test]
async fn seam_12_a_server_that_was_given_up_is_tried_again_by_a_call_and_not_too_often() {
    let folder = tempfile::tempdir().unwrap();
    let (mended, pid) = (folder.path().join("mended"), folder.path().join("pid"));
    std::fs::write(&mended, "").unwrap();
    let script = [format!("crash-unless={}", mended.display()), format!("pid={}", pid.display())];
    let mut config = scripted(&script.each_ref().map(String::as_str));
    config.timing.retry_pause = Duration::ZERO;
    let upstream = connected(config.clone()).await;
    std::fs::remove_file(&mended).unwrap();
    kill_process(Pid::from_raw(pid_in(&pid).await).unwrap(), Signal::KILL).unwrap();
    failed(&upstream).await;
    assert!(!upstream.snapshot().tools.is_empty(), "what can be called stays known");
    let error = call(&upstream, "echo").await.unwrap_err().to_string();
    assert!(error.contains("ended with exit code 3"), "{error}");
    std::fs::write(&mended, "").unwrap();
    assert!(call(&upstream, "echo").await.is_ok(), "one call is enough");
    upstream.shut_down().await;

    config.timing.retry_pause = Duration::from_mins(10);
    let upstream = connected(config).await;
    std::fs::remove_file(&mended).unwrap();
    kill_process(Pid::from_raw(pid_in(&pid).await).unwrap(), Signal::KILL).unwrap();
    failed(&upstream).await;
    std::fs::write(&mended, "").unwrap();
    let error = call(&upstream, "echo").await.unwrap_err().to_string();
    assert!(error.contains("it failed 4 times") && error.contains("a call in 6"), "{error}");
    upstream.shut_down().await;
}

#[tokio::test]
async fn seam_8_a_server_that_fails_when_asked_is_started_again_immediately_and_that_is_remembered() {
    let folder = tempfile::tempdir().unwrap();
    let memory = Arc::new(Memory::default());
    let surroundings = Surroundings { memory: Some(memory.clone()), ..guarded() };
    let sent = |name: &str| {
        let text = std::fs::read_to_string(folder.path().join(name)).unwrap();
        let method = |line: &str| serde_json::from_str::<serde_json::Value>(line).unwrap()["method"].clone();
        text.lines().map(method).filter(|it| it != "notifications/initialized").collect::<Vec<_>>()
    };
    let config = |word: &str, record: &str| {
        let record = format!("record={}", folder.path().join(record).display());
        let mut config = scripted(&[word, &record]);
        // No pause comes to an end within the test.
        config.timing.backoff_first = Duration::from_mins(10);
        config.timing.backoff_max = Duration::from_mins(10);
        config
    };
    for (word, record) in [("choke-on-the-unknown", "hangs"), ("die-of-the-unknown", "first")] {
        *memory.0.lock().unwrap() = None;
        let upstream = Upstream::start(config(word, record), surroundings.clone());
        let mut states = upstream.watch();
        states.wait_for(|it| it.state != State::Connecting).await.unwrap();
        assert!(upstream.snapshot().state.is_connected(), "{:?}", upstream.snapshot());
        upstream.shut_down().await;
        assert_eq!(sent(record)[..2], ["server/discover", "initialize"]);
        assert_eq!(memory.0.lock().unwrap().as_deref(), Some("1.2.3"));
    }

    let upstream = Upstream::start(config("die-of-the-unknown", "second"), surroundings.clone());
    state(&upstream, State::is_connected).await;
    upstream.shut_down().await;
    assert_eq!(sent("second")[0], "initialize");

    // Another version may speak a newer revision.
    *memory.0.lock().unwrap() = Some("1.2.2".to_owned());
    let upstream = Upstream::start(config("die-of-the-unknown", "third"), surroundings);
    state(&upstream, State::is_connected).await;
    upstream.shut_down().await;
    assert_eq!(sent("third")[0], "initialize");
    assert_eq!(*memory.0.lock().unwrap(), None);
}

#[tokio::test]
async fn r2_a_child_killed_in_the_middle_of_a_call_fails_it_with_a_reason_and_comes_back() {
    for surroundings in [guarded(), unguarded()] {
        let folder = tempfile::tempdir().unwrap();
        let pid = folder.path().join("pid");
        let mut config = scripted(&[&format!("pid={}", pid.display())]);
        // Long enough to be seen; the test itself ends it.
        config.timing.backoff_first = Duration::from_mins(10);
        config.timing.backoff_max = Duration::from_mins(10);
        let upstream = Upstream::start(config, surroundings);
        state(&upstream, State::is_connected).await;
        let host = Arc::new(Host::default());
        let (slow, cx) = (tool(&upstream, "slow"), host.context());
        let running = tokio::spawn(async move { slow.call(JsonObject::new(), &cx).await });
        host.news.notified().await;
        let killed = pid_in(&pid).await;
        kill_process(Pid::from_raw(killed).unwrap(), Signal::KILL).unwrap();
        let error = running.await.unwrap().unwrap_err().to_string();
        assert_eq!(
            error,
            "server 'up' was lost during the call: the connection was closed; the program was ended by signal 9"
        );
        let lost = snapshot(&upstream, |it| matches!(it.state, State::BackingOff { .. })).await;
        assert!(!lost.tools.is_empty(), "the tools stay known while the server is to be started again");
        upstream.reconnect();
        snapshot(&upstream, |it| it.state.is_connected()).await;
        assert!(call(&upstream, "echo").await.is_ok());
        assert_ne!(pid_in(&pid).await, killed);
        upstream.shut_down().await;
    }
}

#[tokio::test]
async fn r2_a_lost_child_is_started_again_by_itself_and_its_tools_reappear() {
    let upstream = connected(scripted(&["calls=2"])).await;
    let old = tool(&upstream, "echo");
    call(&upstream, "echo").await.unwrap();
    call(&upstream, "echo").await.unwrap_err();
    let again = snapshot(&upstream, |it| it.state.is_connected() && !Arc::ptr_eq(&it.tools[0], &old)).await;
    assert_eq!(again.tools[0].spec(), old.spec());
    assert!(
        old.call(JsonObject::new(), &Arc::new(Host::default()).context()).await.is_ok(),
        "the old one works too"
    );
    upstream.shut_down().await;
}

#[tokio::test]
async fn r2_a_server_that_ends_during_a_call_says_its_last_words() {
    let upstream = connected(scripted(&[])).await;
    let error = call(&upstream, "crash").await.unwrap_err().to_string();
    assert_eq!(
        error,
        "server 'up' was lost during the call: the connection was closed; the program ended with exit code 3; \
         last on its standard error: the sky is falling"
    );
    upstream.shut_down().await;
}

#[tokio::test]
async fn r2_an_answer_that_was_written_before_the_end_still_arrives() {
    for surroundings in [guarded(), unguarded()] {
        let mut config = scripted(&[]);
        config.timing.crash_limit = usize::MAX;
        let upstream = Upstream::start(config, surroundings);
        state(&upstream, State::is_connected).await;
        for _ in 0..10 {
            let old = tool(&upstream, "last");
            assert_eq!(text(&call(&upstream, "last").await.unwrap()).len(), 100_000);
            snapshot(&upstream, |it| {
                it.state.is_connected() && !it.tools.iter().any(|it| Arc::ptr_eq(it, &old))
            })
            .await;
        }
        upstream.shut_down().await;
    }
}

#[tokio::test]
async fn r2_while_it_is_away_calls_fail_at_once_with_the_reason() {
    let mut config = scripted(&["calls=1"]);
    config.timing.backoff_first = Duration::from_mins(10);
    config.timing.backoff_max = Duration::from_mins(10);
    let upstream = connected(config).await;
    let echo = tool(&upstream, "echo");
    call(&upstream, "echo").await.unwrap_err();
    state(&upstream, |it| matches!(it, State::BackingOff { attempt: 1, .. })).await;
    let error =
        echo.call(JsonObject::new(), &Arc::new(Host::default()).context()).await.unwrap_err().to_string();
    assert!(error.starts_with("server 'up' is not connected: ") && error.contains("exit code 5"), "{error}");
    upstream.reconnect();
    state(&upstream, State::is_connected).await;
    upstream.shut_down().await;
    let error =
        echo.call(JsonObject::new(), &Arc::new(Host::default()).context()).await.unwrap_err().to_string();
    assert_eq!(error, "server 'up' is not connected: it was shut down");
}

#[tokio::test]
async fn r5_the_breaker_opens_after_timeouts_and_closes_after_one_call_that_works() {
    let mut config = scripted(&[]);
    config.timeout = Duration::from_millis(50);
    config.timing.breaker_failures = 2;
    config.timing.breaker_pause = Duration::from_millis(300);
    let upstream = connected(config).await;
    for _ in 0..2 {
        let error = call(&upstream, "slow").await.unwrap_err().to_string();
        assert_eq!(error, "server 'up' did not answer within 0.05 s");
    }
    let error = call(&upstream, "echo").await.unwrap_err().to_string();
    assert!(
        error.starts_with("server 'up' is not called: 2 calls in a row failed, last: did not answer"),
        "{error}"
    );
    let output = crate::kit::eventually_ok(|| call(&upstream, "echo")).await;
    assert_eq!(text(&output), "{}");
    // Bad news of a tool is no failure of its server.
    for _ in 0..5 {
        assert!(call(&upstream, "sad").await.unwrap().is_error);
        call(&upstream, "refuse").await.unwrap_err();
    }
    assert!(call(&upstream, "echo").await.is_ok());
    upstream.shut_down().await;
}
