//! Upstreams over streamable HTTP.

use std::sync::Arc;

use axum::http::StatusCode;
use onetool_proxy::{State, Transport, Upstream, UpstreamConfig};

use crate::kit::{call, connected, failed, impatient, state, text, tool, unguarded};
use crate::web::{Script, Web, start_old};

fn config(web: &Web, token: Option<&str>) -> UpstreamConfig {
    let headers =
        token.map(|token| ("Authorization".to_owned(), format!("Bearer {token}"))).into_iter().collect();
    impatient(UpstreamConfig::new("up", Transport::Http { url: web.url(), headers }))
}

#[tokio::test]
async fn prx_1_7_tools_are_listed_and_called_with_the_configured_headers() {
    let web = Web::start(Script { token: Some("open-sesame".into()), ..Script::default() }).await;
    let upstream = connected(config(&web, Some("open-sesame"))).await;
    assert_eq!(upstream.snapshot().tools.len(), 3, "the one with a broken schema is left out");
    assert_eq!(text(&call(&upstream, "pay").await.unwrap()), "pay");
    upstream.shut_down().await;
}

#[tokio::test]
async fn prx_1_7_a_401_or_403_is_a_clear_reason_and_is_not_tried_again() {
    for (status, hint) in [
        (StatusCode::UNAUTHORIZED, "it answers with HTTP 401; check the token in `headers`"),
        (StatusCode::FORBIDDEN, "it answers with HTTP 403; the token in `headers` does not allow this"),
    ] {
        let script = Script { token: Some("right".into()), denial: Some(status), ..Script::default() };
        let web = Web::start(script).await;
        let upstream = Upstream::start(config(&web, Some("wrong-token")), unguarded());
        assert_eq!(failed(&upstream).await, hint);
        upstream.shut_down().await;
    }
}

#[tokio::test]
async fn l2_an_error_page_that_repeats_the_token_is_not_shown() {
    let script = Script { token: Some("canary-token".into()), is_indiscreet: true, ..Script::default() };
    let web = Web::start(script).await;
    let upstream = connected(config(&web, Some("canary-token"))).await;
    let error = call(&upstream, "read").await.unwrap_err().to_string();
    assert!(error.contains("it answers with HTTP 400 Bad Request"), "{error}");
    assert!(!error.contains("canary") && !error.contains("long"), "{error}");
    upstream.shut_down().await;
}

#[tokio::test]
async fn r3_a_stale_session_is_renewed_once_and_a_safe_call_repeated() {
    let web = Web::start(Script::default()).await;
    let upstream = connected(config(&web, None)).await;
    for name in ["read", "put"] {
        web.script.sessions.lock().unwrap().clear();
        web.script.called.lock().unwrap().clear();
        assert_eq!(text(&call(&upstream, name).await.unwrap()), name);
        assert_eq!(*web.script.called.lock().unwrap(), [name, name]);
    }
    assert_eq!(*web.script.initialized.lock().unwrap(), 3);
    upstream.shut_down().await;
}

#[tokio::test]
async fn r3_a_call_that_was_sent_and_may_change_something_is_not_repeated() {
    let web = Web::start(Script::default()).await;
    let upstream = connected(config(&web, None)).await;
    web.script.sessions.lock().unwrap().clear();
    let error = call(&upstream, "pay").await.unwrap_err().to_string();
    assert!(
        error.contains("had forgotten our session") && error.ends_with("call again if it should"),
        "{error}"
    );
    assert_eq!(*web.script.called.lock().unwrap(), ["pay"]);
    assert_eq!(text(&call(&upstream, "pay").await.unwrap()), "pay");
    assert_eq!(*web.script.initialized.lock().unwrap(), 2);
    upstream.shut_down().await;
}

