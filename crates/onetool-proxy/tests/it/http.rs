//! Upstreams over streamable HTTP.

use std::sync::Arc;

use axum::http::StatusCode;
use onetool_proxy::{State, Transport, Upstream, UpstreamConfig};

use crate::kit::{
    FOREVER, call, connected, text, tool, unguarded, wait_for_failure, wait_for_state, with_short_delays,
    without_retries,
};
use crate::web::{Script, Web, start_sse};

fn config(web: &Web, token: Option<&str>) -> UpstreamConfig {
    let headers =
        token.map(|token| ("Authorization".to_owned(), format!("Bearer {token}"))).into_iter().collect();
    with_short_delays(UpstreamConfig::new("up", Transport::Http { url: web.url(), headers }))
}

#[tokio::test]
async fn prx_1_7_tools_are_listed_and_called_with_the_configured_headers() {
    let web = Web::start(Script { token: Some("open-sesame".into()), ..Script::default() }).await;
    let upstream = connected(config(&web, Some("open-sesame"))).await;
    assert_eq!(upstream.snapshot().tools.len(), 3, "the tool with an invalid schema is skipped");
    assert_eq!(text(&call(&upstream, "pay").await.unwrap()), "pay");
    upstream.shut_down().await;
}

#[tokio::test]
async fn prx_1_7_a_401_or_403_is_reported_clearly_and_not_retried() {
    for (status, hint) in [
        (StatusCode::UNAUTHORIZED, "it returned HTTP 401; check the token in `headers`"),
        (StatusCode::FORBIDDEN, "it returned HTTP 403; the token in `headers` does not allow this"),
    ] {
        let script = Script { token: Some("right".into()), denial: Some(status), ..Script::default() };
        let web = Web::start(script).await;
        let upstream = Upstream::start(config(&web, Some("wrong-token")), unguarded());
        assert_eq!(wait_for_failure(&upstream).await, hint);
        upstream.shut_down().await;
    }
}

#[tokio::test]
async fn l2_an_error_page_that_repeats_the_token_is_not_shown() {
    let script = Script { token: Some("canary-token".into()), leaks_credentials: true, ..Script::default() };
    let web = Web::start(script).await;
    let upstream = connected(config(&web, Some("canary-token"))).await;
    let error = call(&upstream, "read").await.unwrap_err().to_string();
    assert!(error.contains("it returned HTTP 400 Bad Request"), "{error}");
    assert!(!error.contains("canary") && !error.contains("long"), "{error}");
    upstream.shut_down().await;
}

