//! Access checks, and their order.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use onetool_core::Caller;
use onetool_web::{WebOptions, router};
use serde_json::json;

use crate::{Served, echo, fetch};

const ROUTES: [(&str, &str); 4] =
    [("GET", "/tools"), ("GET", "/tools/a"), ("POST", "/tools/a/validate"), ("POST", "/tools/a/call")];

fn with_token() -> WebOptions {
    WebOptions::default().access(|request| {
        let bearer = request.headers.get("authorization")?.to_str().ok()?;
        (bearer == "Bearer right").then(Caller::default)
    })
}

#[tokio::test]
async fn a2_a_foreign_origin_is_rejected_on_every_route_before_any_work() {
    let provider_calls = Arc::new(AtomicUsize::new(0));
    let count = provider_calls.clone();
    let provider = move || {
        count.fetch_add(1, Ordering::SeqCst);
        vec![echo("a")]
    };
    let served = Served::start(router(provider, WebOptions::default().allow_execute(true))).await;
    let own = format!("http://{}", served.address);
    let request = |method: &str, path: &str| served.client.request(method.parse().unwrap(), served.url(path));
    for (method, path) in ROUTES.into_iter().chain([("GET", "/"), ("GET", "/assets/main.js")]) {
        for origin in
            ["http://evil.org", "null", "http://127.0.0.1.evil.org", "http://127.0.0.1:1", "file://"]
        {
            let sent = request(method, path)
                .header("origin", origin)
                .header("content-type", "text/plain")
                .body("{}");
            assert_eq!(fetch(sent).await, (403, json!({"error": "Origin not allowed."})), "{path} {origin}");
        }
        let doubled = request(method, path).header("origin", &own).header("origin", "http://evil.org");
        assert_eq!(fetch(doubled).await.0, 403, "{path}");
    }
    assert_eq!(provider_calls.load(Ordering::SeqCst), 0);
    for (method, path) in ROUTES {
        assert_eq!(fetch(request(method, path).header("origin", &own)).await.0, 200, "{path}");
    }
}

#[tokio::test]
async fn low_1_only_the_origin_of_the_requested_host_is_the_same_origin() {
    let served = Served::start(router(vec![echo("a")], WebOptions::default())).await;
    let status = async |host: &str, origin: &str| {
        let request = served.get("/tools").header("host", host).header("origin", origin);
        request.send().await.unwrap().status().as_u16()
    };
    let same = [
        ("tools.example.org", "http://tools.example.org"),
        ("Tools.example.org", "https://tools.EXAMPLE.org:443"),
        ("tools.example.org:80", "http://tools.example.org"),
        ("[::1]:8080", "http://[::1]:8080"),
    ];
    for (host, origin) in same {
        assert_eq!(status(host, origin).await, 200, "{host} {origin}");
    }
    let other = [
        ("tools.example.org", "http://tools.example.org:8080"),
        ("tools.example.org", "http://tools.example.org@evil.org"),
        ("tools.example.org@evil.org", "http://tools.example.org@evil.org"),
        ("tools.example.org", "ftp://tools.example.org"),
        ("tools.example.org", "http://tools.example.org/"),
        ("[::1].evil.org", "http://[::1].evil.org"),
        ("", "http://"),
    ];
    for (host, origin) in other {
        assert_eq!(status(host, origin).await, 403, "{host} {origin}");
    }
}

#[tokio::test]
async fn a2_the_application_decides_which_hosts_and_origins_it_knows() {
    let options = WebOptions::default().origin(|request| {
        let host = request.headers.get("host").and_then(|host| host.to_str().ok());
        if host == Some("tools.example.org") { Ok(()) } else { Err("Host not allowed.".into()) }
    });
    let served = Served::start(router(vec![echo("a")], options)).await;
    for path in ["/tools", "/", "/assets/app.css"] {
        assert_eq!(fetch(served.get(path)).await, (403, json!({"error": "Host not allowed."})), "{path}");
        let known = served.get(path).header("host", "tools.example.org").header("origin", "http://other.org");
        assert_eq!(known.send().await.unwrap().status(), 200, "{path}");
    }
}

#[tokio::test]
async fn a3_every_data_route_needs_access_and_the_rejection_reveals_nothing() {
    let provider_calls = Arc::new(AtomicUsize::new(0));
    let count = provider_calls.clone();
    let provider = move || {
        count.fetch_add(1, Ordering::SeqCst);
        vec![echo("a")]
    };
    let served = Served::start(router(provider, with_token().allow_execute(true))).await;
    let request = |method: &str, path: &str| served.client.request(method.parse().unwrap(), served.url(path));
    for (method, path) in ROUTES {
        for token in ["", "Bearer wrong", "Bearer right2", "right"] {
            let response = request(method, path).header("authorization", token).send().await.unwrap();
            assert_eq!(response.headers()["www-authenticate"], "Bearer");
            assert_eq!(response.status(), 401, "{path} {token}");
            assert_eq!(response.text().await.unwrap(), r#"{"error":"Unauthorized"}"#);
        }
    }
    assert_eq!(provider_calls.load(Ordering::SeqCst), 0);
    for (method, path) in ROUTES {
        assert_eq!(fetch(request(method, path).bearer_auth("right")).await.0, 200, "{path}");
    }
}

#[tokio::test]
async fn a6_the_order_of_the_checks() {
    let calls = |token: &'static str, origin: &'static str, path: &'static str, body: &'static str| {
        (token, origin, path, body)
    };
    let off = Served::start(router(vec![echo("a")], with_token())).await;
    let on = Served::start(router(vec![echo("a")], with_token().allow_execute(true))).await;
    let table = [
        // If everything is wrong, the origin is reported.
        (calls("wrong", "http://evil.org", "/tools/nope/call", "["), 403, 403),
        (calls("wrong", "", "/tools/nope/call", "["), 401, 401),
        (calls("right", "", "/tools/nope/call", "["), 403, 404),
        (calls("right", "", "/tools/a/call", "["), 403, 400),
        (calls("right", "", "/tools/a/call", r#"{"apple": "x"}"#), 403, 400),
        (calls("right", "", "/tools/a/call", "{}"), 403, 200),
        (calls("right", "", "/tools/nope/validate", "["), 404, 404),
        (calls("right", "", "/tools/a/validate", "["), 400, 400),
    ];
    for ((token, origin, path, body), when_off, when_on) in table {
        for (served, expected) in [(&off, when_off), (&on, when_on)] {
            let mut request = served.post(path, body).bearer_auth(token);
            if !origin.is_empty() {
                request = request.header("origin", origin);
            }
            assert_eq!(fetch(request).await.0, expected, "{path} {body}");
        }
    }
}

#[tokio::test]
async fn l2_a_secret_in_the_access_hook_appears_nowhere() {
    let secret = "canary-7f3a";
    let options = WebOptions::default().access(move |request| {
        let bearer = request.headers.get("authorization")?.to_str().ok()?;
        (bearer == format!("Bearer {secret}")).then(Caller::default)
    });
    let debug = format!("{options:?}");
    let served = Served::start(router(vec![echo("a")], options)).await;
    let mut shown = vec![debug];
    for path in ["/", "/assets/main.js", "/tools", "/tools/a", "/nowhere"] {
        shown.push(served.get(path).send().await.unwrap().text().await.unwrap());
        shown.push(served.get(path).bearer_auth(secret).send().await.unwrap().text().await.unwrap());
    }
    assert!(shown.iter().all(|text| !text.contains(secret)));
}