#[tokio::test]
async fn r3_many_calls_that_find_the_session_stale_open_one_new_one() {
    let web = Web::start(Script::default()).await;
    let upstream = connected(config(&web, None)).await;
    web.script.sessions.lock().unwrap().clear();
    let calls = (0..20).map(|_| call(&upstream, "read"));
    for output in futures::future::join_all(calls).await {
        assert_eq!(text(&output.unwrap()), "read");
    }
    assert_eq!(*web.script.initialized.lock().unwrap(), 2);
    upstream.shut_down().await;
}

#[tokio::test]
async fn r3_a_call_that_was_never_sent_is_made_when_the_server_is_back() {
    let web = Web::start(Script::default()).await;
    let (upstream, address, script) = (connected(config(&web, None)).await, web.address, web.script.clone());
    drop(web);
    // Whether it was sent depends on when the old connection is seen to be closed; it did not arrive.
    let error = call(&upstream, "pay").await.unwrap_err().to_string();
    let (unsent, broken) =
        ("server 'up' is not connected: cannot connect: ", "server 'up' broke off the connection (");
    assert!(error.starts_with(unsent) || error.starts_with(broken), "{error}");
    let away = state(&upstream, |it| matches!(it, State::BackingOff { .. })).await;
    assert!(away.to_string().contains("retrying automatically"), "{away}");
    let web = Web::start_at(script, address).await;
    state(&upstream, State::is_connected).await;
    assert_eq!(text(&call(&upstream, "pay").await.unwrap()), "pay");
    assert_eq!(*web.script.called.lock().unwrap(), ["pay"]);
    upstream.shut_down().await;
}

#[tokio::test]
async fn a5_a_redirect_to_another_origin_is_not_followed_and_never_sees_the_headers() {
    let elsewhere = Web::start(Script::default()).await;
    let script = Script { redirect: Some(elsewhere.url().to_string()), ..Script::default() };
    let web = Web::start(script).await;
    let upstream = Upstream::start(config(&web, Some("secret-token")), unguarded());
    let state = state(&upstream, |it| matches!(it, State::BackingOff { .. })).await;
    let reason = state.reason().unwrap();
    let expected =
        format!("it redirects to http://{}; write that address in `url` if you trust it", elsewhere.address);
    assert_eq!(reason, expected);
    assert!(elsewhere.script.authorizations.lock().unwrap().is_empty());
    upstream.shut_down().await;
}

#[tokio::test]
async fn a5_a_redirect_on_the_same_origin_is_followed_with_the_headers() {
    let script =
        Script { redirect: Some("/moved".into()), token: Some("secret-token".into()), ..Script::default() };
    let web = Web::start(script).await;
    let upstream = connected(config(&web, Some("secret-token"))).await;
    assert_eq!(text(&call(&upstream, "read").await.unwrap()), "read");
    upstream.shut_down().await;
}

#[tokio::test]
async fn r1_a_server_that_is_not_there_is_named_and_found_when_it_comes() {
    let web = Web::start(Script::default()).await;
    let (config, address) = (config(&web, None), web.address);
    drop(web);
    let upstream = Upstream::start(config, unguarded());
    let away = state(&upstream, |it| matches!(it, State::BackingOff { attempt, .. } if *attempt > 5)).await;
    assert!(away.reason().unwrap().starts_with("cannot connect: "), "{away}");
    let _web = Web::start_at(Arc::default(), address).await;
    state(&upstream, State::is_connected).await;
    upstream.shut_down().await;
}

#[tokio::test]
async fn l5_a_response_that_nests_too_deep_fails_its_call_at_once_over_http() {
    let web = Web::start(Script { depth: 1000, ..Script::default() }).await;
    let mut config = config(&web, None);
    // Longer than the test may take: a call that waits for its deadline fails the test.
    config.timeout = std::time::Duration::from_hours(1);
    let upstream = connected(config).await;
    for name in ["read", "put"] {
        let error = call(&upstream, name).await.unwrap_err().to_string();
        let expected = "server 'up' sent a response that nests too deep: more than 128 levels (error -32603)";
        assert_eq!(error, expected, "{name}");
    }
    upstream.shut_down().await;
}