#[tokio::test]
async fn r3_a_stale_session_is_renewed_once_and_a_repeatable_call_retried() {
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
async fn r3_a_call_that_was_sent_and_may_have_side_effects_is_not_retried() {
    let web = Web::start(Script::default()).await;
    let upstream = connected(config(&web, None)).await;
    web.script.sessions.lock().unwrap().clear();
    let error = call(&upstream, "pay").await.unwrap_err().to_string();
    assert!(
        error.contains("no longer knows our session") && error.ends_with("call again to retry it"),
        "{error}"
    );
    assert_eq!(*web.script.called.lock().unwrap(), ["pay"]);
    assert_eq!(text(&call(&upstream, "pay").await.unwrap()), "pay");
    assert_eq!(*web.script.initialized.lock().unwrap(), 2);
    upstream.shut_down().await;
}

#[tokio::test]
async fn r3_concurrent_calls_on_a_stale_session_open_one_new_session() {
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
async fn r3_a_call_works_again_once_the_server_is_back() {
    let web = Web::start(Script::default()).await;
    let (upstream, address, script) = (connected(config(&web, None)).await, web.address, web.script.clone());
    drop(web);
    // Whether it was sent depends on when the client notices that the old connection is closed.
    let error = call(&upstream, "pay").await.unwrap_err().to_string();
    let (unsent, broken) =
        ("server 'up' is not connected: cannot connect: ", "server 'up' closed the connection (");
    assert!(error.starts_with(unsent) || error.starts_with(broken), "{error}");
    let away = wait_for_state(&upstream, |state| matches!(state, State::BackingOff { .. })).await;
    assert!(away.to_string().contains("retrying automatically"), "{away}");
    let web = Web::start_at(script, address).await;
    wait_for_state(&upstream, State::is_connected).await;
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
    let state = wait_for_state(&upstream, |state| matches!(state, State::BackingOff { .. })).await;
    let reason = state.reason().unwrap();
    let expected =
        format!("it redirects to http://{}; set `url` to that address if you trust it", elsewhere.address);
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
async fn r1_an_unreachable_server_is_reported_and_connected_once_it_is_up() {
    let web = Web::start(Script::default()).await;
    let (config, address) = (config(&web, None), web.address);
    drop(web);
    let upstream = Upstream::start(config, unguarded());
    let away =
        wait_for_state(&upstream, |state| matches!(state, State::BackingOff { attempt, .. } if *attempt > 5))
            .await;
    assert!(away.reason().unwrap().starts_with("cannot connect: "), "{away}");
    let _web = Web::start_at(Arc::default(), address).await;
    wait_for_state(&upstream, State::is_connected).await;
    upstream.shut_down().await;
}

#[tokio::test]
async fn l5_a_deeply_nested_response_fails_its_call_immediately_over_http() {
    let web = Web::start(Script { depth: 1000, ..Script::default() }).await;
    let mut config = config(&web, None);
    // A call that waits for its timeout fails the test.
    config.timeout = FOREVER;
    let upstream = connected(config).await;
    for name in ["read", "put"] {
        let error = call(&upstream, name).await.unwrap_err().to_string();
        let expected =
            "server 'up' sent a response that is nested too deeply: more than 128 levels (error -32603)";
        assert_eq!(error, expected, "{name}");
    }
    upstream.shut_down().await;
}

#[tokio::test]
async fn l5_a_response_that_is_too_long_fails_only_its_call() {
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
    let address = start_sse("/messages?session=1").await;
    let url = format!("http://{address}/sse").parse().unwrap();
    let transport = Transport::Http { url, headers: indexmap::IndexMap::new() };
    let upstream = connected(with_short_delays(UpstreamConfig::new("up", transport))).await;
    assert_eq!(upstream.snapshot().protocol_version.as_deref(), Some("2024-11-05"));
    assert_eq!(text(&call(&upstream, "read").await.unwrap()), "hello over SSE");
    upstream.reconnect();
    wait_for_state(&upstream, |state| !state.is_connected()).await;
    wait_for_state(&upstream, State::is_connected).await;
    assert_eq!(text(&call(&upstream, "read").await.unwrap()), "hello over SSE");
    upstream.shut_down().await;
}

#[tokio::test]
async fn seam_13_a_stream_that_sends_messages_to_another_origin_is_not_used() {
    let address = start_sse("http://127.0.0.2:9/messages").await;
    let url = format!("http://{address}/sse").parse().unwrap();
    let transport = Transport::Http { url, headers: indexmap::IndexMap::new() };
    let upstream = Upstream::start(with_short_delays(UpstreamConfig::new("up", transport)), unguarded());
    let state = wait_for_state(&upstream, |state| state.reason().is_some()).await;
    assert!(state.reason().unwrap().contains("HTTP 405"), "{state}");
    upstream.shut_down().await;
}

#[tokio::test]
async fn seam_13_a_website_is_reported_as_such_and_its_page_is_not_shown() {
    let web = Web::start(Script { is_website: true, ..Script::default() }).await;
    let upstream = Upstream::start(config(&web, None), unguarded());
    let state = wait_for_state(&upstream, |state| state.reason().is_some()).await;
    assert_eq!(state.reason().unwrap(), "it returned HTTP 404 Not Found; check the path in `url`");
    upstream.shut_down().await;
}

#[tokio::test]
async fn seam_8_a_server_that_accepts_any_request_is_connected_with_initialize() {
    let web = Web::start(Script { accepts_anything: true, ..Script::default() }).await;
    let upstream = connected(without_retries(config(&web, None))).await;
    assert_eq!(text(&call(&upstream, "read").await.unwrap()), "read");
    upstream.shut_down().await;
}

#[tokio::test]
async fn seam_10_fields_of_a_tool_that_the_sdk_does_not_know_are_kept_over_http() {
    let web = Web::start(Script::default()).await;
    let upstream = connected(config(&web, None)).await;
    let extra = tool(&upstream, "pay").spec().extra.clone();
    let expected = serde_json::json!({"execution": {"taskSupport": "optional"}, "vendor": 1});
    assert_eq!(serde_json::Value::Object(extra), expected);
    upstream.shut_down().await;
}
