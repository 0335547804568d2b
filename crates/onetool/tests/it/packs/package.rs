//! The pack `package` against a server on loopback that implements the APIs of the registries.

use axum::extract::Path;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use axum::{Json, Router};
use onetool::Gateway;
use onetool_testkit::Client;
use serde_json::{Value, json};
use tempfile::TempDir;

use super::{call, failure, serve};
use crate::{gateway, gateway_with_run};

async fn npm(Path(name): Path<String>) -> Response {
    match name.as_str() {
        "react" | "@types/node" => {
            Json(json!({"name": name, "version": "19.2.0", "description": "d", "license": "MIT", "dist": {}}))
                .into_response()
        }
        _ => (StatusCode::NOT_FOUND, Json(json!("Not Found"))).into_response(),
    }
}

async fn pypi(Path(name): Path<String>) -> Response {
    match name.as_str() {
        "zope-interface" => Json(json!({"info": {"name": "zope.interface", "version": "8.0", "summary": "s",
            "requires_python": ">=3.9", "license_expression": null}, "urls": [{"upload_time_iso_8601": "2026-01-02T03:04:05Z"}]}))
        .into_response(),
        "broken" => (StatusCode::INTERNAL_SERVER_ERROR, "later").into_response(),
        "nonsense" => "no json".into_response(),
        _ => StatusCode::NOT_FOUND.into_response(),
    }
}

const SERDE: &str = r#"{"name":"serde","vers":"1.0.9","deps":[],"cksum":"","features":{},"yanked":false}
{"name":"serde","vers":"1.0.228","deps":[],"cksum":"","features":{},"yanked":false,"rust_version":"1.56"}
{"name":"serde","vers":"1.0.230","deps":[],"cksum":"","features":{},"yanked":true}
{"name":"serde","vers":"2.0.0-rc.1","deps":[],"cksum":"","features":{},"yanked":false}
"#;

async fn start() -> String {
    let index = Router::new()
        .route("/se/rd/serde", get(|| async { SERDE }))
        .route("/2/cc", get(|| async { r#"{"name":"cc","vers":"0.1.0-alpha.2","yanked":false}"# }))
        .route("/3/f/foo", get(|| async { r#"{"name":"foo","vers":"0.1.0","yanked":true}"# }));
    let router = Router::new()
        .route("/npm/{name}/latest", get(npm))
        .route("/pypi/{name}/json", get(pypi))
        .nest("/index", index);
    serve(router).await
}

fn yaml(url: &str) -> String {
    format!("packs: {{package: {{npm_url: '{url}/npm/', pypi_url: '{url}', crates_url: '{url}/index'}}}}\n")
}

async fn with_registries() -> (Gateway, TempDir) {
    let folder = TempDir::new().unwrap();
    let gateway = gateway(folder.path(), &yaml(&start().await));
    (gateway, folder)
}

#[tokio::test]
async fn the_newest_versions_of_several_packages_are_looked_up() {
    let (gateway, _folder) = with_registries().await;
    let packages = async |tool: &str, names: Value| {
        call(&gateway, tool, json!({"names": names})).await["packages"].clone()
    };
    assert_eq!(
        packages("package.npm", json!(["react", "@types/node", "reakt"])).await,
        json!([{"name": "react", "version": "19.2.0", "description": "d", "license": "MIT"},
            {"name": "@types/node", "version": "19.2.0", "description": "d", "license": "MIT"},
            {"name": "reakt", "error": "npm has no package 'reakt'; check the spelling"}])
    );
    assert_eq!(
        packages("package.pypi", json!("Zope.Interface")).await,
        json!([{"name": "zope.interface", "version": "8.0", "description": "s", "requires_python": ">=3.9",
            "released": "2026-01-02T03:04:05Z"}])
    );
    let crates = packages("package.crates", json!(["serde", "CC"])).await;
    assert_eq!(
        crates[0],
        json!({"name": "serde", "version": "1.0.228", "rust_version": "1.56"}),
        "stable, not yanked"
    );
    assert_eq!(
        crates[1],
        json!({"name": "cc", "version": "0.1.0-alpha.2"}),
        "a prerelease if there is no release"
    );
}

#[tokio::test]
async fn if_all_packages_fail_the_call_fails() {
    let (gateway, _folder) = with_registries().await;
    for (tool, names, expected) in [
        ("package.npm", json!("../../etc"), "invalid package name '../../etc'"),
        ("package.npm", json!(["no", "no"]), "npm has no package 'no'; check the spelling"),
        ("package.crates", json!("a/b"), "invalid package name 'a/b'"),
        ("package.crates", json!("foo"), "crates.io has no usable version of 'foo'; all are yanked"),
        ("package.pypi", json!("broken"), "PyPI responded with HTTP 500: later"),
        ("package.pypi", json!("nonsense"), "the response of PyPI is not valid JSON: expected ident"),
    ] {
        let error = failure(&gateway, tool, json!({"names": names})).await;
        assert!(error.contains(expected), "{error}");
    }
    let folder = TempDir::new().unwrap();
    let unreachable = crate::gateway(folder.path(), "packs: {package: {crates_url: 'http://127.0.0.1:1'}}\n");
    let error = failure(&unreachable, "package.crates", json!({"names": "serde"})).await;
    assert!(error.contains("cannot reach crates.io; check the network"), "{error}");
}

#[tokio::test]
async fn the_shipped_snippet_for_packages_runs_end_to_end() {
    let folder = TempDir::new().unwrap();
    let gateway = gateway_with_run(folder.path(), &yaml(&start().await), |_| {});
    let client = Client::connect(gateway.server()).await;
    let command = "$pkg_latest npm=\"react, @types/node\" crates=serde";
    let result: Value =
        serde_json::from_str(&client.call_text("run", json!({"command": command})).await).unwrap();
    assert_eq!(result["npm"][1]["version"], "19.2.0");
    assert_eq!(result["crates"][0]["version"], "1.0.228");
    assert_eq!(result.get("pypi"), None);
}
