//! Credentials: where they are sent, and where they are not.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use onetool_openapi::{Api, ApiOptions, Auth, Credential, LoadError};
use serde_json::{Value, json};

use crate::support::{Recorded, Reply, Upstream, call, load_text, openapi, options_at};

const SECRET: &str = "s3cr3t-canary";

fn secured(schemes: Value, security: Value) -> Value {
    let mut description = openapi(json!({"/x": {"get": {"operationId": "go"}}}));
    description["components"] = json!({"securitySchemes": schemes});
    description["security"] = security;
    description
}

async fn sent(description: Value, auth: Auth) -> Recorded {
    let upstream = Upstream::empty().await;
    let mut options = options_at(&upstream);
    options.auth = auth;
    let api = load_text(description.to_string(), options).await.unwrap();
    call(&api, "go", json!({})).await.unwrap();
    upstream.only()
}

fn basic() -> Credential {
    Credential::Basic { username: "user".into(), password: SECRET.into() }
}

#[tokio::test]
async fn oas_1_3_credentials_go_where_the_security_scheme_says() {
    let key = |place: &str| json!({"k": {"type": "apiKey", "in": place, "name": "X-Key"}});
    let use_k = json!([{"k": []}]);
    let api_key = || Auth::from(Credential::ApiKey(SECRET.into()));
    let bearer = || Auth::from(Credential::Bearer(SECRET.into()));
    let seen = sent(secured(key("header"), use_k.clone()), api_key()).await;
    assert_eq!(seen.header("x-key"), Some(SECRET));
    let seen = sent(secured(key("query"), use_k.clone()), api_key()).await;
    assert_eq!(seen.line, format!("GET /x?X-Key={SECRET}"));
    let seen = sent(secured(key("cookie"), use_k.clone()), api_key()).await;
    assert_eq!(
        (seen.line.as_str(), seen.header("cookie").unwrap()),
        ("GET /x", format!("X-Key={SECRET}").as_str())
    );
    for scheme in [
        json!({"type": "http", "scheme": "bearer"}),
        json!({"type": "oauth2", "flows": {}}),
        json!({"type": "apiKey", "in": "header", "name": "authorization"}),
    ] {
        let seen = sent(secured(json!({"k": scheme}), use_k.clone()), bearer()).await;
        assert_eq!(seen.header("authorization").unwrap(), format!("Bearer {SECRET}"), "{scheme}");
    }
    let seen =
        sent(secured(json!({"k": {"type": "http", "scheme": "basic"}}), use_k.clone()), Auth::from(basic()))
            .await;
    assert_eq!(seen.header("authorization"), Some("Basic dXNlcjpzM2NyM3QtY2FuYXJ5"));
    // Swagger 2.0 has them under another key.
    let swagger = json!({"swagger": "2.0", "paths": {"/x": {"get": {"operationId": "go", "security": [{"k": []}]}}},
                         "securityDefinitions": {"k": {"type": "apiKey", "in": "header", "name": "X-Key"}}});
    assert_eq!(sent(swagger, api_key()).await.header("x-key"), Some(SECRET));
}

#[tokio::test]
async fn oas_1_3_the_first_requirement_with_complete_credentials_is_used() {
    let schemes = json!({"a": {"type": "apiKey", "in": "header", "name": "A"}, "b": {"type": "apiKey", "in": "header", "name": "B"},
                         "t": {"type": "http", "scheme": "bearer"}});
    let named = |names: &[&str]| {
        let credential =
            |name: &&str| ((*name).to_owned(), Credential::ApiKey(format!("key-of-{name}").as_str().into()));
        Auth { default: None, schemes: names.iter().map(credential).collect() }
    };
    let both =
        sent(secured(schemes.clone(), json!([{"t": []}, {"a": [], "b": []}])), named(&["a", "b"])).await;
    assert_eq!(
        (both.header("a"), both.header("b"), both.header("authorization")),
        (Some("key-of-a"), Some("key-of-b"), None)
    );
    let one = sent(secured(schemes.clone(), json!([{"a": [], "b": []}])), named(&["a"])).await;
    assert_eq!(one.header("a"), None);
    // A public operation gets no credential; one without security requirements gets the default.
    let mut open = secured(schemes.clone(), json!([{"t": []}]));
    open["paths"]["/x"]["get"]["security"] = json!([]);
    assert_eq!(sent(open, Auth::from(Credential::Bearer(SECRET.into()))).await.header("authorization"), None);
    let silent = openapi(json!({"/x": {"get": {"operationId": "go"}}}));
    assert!(sent(silent, Auth::from(basic())).await.header("authorization").unwrap().starts_with("Basic "));
}

