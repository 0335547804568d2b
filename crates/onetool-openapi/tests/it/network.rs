//! Which addresses can be reached, directly and through redirects.

use onetool_openapi::{ApiOptions, Auth, Credential, LoadError, Origin, load};
use serde_json::json;
use url::Url;

use crate::support::{Reply, Upstream, call, load_text, openapi, options_at};

const SPECIAL: [&str; 10] = [
    "http://127.0.0.1:1/",
    "http://0.0.0.0/",
    "http://10.0.0.1/",
    "http://169.254.169.254/latest",
    "http://[::1]/",
    "http://[::ffff:169.254.169.254]/",
    "http://[fd00:ec2::254]/",
    "http://100.100.100.200/",
    "http://2130706433/",
    "http://0x7f.1/",
];

fn go() -> serde_json::Value {
    openapi(
        json!({"/x": {"get": {"operationId": "go"}, "post": {"operationId": "post", "requestBody": {"content": {"application/json": {}}}}}}),
    )
}

#[tokio::test]
async fn oas_1_7_special_addresses_are_refused_unless_the_configuration_names_them() {
    for url in SPECIAL {
        let mut description = go();
        description["servers"] = json!([{"url": url}]);
        let error = load_text(description.to_string(), ApiOptions::new("x")).await.err().unwrap();
        assert!(matches!(error, LoadError::Blocked(_)), "{url}: {error}");
        let mut allowed = ApiOptions::new("x");
        allowed.allow_private = true;
        load_text(description.to_string(), allowed).await.unwrap();
        let mut named = ApiOptions::new("x");
        named.base_url = Some(url.parse().unwrap());
        load_text(go().to_string(), named).await.unwrap();
        // An operation's own server is checked too; if it is blocked, only that operation is skipped.
        let mut own = go();
        own["servers"] = json!([{"url": "https://api.example"}]);
        own["paths"]["/x"]["get"]["servers"] = json!([{"url": url}]);
        let api = load_text(own.to_string(), ApiOptions::new("x")).await.unwrap();
        assert_eq!((api.tools.len(), api.report.skipped.len()), (1, 1), "{url}");
    }
}

#[tokio::test]
async fn a4_a_name_is_refused_when_it_is_dialled() {
    let upstream = Upstream::empty().await;
    let port = upstream.address.port();
    let mut description = go();
    description["servers"] = json!([{"url": format!("http://localhost:{port}/")}]);
    // Loading does not resolve names; the connection does.
    let api = load_text(description.to_string(), ApiOptions::new("x")).await.unwrap();
    let error = call(&api, "go", json!({})).await.unwrap_err().to_string();
    assert!(error.contains("'localhost' is a loopback, private or reserved address"), "{error}");
    assert!(upstream.take().is_empty());
    let mut named = ApiOptions::new("x");
    named.base_url = Some(format!("http://localhost:{port}/").parse().unwrap());
    let api = load_text(go().to_string(), named).await.unwrap();
    call(&api, "go", json!({})).await.unwrap();
    assert_eq!(upstream.take().len(), 1);
}

#[tokio::test]
async fn a4_redirects_to_special_addresses_and_other_ports_are_refused() {
    let other = Upstream::empty().await;
    let (by_address, by_name) =
        (other.url("/").to_string(), format!("http://localhost:{}/", other.address.port()));
    for target in
        SPECIAL.into_iter().map(str::to_owned).chain([by_address, by_name, "file:///etc/passwd".into()])
    {
        let to = target.clone();
        let upstream = Upstream::start(move |_| Reply::redirect(302, &to)).await;
        let api = load_text(go().to_string(), options_at(&upstream)).await.unwrap();
        let error = call(&api, "go", json!({})).await.unwrap_err().to_string();
        assert!(
            error.contains("reserved address") || error.contains("URL scheme 'file'"),
            "{target}: {error}"
        );
        let error =
            load(Origin::Url(upstream.url("/api.json")), ApiOptions::new("x"), None).await.err().unwrap();
        let error = format!("{error}");
        assert!(
            error.contains("reserved address") || error.contains("URL scheme 'file'"),
            "{target}: {error}"
        );
    }
    assert!(other.take().is_empty());
}

#[tokio::test]
async fn a4_credentials_and_headers_stay_with_their_origin() {
    let other = Upstream::empty().await;
    let to = other.url("/there").to_string();
    let upstream = Upstream::start(move |seen| match seen.line.as_str() {
        "GET /x" => Reply::redirect(307, "/same"),
        _ => Reply::redirect(307, &to),
    })
    .await;
    let mut options = options_at(&upstream);
    options.allow_private = true;
    options.auth = Auth::from(Credential::Bearer("s3cr3t".into()));
    options.headers.insert("X-Api-Key".into(), "s3cr3t".into());
    let api = load_text(go().to_string(), options).await.unwrap();
    call(&api, "go", json!({})).await.unwrap();
    let own = upstream.take();
    assert_eq!(own.len(), 2);
    assert!(own.iter().all(|it| it.header("authorization").is_some() && it.header("x-api-key").is_some()));
    let seen = other.only();
    assert_eq!(seen.line, "GET /there");
    assert!(!format!("{seen:?}").contains("s3cr3t"), "{seen:?}");
}

#[tokio::test]
async fn oas_1_3_redirects_follow_the_rules_of_http_up_to_a_limit() {
    for (status, expected, length) in
        [(303, "GET /done", 0), (302, "GET /done", 0), (307, "POST /done", 7), (308, "POST /done", 7)]
    {
        let upstream = Upstream::start(move |seen| {
            if seen.line.ends_with("/done") {
                Reply::json(&json!({}))
            } else {
                Reply::redirect(status, "done")
            }
        })
        .await;
        let api = load_text(go().to_string(), options_at(&upstream)).await.unwrap();
        call(&api, "post", json!({"body": {"a": 1}})).await.unwrap();
        let last = upstream.take().pop().unwrap();
        assert_eq!((last.line.as_str(), last.body.len()), (expected, length), "{status}");
    }
    let upstream = Upstream::start(|_| Reply::redirect(302, "/again")).await;
    let api = load_text(go().to_string(), options_at(&upstream)).await.unwrap();
    let error = call(&api, "go", json!({})).await.unwrap_err();
    assert_eq!(error.to_string(), "too many redirects (limit 5)");
    assert_eq!(upstream.take().len(), 6);
}

#[tokio::test]
async fn oas_1_7_the_url_of_the_description_is_named_by_the_configuration() {
    let mut description = go();
    description["servers"] = json!([{"url": "/api"}]);
    let upstream = Upstream::start(move |seen| match seen.line.as_str() {
        "GET /openapi.json" => Reply::json(&description),
        _ => Reply::json(&json!({"here": true})),
    })
    .await;
    let api = load(Origin::Url(upstream.url("/openapi.json")), ApiOptions::new("x"), None).await.unwrap();
    assert_eq!(call(&api, "go", json!({})).await.unwrap().structured_content, Some(json!({"here": true})));
    let base: Url = upstream.url("/openapi.json");
    // A URL that only accompanies a text is not named by the configuration.
    let mut text = go();
    text["servers"] = json!([{"url": "/api"}]);
    let error =
        load(Origin::Text { text: text.to_string(), base: Some(base) }, ApiOptions::new("x"), None).await;
    assert!(matches!(error.err().unwrap(), LoadError::Blocked(_)));
}
