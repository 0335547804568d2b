//! The pack `brave` against a server on loopback that implements Brave's documented API.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use axum::extract::{RawQuery, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use axum::{Json, Router};
use onetool::Gateway;
use onetool_testkit::{CapturedLogs, Client};
use serde_json::{Value, json};
use tempfile::TempDir;

use super::{call, failure, serve};
use crate::{gateway, gateway_with_run};

const KEY: &str = "canary-brave-key";

/// Requests that the server has received, and how often it has responded with a rate limit.
#[derive(Clone, Default)]
struct Received {
    queries: Arc<Mutex<Vec<String>>>,
    rate_limits: Arc<AtomicUsize>,
}

fn checked(headers: &HeaderMap, received: &Received, query: Option<String>) -> Option<Response> {
    let query = query.unwrap_or_default();
    received.queries.lock().unwrap().push(query.clone());
    let key = headers.get("x-subscription-token").map(|it| it.to_str().unwrap().to_owned());
    if key.as_deref() != Some(KEY) {
        let detail = format!("The provided subscription token {} is invalid.", key.unwrap_or_default());
        let error = json!({"code": "SUBSCRIPTION_TOKEN_INVALID", "detail": detail, "status": 422});
        let body = Json(json!({"type": "ErrorResponse", "error": error}));
        return Some((StatusCode::UNPROCESSABLE_ENTITY, body).into_response());
    }
    if query.contains("later") && received.rate_limits.fetch_add(1, Ordering::SeqCst) == 0 {
        return Some((StatusCode::TOO_MANY_REQUESTS, [("retry-after", "1")]).into_response());
    }
    if query.contains("tomorrow") {
        return Some((StatusCode::TOO_MANY_REQUESTS, [("retry-after", "86400")]).into_response());
    }
    None
}

async fn web(State(received): State<Received>, RawQuery(query): RawQuery, headers: HeaderMap) -> Response {
    if let Some(rejection) = checked(&headers, &received, query.clone()) {
        return rejection;
    }
    let query = query.unwrap();
    if query.contains("result_filter=locations") {
        let places = if query.contains("nowhere") { json!([]) } else { json!([{"id": "p1"}, {"id": "p2"}]) };
        return Json(json!({"type": "search", "locations": {"results": places}})).into_response();
    }
    let topic = query.split('&').find_map(|it| it.strip_prefix("q=")).unwrap();
    let result = json!({"title": format!("All about {topic}"), "url": format!("https://example.org/{topic}"),
        "description": "The <strong>best</strong> page &amp; more", "age": "2 days ago", "type": "search_result",
        "profile": {"name": "noise"}});
    Json(json!({"type": "search", "query": {"original": topic, "more_results_available": true},
        "web": {"type": "search", "results": [result]}}))
    .into_response()
}

fn other(results: Value) -> axum::routing::MethodRouter<Received> {
    get(move |State(received): State<Received>, RawQuery(query): RawQuery, headers: HeaderMap| async move {
        checked(&headers, &received, query)
            .unwrap_or_else(|| Json(json!({"results": results})).into_response())
    })
}

async fn start(received: &Received) -> String {
    let news = json!([{"title": "News", "url": "https://n.example", "description": "d", "age": "1 hour ago",
        "meta_url": {"hostname": "n.example"}}]);
    let images = json!([{"title": "Crab", "url": "https://i.example/page", "source": "i.example",
        "thumbnail": {"src": "https://t.example"}, "properties": {"url": "https://i.example/crab.png"}}]);
    let videos = json!([{"title": "Film", "url": "https://v.example", "video": {"duration": "01:20", "creator": "Ada"}}]);
    let places = json!([{"id": "p1", "title": "Bakery", "postal_address": {"displayAddress": "1 Main St"},
        "contact": {"telephone": "+1"}, "rating": {"ratingValue": 4.5, "ratingCount": 12}}, {"id": "p2", "name": "Other"}]);
    let words = json!([{"id": "p1", "description": "Bread since 1900"}]);
    let router = Router::new()
        .route("/res/v1/web/search", get(web))
        .route("/res/v1/news/search", other(news))
        .route("/res/v1/images/search", other(images))
        .route("/res/v1/videos/search", other(videos))
        .route("/res/v1/local/pois", other(places))
        .route("/res/v1/local/descriptions", other(words))
        .with_state(received.clone());
    serve(router).await
}

fn yaml(url: &str, key: &str) -> String {
    format!("packs: {{brave: {{api_key: {key}, base_url: '{url}/res/v1'}}}}\n")
}

async fn with_brave(received: &Received) -> (Gateway, TempDir) {
    let folder = TempDir::new().unwrap();
    let gateway = gateway(folder.path(), &yaml(&start(received).await, KEY));
    (gateway, folder)
}

#[tokio::test]
async fn the_web_is_searched_with_all_arguments() {
    let received = Received::default();
    let (gateway, _folder) = with_brave(&received).await;
    let args = json!({"query": "rust", "count": 3, "offset": 1, "country": "de", "freshness": "pw", "safesearch": "strict"});
    for tool in ["brave.web_search", "brave.search"] {
        let found = call(&gateway, tool, args.clone()).await;
        assert_eq!(
            found,
            json!({"query": "rust", "results": [{"title": "All about rust", "url": "https://example.org/rust",
                "description": "The best page & more", "age": "2 days ago"}], "more": true})
        );
    }
    let queries = received.queries.lock().unwrap();
    assert_eq!(queries[0], "q=rust&count=3&offset=1&country=DE&freshness=pw&safesearch=strict");
    assert_eq!(queries[0], queries[1]);
}