/// Loads an API that accepts only the current token, from a server that also issues tokens.
async fn with_tokens(accepts_header: bool) -> (Upstream, Api, Arc<AtomicUsize>) {
    let valid = Arc::new(AtomicUsize::new(1));
    let current = valid.clone();
    let upstream = Upstream::start(move |seen| {
        let number = current.load(Ordering::SeqCst);
        if seen.line == "POST /token" {
            if !accepts_header && seen.header("authorization").is_some() {
                return Reply::new(401, "application/json", r#"{"error":"invalid_client"}"#);
            }
            return Reply::json(&json!({"access_token": format!("token-{number}"), "expires_in": 3600}));
        }
        if seen.header("authorization") == Some(&format!("Bearer token-{number}")) {
            return Reply::json(&json!({"ok": true}));
        }
        Reply::new(401, "application/json", r#"{"error":"expired"}"#)
    })
    .await;
    let schemes = json!({"o": {"type": "oauth2", "flows": {"clientCredentials": {"tokenUrl": upstream.url("/token").as_str(), "scopes": {}}}}});
    let mut options = options_at(&upstream);
    options.auth = Auth::from(Credential::ClientCredentials {
        client_id: "me".into(),
        client_secret: SECRET.into(),
        scopes: vec![],
        token_url: None,
    });
    let api =
        load_text(secured(schemes, json!([{"o": ["read", "write"]}])).to_string(), options).await.unwrap();
    (upstream, api, valid)
}

#[tokio::test]
async fn oas_1_3_client_tokens_are_fetched_cached_and_renewed_once() {
    let (upstream, api, valid) = with_tokens(true).await;
    let go = async || call(&api, "go", json!({})).await.unwrap();
    assert!(!go().await.is_error);
    go().await;
    let seen = upstream.take();
    let lines: Vec<&str> = seen.iter().map(|it| it.line.as_str()).collect();
    assert_eq!(lines, ["POST /token", "GET /x", "GET /x"]);
    assert_eq!(seen[0].text(), "grant_type=client_credentials&scope=read+write");
    assert_eq!(seen[0].header("authorization"), Some("Basic bWU6czNjcjN0LWNhbmFyeQ=="));
    // The token is rejected before it expires: fetch a new one and retry once.
    valid.store(2, Ordering::SeqCst);
    assert!(!go().await.is_error);
    let lines: Vec<String> = upstream.take().into_iter().map(|it| it.line).collect();
    assert_eq!(lines, ["GET /x", "POST /token", "GET /x"]);
    let (upstream, api, _) = with_tokens(false).await;
    call(&api, "go", json!({})).await.unwrap();
    assert!(upstream.take()[1].text().ends_with(&format!("&client_id=me&client_secret={SECRET}")));
}

#[tokio::test]
async fn oas_1_3_a_rejected_token_is_renewed_only_once() {
    let upstream = Upstream::start(|seen| match seen.line.as_str() {
        "POST /token" => Reply::json(&json!({"access_token": "useless-token"})),
        _ => Reply::new(401, "text/plain", "bad token useless-token"),
    })
    .await;
    let mut options = options_at(&upstream);
    options.auth = Auth::from(Credential::ClientCredentials {
        client_id: "me".into(),
        client_secret: SECRET.into(),
        scopes: vec!["s".into()],
        token_url: Some(upstream.url("/token")),
    });
    let api =
        load_text(openapi(json!({"/x": {"get": {"operationId": "go"}}})).to_string(), options).await.unwrap();
    let output = call(&api, "go", json!({})).await.unwrap();
    assert!(output.is_error);
    assert_eq!(output.content[0].as_text(), Some("HTTP 401 Unauthorized: bad token [redacted]"));
    assert_eq!(upstream.take().len(), 4);
}

#[tokio::test]
async fn l2_credentials_never_show_in_errors_or_debug_output() {
    let upstream = Upstream::start(|seen| {
        let echo = format!("{{\"you\": \"sent {} and {:?}\"}}", seen.line, seen.headers);
        Reply::new(403, "application/json", echo.replace("\\\"", "").replace("\", \"", " "))
    })
    .await;
    let schemes = json!({"q": {"type": "apiKey", "in": "query", "name": "key"}, "b": {"type": "http", "scheme": "basic"}});
    let mut options = options_at(&upstream);
    options.auth.schemes.insert("q".into(), Credential::ApiKey("quite/secret+key".into()));
    options.auth.schemes.insert("b".into(), basic());
    options.headers.insert("X-Version".into(), "header-canary".into());
    let debug = format!("{options:?}");
    let api =
        load_text(secured(schemes, json!([{"q": [], "b": []}])).to_string(), options.clone()).await.unwrap();
    let output = call(&api, "go", json!({})).await.unwrap();
    let shown = format!("{output:?}{debug}");
    assert!(upstream.only().line.contains("key=quite%2Fsecret%2Bkey"));
    for secret in
        ["quite/secret+key", "quite%2Fsecret%2Bkey", SECRET, "dXNlcjpzM2NyM3QtY2FuYXJ5", "header-canary"]
    {
        assert!(!shown.contains(secret), "{secret} in {shown}");
    }
    // Nothing listens there: the error names the host, not the query.
    options.base_url = Some("http://127.0.0.1:9/".parse().unwrap());
    let schemes = json!({"q": {"type": "apiKey", "in": "query", "name": "key"}});
    let api = load_text(secured(schemes, json!([{"q": []}])).to_string(), options).await.unwrap();
    let error = format!("{:?}", call(&api, "go", json!({})).await.unwrap_err());
    assert!(!error.contains("secret") && error.contains("127.0.0.1:9"), "{error}");
}

#[tokio::test]
async fn a5_credentials_over_plain_http_to_another_host_are_refused_at_load() {
    let description = openapi(json!({"/x": {"get": {"operationId": "go"}}}));
    let load = async |base: &str, change: fn(&mut ApiOptions)| {
        let mut options = ApiOptions::new("x");
        options.base_url = Some(base.parse().unwrap());
        change(&mut options);
        load_text(description.to_string(), options).await.map(|_| ())
    };
    let bearer = |options: &mut ApiOptions| options.auth = Auth::from(Credential::Bearer(SECRET.into()));
    let header = |options: &mut ApiOptions| _ = options.headers.insert("X-Api-Key".into(), SECRET.into());
    let tokens = |options: &mut ApiOptions| {
        options.auth = Auth::from(Credential::ClientCredentials {
            client_id: "me".into(),
            client_secret: SECRET.into(),
            scopes: vec![],
            token_url: Some("http://auth.example/t".parse().unwrap()),
        });
    };
    for (base, change) in [
        ("http://api.example", bearer as fn(&mut ApiOptions)),
        ("http://10.0.0.7", header),
        ("https://api.example", tokens),
    ] {
        let error = load(base, change).await.unwrap_err();
        assert!(
            matches!(error, LoadError::PlainHttp { .. }) && !error.to_string().contains(SECRET),
            "{error}"
        );
    }
    load("http://api.example", |_| {}).await.unwrap();
    load("http://api.example", |options| _ = options.headers.insert("X-Version".into(), "2".into()))
        .await
        .unwrap();
    load("https://api.example", bearer).await.unwrap();
    load("http://localhost:1", bearer).await.unwrap();
    // An operation with its own server gets no credentials, so plain http is fine.
    let mut mixed = openapi(
        json!({"/x": {"get": {"operationId": "go"}}, "/y": {"get": {"operationId": "y", "servers": [{"url": "http://other.example"}]}}}),
    );
    mixed["servers"] = json!([{"url": "https://api.example"}]);
    let mut options = ApiOptions::new("x");
    bearer(&mut options);
    let api = load_text(mixed.to_string(), options).await.unwrap();
    assert_eq!(api.tools.len(), 2);
    assert_eq!(
        api.report.warnings,
        [
            "operations at http://other.example are called without credentials, which are sent to one origin only"
        ]
    );
}

#[tokio::test]
async fn p4_a_server_that_only_the_description_names_gets_no_credentials_of_the_operators() {
    let (named, other) = (Upstream::empty().await, Upstream::empty().await);
    let mut description = openapi(json!({
        "/x": {"get": {"operationId": "x"}}, "/y": {"get": {"operationId": "y", "servers": [{"url": other.url("/").as_str()}]}}
    }));
    description["servers"] = json!([{"url": named.url("/").as_str()}]);
    let mut options = ApiOptions::new("api");
    options.auth = Auth::from(Credential::Bearer(SECRET.into()));
    options.headers.insert("X-Key".into(), SECRET.into());
    options.allow_private = true;
    let api = load_text(description.to_string(), options).await.unwrap();
    call(&api, "x", json!({})).await.unwrap();
    call(&api, "y", json!({})).await.unwrap();
    assert!(named.only().header("authorization").is_some());
    let seen = other.only();
    assert_eq!((seen.header("authorization"), seen.header("x-key")), (None, None));
}

fn client(token_url: Option<url::Url>) -> Credential {
    Credential::ClientCredentials {
        client_id: "me".into(),
        client_secret: SECRET.into(),
        scopes: vec![],
        token_url,
    }
}

fn with_token_url(token_url: &str) -> String {
    let flow = json!({"tokenUrl": token_url, "scopes": {}});
    let schemes = json!({"o": {"type": "oauth2", "flows": {"clientCredentials": flow}}});
    secured(schemes, json!([{"o": []}])).to_string()
}

#[tokio::test]
async fn h11_a_client_secret_is_not_sent_to_a_token_url_that_only_the_description_names() {
    let (api, thief) = (Upstream::empty().await, Upstream::empty().await);
    let stolen = thief.url("/token");
    let origin = |upstream: &Upstream| upstream.url("/").origin().ascii_serialization();
    let any = Auth::from(client(None));
    let named = Auth { default: None, schemes: [("o".to_owned(), client(None))].into() };
    for (auth, key) in
        [(any, "auth.client_credentials.token_url"), (named, "auth.schemes.o.client_credentials.token_url")]
    {
        let mut options = options_at(&api);
        options.allow_private = true;
        options.auth = auth;
        let error = load_text(with_token_url(stolen.as_str()), options).await.map(|_| ()).unwrap_err();
        let expected = format!(
            "the description asks to send the client secret to {}, but the API is at {}; if you trust that tokenUrl, \
             set {key} to it",
            origin(&thief),
            origin(&api)
        );
        assert_eq!(error.to_string(), expected);
    }
    assert!(thief.take().is_empty());
    // The operator may allow that URL, and the description may name a URL on the origin of its API.
    for (described, given) in [(stolen.as_str(), Some(&stolen)), (api.url("/token").as_str(), None)] {
        let mut options = options_at(&api);
        options.auth = Auth::from(client(given.cloned()));
        load_text(with_token_url(described), options).await.unwrap();
    }
}

#[tokio::test]
async fn h11_a_client_secret_does_not_follow_a_redirect() {
    let thief = Upstream::empty().await;
    let target = thief.url("/token").to_string();
    let api = Upstream::start(move |_| Reply {
        status: 307,
        headers: vec![("location", target.clone())],
        body: vec![],
    })
    .await;
    let mut options = options_at(&api);
    options.allow_private = true;
    options.auth = Auth::from(client(None));
    let loaded = load_text(with_token_url(api.url("/token").as_str()), options).await.unwrap();
    let error = call(&loaded, "go", json!({})).await.unwrap_err().to_string();
    assert!(error.contains("cannot get an OAuth2 token: HTTP 307"), "{error}");
    assert!(thief.take().is_empty());
}

#[tokio::test]
async fn h11_credentials_go_to_another_server_than_the_descriptions_only_if_the_operator_says_so() {
    let (home, other) = (Upstream::empty().await, Upstream::empty().await);
    let mut description = openapi(json!({
        "/x": {"get": {"operationId": "x"}},
        "/y": {"get": {"operationId": "y", "servers": [{"url": other.url("/").as_str()}]}},
    }));
    let load = async |description: &Value, base: Option<url::Url>, change: fn(&mut ApiOptions)| {
        let mut options = ApiOptions::new("api");
        options.allow_private = true;
        change(&mut options);
        let origin = onetool_openapi::Origin::Text { text: description.to_string(), base };
        onetool_openapi::load(origin, options, None).await
    };
    let bearer = |options: &mut ApiOptions| options.auth = Auth::from(Credential::Bearer(SECRET.into()));
    let header = |options: &mut ApiOptions| _ = options.headers.insert("X-Api-Key".into(), SECRET.into());
    // The description is at `home` and names a server at `other`.
    description["servers"] = json!([{"url": other.url("/").as_str()}]);
    for change in [bearer as fn(&mut ApiOptions), header] {
        let error = load(&description, Some(home.url("/spec.json")), change).await.map(|_| ()).unwrap_err();
        let text = error.to_string();
        assert!(matches!(error, LoadError::ForeignServer { .. }), "{text}");
        assert!(text.contains("set base_url") && !text.contains(SECRET), "{text}");
    }
    load(&description, Some(home.url("/spec.json")), |_| {}).await.unwrap();
    // A description on disk is trusted, and so is the server it names, but not the own server of a single operation.
    description["servers"] = json!([{"url": home.url("/").as_str()}]);
    for base in [None, Some(home.url("/spec.json"))] {
        let api = load(&description, base, bearer).await.unwrap();
        call(&api, "x", json!({})).await.unwrap();
        call(&api, "y", json!({})).await.unwrap();
        assert!(home.only().header("authorization").is_some());
        assert_eq!(other.only().header("authorization"), None);
    }
}

#[tokio::test]
async fn h11_a_token_of_any_lifetime_is_used() {
    for lifetime in ["1e400", "99999999999999999999", "-5", "1.5e3", "\"3600\"", "null", "[]"] {
        let response = format!(r#"{{"access_token": "token-of-mine", "expires_in": {lifetime}}}"#);
        let upstream = Upstream::start(move |seen| match seen.line.as_str() {
            "POST /token" => Reply::new(200, "application/json", response.clone()),
            _ => Reply::json(&json!({"ok": true})),
        })
        .await;
        let mut options = options_at(&upstream);
        options.auth = Auth::from(client(None));
        let api = load_text(with_token_url(upstream.url("/token").as_str()), options).await.unwrap();
        assert!(!call(&api, "go", json!({})).await.unwrap().is_error, "{lifetime}");
        let seen = upstream.take();
        assert_eq!(seen.last().unwrap().header("authorization"), Some("Bearer token-of-mine"), "{lifetime}");
    }
}
