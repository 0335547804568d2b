//! The page and its assets, at the root and under a prefix.

use axum::Router;
use axum::routing::get;
use onetool_core::Caller;
use onetool_web::{WebOptions, router};

use crate::{Served, echo};

fn config(page: &str) -> serde_json::Value {
    let (_, rest) = page.split_once(r#"id="config">"#).unwrap();
    serde_json::from_str(rest.split_once("</script>").unwrap().0).unwrap()
}

#[tokio::test]
async fn web_4_1_the_page_is_rendered_with_title_and_flag() {
    for (title, allow) in [("Tools <of> \"ours\"", true), ("Plain", false)] {
        // The page needs no token because it contains no data.
        let options = WebOptions::default().title(title).allow_execute(allow).access(|_| None::<Caller>);
        let served = Served::start(router(vec![echo("secret.tool")], options)).await;
        let response = served.get("/").send().await.unwrap();
        assert_eq!(response.status(), 200);
        assert_eq!(response.headers()["content-type"], "text/html; charset=utf-8");
        assert_eq!(response.headers()["cache-control"], "no-store");
        let page = response.text().await.unwrap();
        assert_eq!(config(&page)["title"], title);
        assert_eq!(config(&page)["allowExecute"], allow);
        assert_eq!(page.contains("Tools &lt;of&gt; &quot;ours&quot;</title>"), allow);
        assert!(!page.contains("secret.tool"));
    }
}

#[tokio::test]
async fn web_4_1_a_mount_responds_with_and_without_a_trailing_slash() {
    let web = || router(vec![echo("a")], WebOptions::default());
    let app = Router::new()
        .route("/", get(async || "the application"))
        .nest_service("/x/y", web())
        .nest("/plain", web())
        .fallback(async || (http::StatusCode::NOT_FOUND, "the fallback"));
    let served = Served::start(app).await;
    for (path, assets) in [("/x/y", "y/assets/"), ("/x/y/", "assets/"), ("/plain", "plain/assets/")] {
        let page = served.get(path).send().await.unwrap().text().await.unwrap();
        assert!(page.contains(&format!("src=\"{assets}main.js\"")), "{path}: {page}");
    }
    for path in ["/x/y/assets/main.js", "/x/y/tools", "/x/y/tools/a", "/plain/tools", "/plain/assets/app.css"]
    {
        assert_eq!(served.get(path).send().await.unwrap().status(), 200, "{path}");
    }
    assert_eq!(served.get("/").send().await.unwrap().text().await.unwrap(), "the application");
    assert_eq!(served.get("/nowhere").send().await.unwrap().text().await.unwrap(), "the fallback");
}

#[tokio::test]
async fn o7_every_response_has_the_security_headers() {
    let served = Served::start(router(vec![echo("a")], WebOptions::default())).await;
    for path in ["/", "/assets/main.js", "/tools", "/tools/nope"] {
        let response = served.get(path).send().await.unwrap();
        let headers = response.headers();
        let policy = headers["content-security-policy"].to_str().unwrap();
        for part in [
            "default-src 'none'",
            "frame-ancestors 'none'",
            "require-trusted-types-for 'script'",
            "base-uri 'none'",
        ] {
            assert!(policy.contains(part), "{path}: {policy}");
        }
        assert!(!policy.contains("unsafe"), "{policy}");
        assert_eq!(headers["x-content-type-options"], "nosniff", "{path}");
        assert_eq!(headers["referrer-policy"], "no-referrer", "{path}");
        assert_eq!(headers["cross-origin-opener-policy"], "same-origin", "{path}");
    }
}

#[tokio::test]
async fn o7_strings_of_tools_are_always_data() {
    let nasty = "<script>alert(1)</script>\"'&\u{2028}";
    let served = Served::start(router(vec![echo(nasty)], WebOptions::default().title(nasty))).await;
    let list = served.get("/tools").send().await.unwrap();
    assert_eq!(list.headers()["content-type"], "application/json");
    let names: serde_json::Value = serde_json::from_str(&list.text().await.unwrap()).unwrap();
    assert_eq!(names[0]["name"], nasty);
    let page = served.get("/").send().await.unwrap().text().await.unwrap();
    assert!(!page.contains("<script>alert"), "{page}");
    assert_eq!(config(&page)["title"], nasty);
}

#[tokio::test]
async fn assets_are_compressed_once_and_known_again_by_their_tag() {
    let served = Served::start(router(vec![echo("a")], WebOptions::default())).await;
    let plain = served.get("/assets/app.css").header("accept-encoding", "identity").send().await.unwrap();
    assert_eq!(plain.headers().get("content-encoding"), None);
    assert_eq!(plain.headers()["content-type"], "text/css; charset=utf-8");
    assert_eq!(plain.headers()["cache-control"], "no-cache");
    let tag = plain.headers()["etag"].clone();
    let text = plain.text().await.unwrap();
    let same = served.get("/assets/app.css").header("if-none-match", &tag).send().await.unwrap();
    assert_eq!((same.status().as_u16(), same.bytes().await.unwrap().len()), (304, 0));
    // By default the client requests gzip and decompresses it.
    assert_eq!(served.get("/assets/app.css").send().await.unwrap().text().await.unwrap(), text);
    let client = reqwest::Client::builder().no_proxy().no_gzip().build().unwrap();
    let raw =
        client.get(served.url("/assets/app.css")).header("accept-encoding", "gzip").send().await.unwrap();
    assert_eq!(raw.headers()["content-encoding"], "gzip");
    assert!(raw.bytes().await.unwrap().len() * 2 < text.len());
    assert_eq!(served.get("/assets/../Cargo.toml").send().await.unwrap().status(), 404);
    assert_eq!(served.get("/assets/nope.js").send().await.unwrap().status(), 404);
}
