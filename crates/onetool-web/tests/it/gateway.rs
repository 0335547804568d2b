//! The gateway's API, over the gateway of the demo.

use std::sync::Arc;

use futures::StreamExt as _;
use onetool_core::Caller;
use onetool_web::{WebOptions, gateway_router};
use serde_json::{Value, json};

use crate::demo_gateway::Demo;
use crate::{Served, answer};

async fn serve(allow_execute: bool) -> (Arc<Demo>, Served) {
    let demo = Arc::new(Demo::new(0, Some("right".into()), true));
    let (access, calls) = (demo.clone(), demo.clone());
    let options = WebOptions::default()
        .allow_execute(allow_execute)
        .access(move |request| access.admits(&request.headers).then(Caller::default))
        .on_call(move |call| {
            let demo = calls.clone();
            async move { demo.call("page", call.name.as_str(), call.args).await }
        });
    let served = Served::start(gateway_router(demo.clone(), options)).await;
    (demo, served)
}

fn request(served: &Served, line: &str, body: &Value) -> reqwest::RequestBuilder {
    let (method, path) = line.split_once(' ').unwrap();
    let path = if path.starts_with('/') { path.to_owned() } else { format!("/api/v1/{path}") };
    let request = served.client.request(method.parse().unwrap(), served.url(&path));
    if body.is_null() { request } else { request.body(body.to_string()) }
}

const READS: [&str; 12] = [
    "GET overview",
    "GET tools",
    "GET tools/brave.search",
    "GET search?q=search",
    "GET packs",
    "GET servers",
    "GET servers/github/log",
    "GET stats?period=day",
    "GET results",
    "GET shortcuts",
    "GET history",
    "GET /tools",
];

#[tokio::test]
async fn a3_the_whole_api_needs_access() {
    let (demo, served) = serve(true).await;
    let writes = [
        "PUT active",
        "POST run",
        "POST expand",
        "POST servers/github/reconnect",
        "PUT servers/github/enabled",
        "PUT history",
        "DELETE history",
        "PUT history/c1/pinned",
        "GET history/c1",
        "GET results/x",
        "GET events",
    ];
    for line in READS.into_iter().chain(writes) {
        let refused = answer(request(&served, line, &json!({"command": "math.sum(numbers=[1])"}))).await;
        assert_eq!(refused, (401, json!({"error": "Unauthorized"})), "{line}");
    }
    assert_eq!(demo.counts()["calls"], 0);
    for line in READS {
        assert_eq!(answer(request(&served, line, &Value::Null).bearer_auth("right")).await.0, 200, "{line}");
    }
}

#[tokio::test]
async fn web_4_2_the_console_is_refused_where_execution_is_off() {
    let (demo, served) = serve(false).await;
    let run = request(&served, "POST run", &json!({"command": "math.sum(numbers=[1])"})).bearer_auth("right");
    assert_eq!(answer(run).await, (403, json!({"error": "Tool execution is disabled."})));
    assert_eq!(demo.counts()["calls"], 0);
}

#[tokio::test]
async fn every_refusal_of_the_api_is_json_with_its_own_status() {
    let (demo, served) = serve(true).await;
    let run =
        request(&served, "POST run", &json!({"command": "big.stored(lines=2000)"})).bearer_auth("right");
    let (_, output) = answer(run).await;
    let handle = output["structuredContent"]["handle"].as_str().unwrap();
    let page = format!("GET results/{handle}");
    let table = [
        ("GET tools/nope", Value::Null, 404),
        ("GET search", Value::Null, 400),
        ("GET stats?period=never", Value::Null, 400),
        ("POST servers/nope/reconnect", Value::Null, 404),
        ("PUT servers/github/enabled", json!({}), 400),
        ("PUT active", json!({"names": ["nope", "brave.search"], "active": true}), 404),
        ("PUT active", json!([]), 400),
        ("GET history/nope", Value::Null, 404),
        ("GET results/nope", Value::Null, 404),
        (&format!("{page}?offset=0"), Value::Null, 400),
        (&format!("{page}?search=("), Value::Null, 400),
        ("POST run", json!({"command": 1}), 400),
        ("POST expand", json!({"command": "$nope"}), 404),
    ];
    for (line, body, status) in table {
        let (got, answer) = answer(request(&served, line, &body).bearer_auth("right")).await;
        assert_eq!(got, status, "{line}: {answer}");
        assert!(answer["error"].is_string(), "{line}: {answer}");
    }
    assert!(demo.expire(handle));
    assert_eq!(answer(request(&served, &page, &Value::Null).bearer_auth("right")).await.0, 410);
}

#[tokio::test]
async fn a_search_says_what_matched_and_where() {
    let (_, served) = serve(false).await;
    let (_, found) =
        answer(request(&served, "GET search?q=search%20pictures&limit=2", &Value::Null).bearer_auth("right"))
            .await;
    let hits = found["hits"].as_array().unwrap();
    assert_eq!((hits.len(), found["total"].as_u64()), (2, Some(3)));
    assert!(hits[0]["score"].as_f64().unwrap() >= hits[1]["score"].as_f64().unwrap());
    let first = json!({"term": "search", "fields": ["name", "description"]});
    assert_eq!((&hits[0]["name"], &hits[0]["matched"]), (&json!("brave.search"), &json!([first])));
    let (_, none) =
        answer(request(&served, "GET search?q=lst_isues", &Value::Null).bearer_auth("right")).await;
    assert_eq!((&none["hits"], &none["suggestions"][0]), (&json!([]), &json!("github.list_issues")));
}

#[tokio::test]
async fn news_come_as_they_happen() {
    let (demo, served) = serve(false).await;
    let response = request(&served, "GET events", &Value::Null).bearer_auth("right").send().await.unwrap();
    assert_eq!(response.headers()["content-type"], "text/event-stream");
    let mut pieces = response.bytes_stream();
    let mut read = String::new();
    while !read.contains("listening") {
        read += std::str::from_utf8(&pieces.next().await.unwrap().unwrap()).unwrap();
    }
    assert!(demo.set_server("github", "down"));
    while !read.contains("server_health") {
        read += std::str::from_utf8(&pieces.next().await.unwrap().unwrap()).unwrap();
    }
    let line = read.lines().find_map(|line| line.strip_prefix("data: ")).unwrap();
    let event: Value = serde_json::from_str(line).unwrap();
    assert_eq!(event["server"]["name"], "github");
    assert_eq!(event["server"]["health"], "unhealthy");
}
