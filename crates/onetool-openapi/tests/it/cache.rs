//! Cached plans.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use onetool_openapi::{Api, ApiOptions, Origin, load};
use serde_json::{Value, json};

use crate::support::{Upstream, call, openapi, options_at};

fn description() -> Value {
    let mut description = openapi(json!({
        "/a/{id}": {"post": {"operationId": "a", "description": "Does ü.", "requestBody": {"content": {"application/json": {"schema": {"$ref": "#/components/schemas/B"}}}},
            "responses": {"200": {"content": {"application/json": {"schema": {"$ref": "#/components/schemas/B"}}}}}}},
        "/b": {"get": {"operationId": "b", "parameters": [{"$ref": "#/components/parameters/None"}]}},
        "/c": {"delete": {"operationId": "c", "servers": [{"url": "https://c.example"}]}},
    }));
    description["components"] = json!({"schemas": {"B": {"type": "object", "properties": {"x": {"$ref": "#/components/schemas/B"}}}}});
    description
}

async fn loaded(text: &Value, options: &ApiOptions, cache: &Path) -> Api {
    load(Origin::Text { text: text.to_string(), base: None }, options.clone(), Some(cache)).await.unwrap()
}

fn files(directory: &Path) -> Vec<PathBuf> {
    fs::read_dir(directory).unwrap().map(|it| it.unwrap().path()).collect()
}

fn specs(api: &Api) -> Vec<String> {
    api.tools.iter().map(|it| format!("{:?}", it.spec())).collect()
}

#[tokio::test]
async fn oas_1_6_a_cached_plan_gives_the_same_api() {
    let (upstream, directory) = (Upstream::empty().await, tempfile::tempdir().unwrap());
    let cache = directory.path().join("deep/er");
    let options = options_at(&upstream);
    let cold = loaded(&description(), &options, &cache).await;
    let cached = loaded(&description(), &options, &cache).await;
    assert_eq!((cold.report.from_cache, cached.report.from_cache), (false, true));
    assert_eq!(specs(&cold), specs(&cached));
    let mut report = cached.report.clone();
    report.from_cache = false;
    assert_eq!(report, cold.report);
    assert_eq!(report.skipped.len(), 1);
    call(&cached, "a", json!({"id": "1", "x": {}})).await.unwrap();
    let seen = upstream.only();
    assert_eq!((seen.line.as_str(), seen.json()), ("POST /a/1", json!({"x": {}})));
    let file = files(&cache).pop().unwrap();
    assert_eq!(fs::metadata(file).unwrap().permissions().mode() & 0o777, 0o600);
}

#[tokio::test]
async fn oas_1_6_a_changed_description_or_option_gives_a_new_plan() {
    let (upstream, directory) = (Upstream::empty().await, tempfile::tempdir().unwrap());
    let options = options_at(&upstream);
    loaded(&description(), &options, directory.path()).await;
    let mut changed = description();
    changed["info"]["title"] = json!("Other");
    assert!(!loaded(&changed, &options, directory.path()).await.report.from_cache);
    let mut other = options.clone();
    other.exclude.methods = vec!["delete".into()];
    let api = loaded(&description(), &other, directory.path()).await;
    assert_eq!((api.report.from_cache, api.tools.len()), (false, 1));
    let mut other = options.clone();
    other.name = "other".into();
    assert!(!loaded(&description(), &other, directory.path()).await.report.from_cache);
    assert_eq!(files(directory.path()).len(), 4);
    // Credentials and addresses are not part of a plan.
    let mut other = options.clone();
    other.base_url = Some("https://elsewhere.example".parse().unwrap());
    assert!(loaded(&description(), &other, directory.path()).await.report.from_cache);
}

#[tokio::test]
async fn oas_1_6_a_corrupt_or_foreign_plan_is_rebuilt() {
    let (upstream, directory) = (Upstream::empty().await, tempfile::tempdir().unwrap());
    let options = options_at(&upstream);
    let cold = loaded(&description(), &options, directory.path()).await;
    let file = files(directory.path()).pop().unwrap();
    let good = fs::read(&file).unwrap();
    let mut flipped = good.clone();
    *flipped.last_mut().unwrap() ^= 1;
    for corrupt in
        [Vec::new(), b"garbage".to_vec(), good[..good.len() / 2].to_vec(), good[..43].to_vec(), flipped]
    {
        fs::write(&file, corrupt).unwrap();
        let api = loaded(&description(), &options, directory.path()).await;
        assert!(!api.report.from_cache);
        assert_eq!(specs(&api), specs(&cold));
        assert_eq!(fs::read(&file).unwrap(), good);
    }
}

#[tokio::test]
async fn oas_1_6_loading_works_without_a_writable_cache() {
    let (upstream, directory) = (Upstream::empty().await, tempfile::tempdir().unwrap());
    let file = directory.path().join("a-file");
    fs::write(&file, "").unwrap();
    let api = loaded(&description(), &options_at(&upstream), &file.join("cache")).await;
    assert_eq!(api.tools.len(), 2);
}

#[tokio::test]
async fn oas_1_6_plans_of_several_files_are_not_cached() {
    let directory = tempfile::tempdir().unwrap();
    let cache = directory.path().join("cache");
    let mut description =
        openapi(json!({"/a": {"get": {"operationId": "a", "parameters": [{"$ref": "p.json"}]}}}));
    description["servers"] = json!([{"url": "https://x.example"}]);
    let path = directory.path().join("openapi.json");
    fs::write(&path, description.to_string()).unwrap();
    for name in ["one", "two"] {
        fs::write(directory.path().join("p.json"), json!({"name": name, "in": "query"}).to_string()).unwrap();
        let api = load(Origin::File(path.clone()), ApiOptions::new("x"), Some(&cache)).await.unwrap();
        assert_eq!(api.tools[0].spec().signature(), format!("x.a({name}: Any = ...)"));
    }
}