#[tokio::test]
async fn l5_a_response_that_is_too_long_fails_its_call_and_no_other() {
    let web = Web::start(Script { length: 100_000, ..Script::default() }).await;
    let mut config = config(&web, None);
    config.limits.message = 50_000;
    let upstream = connected(config).await;
    for name in ["read", "pay"] {
        let error = call(&upstream, name).await.unwrap_err().to_string();
        assert!(
            error.contains("sent a response that cannot be read: it is longer than 50000 bytes"),
            "{error}"
        );
    }
    assert!(upstream.snapshot().state.is_connected());
    upstream.shut_down().await;

    let web = Web::start(Script { length: 100_000, ..Script::default() }).await;
    let upstream = connected(self::config(&web, None)).await;
    for name in ["read", "pay"] {
        assert_eq!(text(&call(&upstream, name).await.unwrap()).len(), 100_000);
    }
    upstream.shut_down().await;
}

#[tokio::test]
async fn seam_13_a_server_with_only_the_old_transport_is_connected_and_called() {
    let address = start_old("/messages?session=1").await;
    let url = format!("http://{address}/sse").parse().unwrap();
    let transport = Transport::Http { url, headers: indexmap::IndexMap::new() };
    let upstream = connected(impatient(UpstreamConfig::new("up", transport))).await;
    assert_eq!(upstream.snapshot().protocol_version.as_deref(), Some("2024-11-05"));
    assert_eq!(text(&call(&upstream, "read").await.unwrap()), "old and well");
    upstream.reconnect();
    state(&upstream, |it| !it.is_connected()).await;
    state(&upstream, State::is_connected).await;
    assert_eq!(text(&call(&upstream, "read").await.unwrap()), "old and well");
    upstream.shut_down().await;
}

#[tokio::test]
async fn seam_13_a_stream_that_sends_messages_to_another_origin_is_not_used() {
    let address = start_old("http://127.0.0.2:9/messages").await;
    let url = format!("http://{address}/sse").parse().unwrap();
    let transport = Transport::Http { url, headers: indexmap::IndexMap::new() };
    let upstream = Upstream::start(impatient(UpstreamConfig::new("up", transport)), unguarded());
    let state = state(&upstream, |it| it.reason().is_some()).await;
    assert!(state.reason().unwrap().contains("HTTP 405"), "{state}");
    upstream.shut_down().await;
}

#[tokio::test]
async fn seam_13_a_website_is_named_as_one_and_its_page_is_not_shown() {
    let web = Web::start(Script { is_a_website: true, ..Script::default() }).await;
    let upstream = Upstream::start(config(&web, None), unguarded());
    let state = state(&upstream, |it| it.reason().is_some()).await;
    assert_eq!(state.reason().unwrap(), "it answers with HTTP 404 Not Found; check the path in `url`");
    upstream.shut_down().await;
}

#[tokio::test]
async fn seam_8_a_server_that_answers_everything_is_reached_with_initialize() {
    let web = Web::start(Script { is_agreeable: true, ..Script::default() }).await;
    let mut config = config(&web, None);
    // No pause comes to an end within the test.
    config.timing.backoff_first = std::time::Duration::from_mins(10);
    config.timing.backoff_max = std::time::Duration::from_mins(10);
    let upstream = connected(config).await;
    assert_eq!(text(&call(&upstream, "read").await.unwrap()), "read");
    upstream.shut_down().await;
}

#[tokio::test]
async fn seam_10_what_the_sdk_does_not_know_of_a_tool_is_kept_over_http() {
    let web = Web::start(Script::default()).await;
    let upstream = connected(config(&web, None)).await;
    let extra = tool(&upstream, "pay").spec().extra.clone();
    let expected = serde_json::json!({"execution": {"taskSupport": "optional"}, "vendor": 1});
    assert_eq!(serde_json::Value::Object(extra), expected);
    upstream.shut_down().await;
}
