//! The pack `web` with a real server on loopback.

use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::http::header::{CONTENT_ENCODING, CONTENT_TYPE, LOCATION};
use axum::http::{HeaderMap, StatusCode};
use axum::response::IntoResponse;
use axum::routing::get;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use futures::StreamExt as _;
use onetool::{CallContext, Gateway};
use onetool_testkit::Client;
use serde_json::json;
use tempfile::TempDir;

use super::{call, failure, serve, text};
use crate::cage::peak_memory;
use crate::{gateway, gateway_with_run, object};

const ARTICLE: &str = r#"<!DOCTYPE html><html><head><title>On crabs</title><script>var secret = 1;</script></head><body>
<nav><ul><li><a href="/">Home</a></li><li><a href="/shop">Buy now</a></li></ul></nav>
<div class="sidebar"><p>Subscribe to our newsletter, it is great.</p></div>
<article><h1>On crabs</h1>
<p>Crabs are decapod crustaceans which typically have a very short projecting tail, usually hidden entirely under the thorax.
They live in all the world's oceans, in fresh water, and on land.</p>
<p>They are generally covered with a thick exoskeleton and have a single pair of <a href="claws.html">pincers</a>. They first
appeared during the Jurassic period, and there are about seven thousand species, in many shapes and sizes.</p>
<h2>Food</h2><ul><li>Algae</li><li>Molluscs</li></ul>
<p>Crabs are omnivores, feeding primarily on algae, and taking any other food, including molluscs, worms, other
crustaceans, fungi, bacteria and detritus, depending on their availability and the crab species.</p>
</article><footer>Copyright, imprint, cookies</footer></body></html>"#;
/// A small page, compressed with brotli.
const BROTLI: &str = "GzcA+EW3eZ7iP3Z43QULrCQsaZFHoiTFFWCAeifnBTnj3c4FkxPFf2KYA1YE";