#[tokio::test]
async fn news_images_videos_and_places_are_searched() {
    let received = Received::default();
    let (gateway, _folder) = with_brave(&received).await;
    let search = async |tool: &str| call(&gateway, tool, json!({"query": "x"})).await["results"].clone();
    assert_eq!(search("brave.news").await[0]["source"], "n.example");
    assert_eq!(search("brave.image").await[0]["image"], "https://i.example/crab.png");
    assert_eq!(search("brave.video").await[0]["duration"], "01:20");
    let places = search("brave.local").await;
    assert_eq!(
        places[0],
        json!({"name": "Bakery", "address": "1 Main St", "telephone": "+1", "rating": 4.5, "reviews": 12,
            "description": "Bread since 1900"})
    );
    assert_eq!(places[1], json!({"name": "Other"}));
    assert!(received.queries.lock().unwrap().contains(&"ids=p1&ids=p2".to_owned()));
    let error = failure(&gateway, "brave.local", json!({"query": "nowhere"})).await;
    assert!(error.ends_with("no places found for 'nowhere'; include the name of the town"), "{error}");
    let error = failure(&gateway, "brave.search", json!({"query": "x", "count": 0})).await;
    assert!(error.contains("'/count'") || error.contains("count"), "{error}");
}

#[tokio::test]
async fn a_short_rate_limit_is_waited_for() {
    let received = Received::default();
    let (gateway, _folder) = with_brave(&received).await;
    let found = call(&gateway, "brave.search", json!({"query": "later"})).await;
    assert_eq!(found["results"][0]["title"], "All about later");
    assert_eq!(received.queries.lock().unwrap().len(), 2, "it retries");
    let error = failure(&gateway, "brave.search", json!({"query": "tomorrow"})).await;
    assert!(error.ends_with("Brave's rate limit is reached; retry in 86400 s"), "{error}");
    assert_eq!(received.queries.lock().unwrap().len(), 3, "it does not retry if that takes too long");
}

#[tokio::test]
async fn several_searches_run_concurrently_each_with_its_own_result() {
    let received = Received::default();
    let (gateway, _folder) = with_brave(&received).await;
    let args = json!({"queries": ["a", "tomorrow", "c"], "count": 2});
    let found = call(&gateway, "brave.web_search_batch", args).await["searches"].clone();
    assert_eq!(found[0]["results"][0]["url"], "https://example.org/a");
    assert_eq!(found[1]["query"], "tomorrow");
    assert!(found[1]["error"].as_str().unwrap().contains("rate limit"), "{found}");
    assert_eq!(found[2]["results"][0]["url"], "https://example.org/c");
}

#[tokio::test]
async fn l2_the_key_never_appears_and_a_missing_key_is_reported() {
    let logs = CapturedLogs::start(tracing::Level::TRACE);
    let folder = TempDir::new().unwrap();
    let received = Received::default();
    let url = start(&received).await;
    let wrong = gateway(folder.path(), &yaml(&url, "canary-wrong-key"));
    let error = failure(&wrong, "brave.search", json!({"query": "x"})).await;
    assert!(error.contains("SUBSCRIPTION_TOKEN_INVALID"), "{error}");
    assert!(error.contains("check packs.brave.api_key") && !error.contains("canary"), "{error}");
    assert!(!format!("{:?}", wrong.config()).contains("canary"));
    let none = gateway(folder.path(), "packs: {brave: {api_key: '${BRAVE_API_KEY:-}'}}\n");
    for (tool, args) in
        [("brave.search", json!({"query": "x"})), ("brave.web_search_batch", json!({"queries": ["x"]}))]
    {
        let error = failure(&none, tool, args).await;
        assert!(error.contains("the Brave Search API requires a key; set packs.brave.api_key"), "{error}");
    }
    assert!(!logs.text().contains("canary-wrong-key"), "{}", logs.text());
}

#[tokio::test]
async fn dsc_3_1_batch_search_runs_unchanged() {
    let folder = TempDir::new().unwrap();
    let received = Received::default();
    let url = start(&received).await;
    let gateway = gateway_with_run(folder.path(), &yaml(&url, KEY), |_| {});
    let client = Client::connect(gateway.server()).await;
    let prompt =
        client.prompt("batch_search", json!({"topics": r#"["AI","ML"]"#, "count": "5"})).await.unwrap();
    let block = prompt["messages"][0]["content"]["text"].as_str().unwrap();
    let found: Value =
        serde_json::from_str(&client.call_text("run", json!({"command": block})).await).unwrap();
    assert_eq!(found["AI"]["results"][0]["title"], "All about AI");
    assert_eq!(found["ML"]["results"][0]["title"], "All about ML");
    assert_eq!(*received.queries.lock().unwrap(), ["q=AI&count=5", "q=ML&count=5"]);
}