fn html(page: impl Into<Body>) -> impl IntoResponse {
    ([(CONTENT_TYPE, "text/html; charset=utf-8")], page.into())
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    use std::io::Write as _;
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

fn site() -> Router {
    let compressed = |encoding: &'static str, bytes: Vec<u8>| {
        get(move || async move { ([(CONTENT_TYPE, "text/html"), (CONTENT_ENCODING, encoding)], bytes) })
    };
    let typed = |content_type: &'static str, bytes: &'static [u8]| {
        get(move || async move { ([(CONTENT_TYPE, content_type)], bytes) })
    };
    let to =
        |status: StatusCode, target: &'static str| get(move || async move { (status, [(LOCATION, target)]) });
    Router::new()
        .route("/docs/article", get(|| async { html(ARTICLE) }))
        .route("/gzip", compressed("gzip", gzip(b"<html><body><h1>Gzip</h1><p>unpacked</p></body></html>")))
        .route("/brotli", compressed("br", BASE64.decode(BROTLI).unwrap()))
        .route("/bomb", compressed("gzip", gzip(&vec![b'a'; 50 << 20])))
        .route("/latin", typed("text/html; charset=iso-8859-1", b"<p>caf\xe9 na\xefve</p>"))
        .route("/pdf", typed("application/pdf", b"%PDF-1.7 ..."))
        .route("/png", typed("image/png", b"\x89PNG"))
        .route("/data.json", typed("application/json", br#"{"a": [1, 2]}"#))
        .route("/plain", typed("text/plain", b"one\n\n\n\ntwo  \n"))
        .route("/moved", to(StatusCode::MOVED_PERMANENTLY, "/docs/article"))
        .route("/loop", to(StatusCode::FOUND, "/loop"))
        .route("/to-file", to(StatusCode::FOUND, "file:///etc/passwd"))
        .route(
            "/agent",
            get(|headers: HeaderMap| async move { headers["user-agent"].to_str().unwrap().to_owned() }),
        )
        .route("/silent", get(|| async { std::future::pending::<()>().await }))
        .route(
            "/endless",
            get(|| async {
                let pieces =
                    futures::stream::repeat("<p>on and on</p>").map(Ok::<_, std::convert::Infallible>);
                html(Body::from_stream(pieces))
            }),
        )
        .route("/deep", get(|| async { html("<div>".repeat(200_000)) }))
        .route("/breaks", compressed("gzip", gzip("<em></br>".repeat(150_000).as_bytes())))
        .route("/formats", get(|| async { html("<b><i><u><s><p>".repeat(2_000)) }))
}

struct Site {
    gateway: Gateway,
    url: String,
    _folder: TempDir,
}

async fn with_site(more: &str) -> Site {
    let folder = TempDir::new().unwrap();
    let url = serve(site()).await;
    let yaml = format!("packs: {{web: {{allow_private: true{more}}}}}\n");
    let gateway = gateway_with_run(folder.path(), &yaml, |_| {});
    Site { gateway, url, _folder: folder }
}

#[tokio::test]
async fn the_main_content_of_a_page_is_returned_as_markdown() {
    let site = with_site("").await;
    let page = call(&site.gateway, "web.fetch", json!({"url": format!("{}/docs/article", site.url)})).await;
    assert_eq!(page["title"], "On crabs");
    let markdown = page["text"].as_str().unwrap();
    assert!(markdown.contains("Crabs are decapod crustaceans"), "{markdown}");
    assert!(
        markdown.contains(&format!("[pincers]({}/docs/claws.html)", site.url)),
        "links are absolute: {markdown}"
    );
    assert!(markdown.contains("## Food") && markdown.contains("Algae"), "{markdown}");
    for boilerplate in ["Buy now", "newsletter", "imprint", "secret"] {
        assert!(!markdown.contains(boilerplate), "{boilerplate} in {markdown}");
    }
    let plain = text(
        &site.gateway,
        "web.fetch",
        json!({"url": format!("{}/docs/article", site.url), "format": "text"}),
    )
    .await;
    assert!(plain.contains("pincers") && !plain.contains("](") && !plain.contains("Buy now"), "{plain}");
    let whole = text(
        &site.gateway,
        "web.fetch",
        json!({"url": format!("{}/docs/article", site.url), "format": "html"}),
    )
    .await;
    assert_eq!(whole, ARTICLE.lines().map(str::trim_end).collect::<Vec<_>>().join("\n"));
}

#[tokio::test]
async fn a_selector_and_a_length_select_a_part() {
    let site = with_site("").await;
    let url = format!("{}/docs/article", site.url);
    let fetch = async |args| call(&site.gateway, "web.fetch", args).await["text"].clone();
    assert_eq!(
        fetch(json!({"url": url, "selector": "article li", "format": "text"})).await,
        "Algae\n\nMolluscs"
    );
    assert_eq!(fetch(json!({"url": url, "selector": "h1", "format": "html"})).await, "<h1>On crabs</h1>");
    assert_eq!(fetch(json!({"url": url, "selector": "h2"})).await, "## Food");
    let cut = call(&site.gateway, "web.fetch", json!({"url": url, "max_length": 10})).await;
    assert_eq!((cut["text"].as_str().unwrap().chars().count(), &cut["truncated"]), (10, &json!(true)));
    assert!(cut["length"].as_u64().unwrap() > 500, "{cut}");
    let error = failure(&site.gateway, "web.fetch", json!({"url": url, "selector": ":::"})).await;
    assert!(error.ends_with("invalid CSS selector ':::'"), "{error}");
    let error = failure(&site.gateway, "web.fetch", json!({"url": url, "selector": "video"})).await;
    assert!(error.contains("matches 'video'; format='html' shows the page"), "{error}");
}

#[tokio::test]
async fn compressed_and_encoded_pages_are_read() {
    let site = with_site("").await;
    let fetch = async |path: &str| {
        text(&site.gateway, "web.fetch", json!({"url": format!("{}{path}", site.url)})).await
    };
    assert_eq!(fetch("/gzip").await, "## Gzip\n\nunpacked");
    assert_eq!(fetch("/brotli").await, "## Brotli\n\nunpacked");
    assert_eq!(fetch("/latin").await, "café naïve");
    assert_eq!(fetch("/data.json").await, r#"{"a": [1, 2]}"#);
    assert_eq!(fetch("/plain").await, "one\n\ntwo");
    assert!(fetch("/agent").await.contains("onetool/"));
    let moved = call(&site.gateway, "web.fetch", json!({"url": format!("{}/moved", site.url)})).await;
    assert_eq!(moved["url"], format!("{}/docs/article", site.url), "the final URL");
}

#[tokio::test]
async fn errors_name_the_problem() {
    let site = with_site(", max_bytes: 1000000").await;
    let impatient = with_site(", timeout: 0.5").await;
    let args = json!({"url": format!("{}/silent", impatient.url)});
    let fetch = failure(&impatient.gateway, "web.fetch", args);
    let error = tokio::time::timeout(Duration::from_secs(30), fetch).await.expect("the request times out");
    assert!(error.contains("took longer than 0.5 s (packs.web.timeout)"), "{error}");
    for (path, expected) in [
        ("/pdf", "is a PDF, which web.fetch cannot read"),
        ("/png", "is image/png, not text"),
        ("/missing", "responded with HTTP 404 Not Found"),
        ("/loop", "too many redirects from"),
        ("/to-file", "unsupported URL scheme 'file'"),
        ("/endless", "is larger than 1000000 bytes (packs.web.max_bytes)"),
        ("/bomb", "is larger than 1000000 bytes"),
        ("/deep", "is nested too deeply"),
    ] {
        let error = failure(&site.gateway, "web.fetch", json!({"url": format!("{}{path}", site.url)})).await;
        assert!(error.contains(expected), "{path}: {error}");
    }
    for url in ["ftp://example.org/", "example.org", "file:///etc/passwd", ""] {
        let error = failure(&site.gateway, "web.fetch", json!({"url": url})).await;
        assert!(error.contains("it must begin with http:// or https://"), "{error}");
    }
    let error = failure(&site.gateway, "web.fetch", json!({"url": "http://127.0.0.1:1/"})).await;
    assert!(error.contains("cannot reach http://127.0.0.1:1/: "), "{error}");
}

#[tokio::test]
async fn a4_private_addresses_are_rejected_unless_configured() {
    let folder = TempDir::new().unwrap();
    let gateway = gateway(folder.path(), "");
    let port = serve(site()).await.rsplit(':').next().unwrap().to_owned();
    for host in ["127.0.0.1", "localhost", "[::1]", "2130706433", "0x7f.1", "[::ffff:127.0.0.1]"] {
        let error =
            failure(&gateway, "web.fetch", json!({"url": format!("http://{host}:{port}/plain")})).await;
        assert!(error.contains("loopback, private or reserved address"), "{host}: {error}");
    }
    for url in ["http://169.254.169.254/latest/meta-data", "http://10.0.0.1/", "https://192.168.1.1/"] {
        let error = failure(&gateway, "web.fetch", json!({"url": url})).await;
        assert!(error.contains("packs.web.allow_private"), "{url}: {error}");
    }
}

#[tokio::test]
async fn h3_a_hostile_page_affects_only_itself() {
    let site = with_site(", timeout: 3").await;
    let before = peak_memory();
    for page in ["/breaks", "/formats", "/deep"] {
        let url = format!("{}{page}", site.url);
        let output = site
            .gateway
            .server()
            .call("web.fetch", object(json!({"url": url})), CallContext::detached())
            .await;
        if let Err(error) = output {
            assert!(error.to_string().contains(&url), "{error}");
        }
        let raw = text(&site.gateway, "web.fetch", json!({"url": url, "format": "html"})).await;
        assert!(raw.starts_with('<'), "{raw}");
    }
    let grown = (peak_memory() - before) >> 20;
    assert!(grown < 100, "hostile pages took {grown} MB in this process");
    assert_eq!(
        text(&site.gateway, "web.fetch", json!({"url": format!("{}/plain", site.url)})).await,
        "one\n\ntwo"
    );
}

#[tokio::test]
async fn h3_pages_are_not_read_without_a_worker_process() {
    let folder = TempDir::new().unwrap();
    let gateway = gateway(folder.path(), "packs: {web: {allow_private: true}}\n");
    let url = format!("{}/plain", serve(site()).await);
    let error = failure(&gateway, "web.fetch", json!({"url": url})).await;
    assert!(error.contains("does not set a worker process"), "{error}");
}

#[tokio::test]
async fn several_pages_are_fetched_concurrently_each_with_its_own_result() {
    let site = with_site("").await;
    let urls: Vec<String> =
        ["/plain", "/missing", "/data.json"].iter().map(|it| format!("{}{it}", site.url)).collect();
    let pages = call(&site.gateway, "web.fetch_batch", json!({"urls": urls})).await["pages"].clone();
    assert_eq!(pages[0]["text"], "one\n\ntwo");
    assert_eq!(pages[1]["url"], urls[1]);
    assert!(pages[1]["error"].as_str().unwrap().ends_with("responded with HTTP 404 Not Found"), "{pages}");
    assert_eq!(pages[2]["text"], r#"{"a": [1, 2]}"#);
}

#[tokio::test]
async fn dsc_4_1_transform_data_runs_unchanged() {
    let folder = TempDir::new().unwrap();
    let url = serve(site()).await;
    let gateway = gateway_with_run(folder.path(), "packs: {web: {allow_private: true}}\n", |_| {});
    let client = Client::connect(gateway.server()).await;
    let urls = [format!("{url}/plain"), format!("{url}/data.json")];
    let arguments = json!({"urls": json!(urls).to_string(), "instruction": "Compare them"});
    let prompt = client.prompt("transform_data", arguments).await.unwrap();
    let block = prompt["messages"][0]["content"]["text"].as_str().unwrap();
    let pages: serde_json::Value =
        serde_json::from_str(&client.call_text("run", json!({"command": block})).await).unwrap();
    assert_eq!(pages[&urls[0]]["text"], "one\n\ntwo");
    assert_eq!(pages[&urls[1]]["text"], r#"{"a": [1, 2]}"#);
}
