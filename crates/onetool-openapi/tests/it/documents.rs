//! Sources of descriptions, references, servers, and invalid descriptions.

use std::fs;

use onetool_openapi::{ApiOptions, Auth, Credential, LoadError, Origin, load};
use serde_json::{Value, json};

use crate::support::{Reply, Upstream, call, load_at, load_text, openapi, tool};

fn pets(version: &str) -> Value {
    json!({"openapi": version, "info": {"title": "Pets", "version": "7"}, "servers": [{"url": "https://pets.example/v1"}],
           "paths": {"/pets/{petId}": {"get": {"operationId": "getPet", "summary": "Reads a pet.",
               "parameters": [{"name": "petId", "in": "path", "required": true, "schema": {"type": "integer"}}]}}}})
}

#[tokio::test]
async fn oas_1_1_json_and_yaml_of_every_version_load_from_text_file_and_url() {
    let swagger = json!({"swagger": "2.0", "info": {"title": "Pets", "version": "7"}, "host": "pets.example", "schemes": ["http", "https"], "basePath": "/v1",
        "paths": {"/pets/{petId}": {"get": {"operationId": "getPet", "parameters": [{"name": "petId", "in": "path", "required": true, "type": "integer"}]}}}});
    for description in [pets("3.0.3"), pets("3.1.0"), swagger] {
        let directory = tempfile::tempdir().unwrap();
        let (json, yaml) = (directory.path().join("api.json"), directory.path().join("api.yaml"));
        fs::write(&json, format!("\u{feff}{description}")).unwrap();
        let yaml_text = serde_saphyr::to_string(&description).unwrap();
        fs::write(&yaml, &yaml_text).unwrap();
        let upstream = Upstream::start(move |_| Reply::new(200, "text/yaml", yaml_text.clone())).await;
        let text = description.to_string();
        for origin in [
            Origin::Text { text, base: None },
            Origin::File(json),
            Origin::File(yaml),
            Origin::Url(upstream.url("/openapi.yaml")),
        ] {
            let api = load(origin.clone(), ApiOptions::new("pets"), None).await.unwrap();
            assert_eq!(api.report.title, "Pets", "{origin:?}");
            assert_eq!(api.report.base_url.unwrap().as_str(), "https://pets.example/v1");
            assert_eq!(api.tools[0].spec().signature(), "pets.get_pet(petId: int)");
        }
    }
}

#[tokio::test]
async fn oas_1_1_yaml_scalars_stay_strings() {
    let yaml = "openapi: 3.1.0\nservers: [{url: 'https://x.example'}]\npaths:\n  /a:\n    get:\n      operationId: no\n      parameters:\n        \
                - {name: on, in: query, schema: {type: string, enum: [yes, no, 'true', 2020-01-01]}}\n      \
                responses:\n        200: {description: ok}\n";
    let api = load_text(yaml, ApiOptions::new("y")).await.unwrap();
    let schema = &tool(&api, "no").spec().input_schema;
    assert_eq!(schema["properties"]["on"]["enum"], json!(["yes", "no", "true", "2020-01-01"]));
}

#[tokio::test]
async fn oas_1_1_references_of_every_kind_are_followed() {
    let upstream = Upstream::empty().await;
    let mut description = openapi(json!({
        "/a/{id}": {
            "parameters": [{"$ref": "#/components/parameters/Alias"}, {"name": "common", "in": "query"}],
            "get": {"operationId": "a", "parameters": [{"name": "common", "in": "query", "required": true}]},
            "put": {"operationId": "put", "requestBody": {"$ref": "#/components/requestBodies/Node"}}
        },
        "/b/{id}": {"$ref": "#/paths/~1a~1{id}"},
        "/c/{undeclared}": {"get": {"operationId": "c", "parameters": [{"$ref": "#/paths/~1a~1%7Bid%7D/parameters/1"}]}},
    }));
    description["components"] = json!({
        "parameters": {"Alias": {"$ref": "#/components/parameters/Id"}, "Id": {"name": "id", "in": "path", "schema": {"$ref": "#/components/schemas/Id"}}},
        "requestBodies": {"Node": {"required": true, "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Node"}}}}},
        "schemas": {"Id": {"type": "string", "maxLength": 3},
                    "Node": {"type": "object", "properties": {"next": {"$ref": "#/components/schemas/Node"}, "id": {"$ref": "#/components/schemas/Id"}}}}
    });
    let api = load_at(&upstream, &description).await;
    let names: Vec<&str> = api.tools.iter().map(|it| it.spec().name.tool()).collect();
    assert_eq!(names[..2], ["a", "put"]);
    assert_eq!((names.len(), names[4]), (5, "c"));
    call(&api, "a", json!({"id": "1", "common": "x"})).await.unwrap();
    assert_eq!(upstream.only().line, "GET /a/1?common=x");
    assert!(crate::support::invalid(tool(&api, "a"), &json!({"id": "1234", "common": "x"})).is_some());
    assert!(crate::support::invalid(tool(&api, "a"), &json!({"id": "1"})).is_some());
    // `id` is taken by the path, so the body is nested. The recursive schema is included once.
    call(&api, "put", json!({"id": "1", "body": {"next": {"next": {"id": "x"}}}})).await.unwrap();
    assert_eq!(upstream.only().json(), json!({"next": {"next": {"id": "x"}}}));
    let definitions = tool(&api, "put").spec().input_schema["$defs"].as_object().unwrap().len();
    assert_eq!(definitions, 2);
    call(&api, "c", json!({"undeclared": "u", "common": "x"})).await.unwrap();
    assert_eq!(upstream.only().line, "GET /c/u?common=x");
}

#[tokio::test]
async fn oas_1_6_one_bad_operation_is_reported_and_the_rest_load() {
    let mut description = openapi(json!({
        "/good": {"get": {"operationId": "good"}},
        "/p": {"get": {"operationId": "dangling", "parameters": [{"$ref": "#/components/parameters/None"}]}},
        "/q": {"get": {"operationId": "cycle", "parameters": [{"$ref": "#/components/parameters/A"}]}},
        "/r": {"get": {"operationId": "nowhere", "parameters": [{"name": "x", "in": "moon"}]}},
        "/s": {"get": {"operationId": "nameless", "parameters": [{"in": "query"}]}},
        "/t": {"get": "what"},
        "/u": [],
        "/v": {"post": {"operationId": "schema", "requestBody": {"content": {"application/json": {"schema": {"type": "array", "items": {"$ref": "#/components/schemas/None"}}}}}}},
        "/w": {"get": {"operationId": "server", "servers": [{"url": "ftp://x.example"}]}},
        "x-extension": {"get": {}},
    }));
    description["components"] = json!({"parameters": {"A": {"$ref": "#/components/parameters/B"}, "B": {"$ref": "#/components/parameters/A"}}});
    let mut options = ApiOptions::new("api");
    options.base_url = Some("https://x.example".parse().unwrap());
    let api = load_text(description.to_string(), options).await.unwrap();
    let names: Vec<&str> = api.tools.iter().map(|it| it.spec().name.tool()).collect();
    assert_eq!(names, ["good", "nameless", "schema", "server"]);
    let skipped: Vec<(&str, &str)> =
        api.report.skipped.iter().map(|(key, reason)| (key.as_str(), reason.as_str())).collect();
    assert_eq!(
        skipped,
        [
            ("dangling", "'#/components/parameters/None' does not exist"),
            ("cycle", "reference chain is too long (limit 32)"),
            ("nowhere", "parameter 'x' has an invalid 'in': 'moon'"),
            ("GET /t", "it is not an object"),
            ("/u", "its path item is not an object"),
        ]
    );
    assert_eq!(
        api.report.warnings,
        [
            "skipped a parameter without a name in /s",
            "'#/components/schemas/None' does not exist; accepting any value there"
        ]
    );
}

#[tokio::test]
async fn oas_1_6_a_hundred_bad_operations_are_reported_one_by_one() {
    let broken = (0..100).map(|number| {
        let parameter = json!({"$ref": format!("#/components/parameters/None{number}")});
        (
            format!("/p{number}"),
            json!({"get": {"operationId": format!("bad{number}"), "parameters": [parameter]}}),
        )
    });
    let mut paths: serde_json::Map<String, Value> = broken.collect();
    paths.insert("/good".into(), json!({"get": {"operationId": "good"}}));
    let mut options = ApiOptions::new("api");
    options.base_url = Some("https://x.example".parse().unwrap());
    let api = load_text(openapi(Value::Object(paths)).to_string(), options).await.unwrap();
    assert_eq!(api.tools.iter().map(|it| it.spec().name.tool()).collect::<Vec<_>>(), ["good"]);
    assert_eq!(api.report.skipped.len(), 100);
    assert_eq!(api.report.skipped[99].0, "bad99");
}

#[tokio::test]
async fn oas_1_6_a_description_of_30_mb_loads_and_a_truncated_one_says_where_it_ends() {
    let long = "x".repeat(1 << 20);
    let paths: serde_json::Map<String, Value> = (0..30)
        .map(|number| {
            (format!("/p{number}"), json!({"get": {"operationId": format!("o{number}"), "x-note": long}}))
        })
        .collect();
    let mut text = openapi(Value::Object(paths)).to_string();
    assert!(text.len() > 30_000_000);
    let mut options = ApiOptions::new("api");
    options.base_url = Some("https://x.example".parse().unwrap());
    let api = load_text(text.clone(), options.clone()).await.unwrap();
    assert_eq!((api.tools.len(), api.report.document_bytes), (30, text.len()));
    text.truncate(20_000_000);
    let error = load_text(text, options).await.err().unwrap().to_string();
    assert!(
        error.contains("is not valid JSON") && error.contains("EOF while parsing a string at line 1"),
        "{error}"
    );
}

#[tokio::test]
async fn oas_1_6_an_invalid_description_says_why() {
    let deep =
        format!("{{\"openapi\": \"3.0.0\", \"info\": {}1{}}}", "[".repeat(200_000), "]".repeat(200_000));
    let bomb = "a: &a [x,x,x,x,x,x,x,x,x,x]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b,*b,*b,*b,*b,*b,*b]\n\
                d: &d [*c,*c,*c,*c,*c,*c,*c,*c,*c,*c]\ne: &e [*d,*d,*d,*d,*d,*d,*d,*d,*d,*d]\nf: &f [*e,*e,*e,*e,*e,*e,*e,*e,*e,*e]\n\
                g: &g [*f,*f,*f,*f,*f,*f,*f,*f,*f,*f]\nh: [*g,*g,*g,*g,*g,*g,*g,*g,*g,*g]\n";
    for (text, expected) in [
        ("{\"openapi\": \"3.0.0\", \"paths\": {", "is not valid JSON: EOF while parsing"),
        ("{} x", "is not valid JSON: trailing characters"),
        ("openapi: [", "is not valid YAML"),
        ("", "is not an OpenAPI description"),
        ("[]", "neither 'openapi' nor 'swagger' is set"),
        ("{\"openapi\": \"4.0\"}", "OpenAPI 4.0 is not supported"),
        ("{\"swagger\": \"1.2\"}", "Swagger 1.2 is not supported"),
        (bomb, "is not valid YAML"),
    ] {
        let error = load_text(text, ApiOptions::new("x")).await.err().unwrap();
        assert!(error.to_string().contains(expected), "{text}: {error}");
    }
    // Deep nesting in an unused part is not an error, and in a used part it must not crash.
    assert_eq!(load_text(deep, ApiOptions::new("x")).await.unwrap().report.operations, 0);
    let deep = format!(
        "{{\"openapi\": \"3.0.0\", \"paths\": {{\"/a\": {{\"get\": {}1{}}}}}}}",
        "[".repeat(100_000),
        "]".repeat(100_000)
    );
    let api = load_text(deep, ApiOptions::new("x")).await.unwrap();
    assert!(api.report.skipped[0].1.contains("recursion limit"), "{:?}", api.report);
    let mut options = ApiOptions::new("x");
    options.limits.document_bytes = 10;
    let error = load_text("{\"openapi\": \"3.0.0\"}", options).await.err().unwrap();
    assert!(matches!(error, LoadError::TooLarge { limit: 10, .. }), "{error}");
}

#[tokio::test]
async fn oas_1_3_servers_may_have_variables_be_relative_and_belong_to_paths_or_operations() {
    let upstream = Upstream::empty().await;
    let port = upstream.address.port().to_string();
    let mut description = openapi(json!({
        "/a": {"get": {"operationId": "a"}},
        "/b": {"servers": [{"url": "/of-path"}], "get": {"operationId": "b"},
               "post": {"operationId": "c", "servers": [{"url": "http://{host}:{port}/{base}/", "variables": {
                   "host": {"default": "127.0.0.1"}, "port": {"default": port}, "base": {"enum": ["of-operation"]}}}]}},
        "/d": {"get": {"operationId": "d", "servers": [{"url": "https://{none}.example"}]}},
        "/e?fixed=1": {"get": {"operationId": "e", "parameters": [{"name": "q", "in": "query"}]}},
    }));
    description["servers"] = json!([{"url": "../api/v2"}]);
    let text = description.to_string();
    let base = Some(upstream.url("/docs/openapi.json"));
    let mut options = ApiOptions::new("api");
    options.allow_private = true;
    let api = load(Origin::Text { text: text.clone(), base }, options, None).await.unwrap();
    for (name, args, line) in [
        ("a", json!({}), "GET /api/v2/a"),
        ("b", json!({}), "GET /of-path/b"),
        ("c", json!({}), "POST /of-operation/b"),
        ("e", json!({"q": 2}), "GET /api/v2/e?fixed=1&q=2"),
    ] {
        call(&api, name, args).await.unwrap();
        assert_eq!(upstream.only().line, line);
    }
    assert_eq!(api.report.skipped[0].0, "d");
}

#[tokio::test]
async fn seam_3_base_url_replaces_every_server_and_keeps_the_path_that_a_server_adds() {
    let upstream = Upstream::empty().await;
    let with_server = |id: &str, url: &str| json!({"get": {"operationId": id, "servers": [{"url": url}]}});
    let mut description = openapi(json!({
        "/a": {"get": {"operationId": "plain"}},
        "/b": with_server("same", "https://other.example/v1"),
        "/c": with_server("longer", "https://uploads.example/v1/upload/"),
        "/d": with_server("another", "https://other.example/v1beta"),
        "/e": with_server("relative", "/v1/inner"),
        "/f": with_server("unnamed", "https://{tenant}.example/v1"),
        "/g": {"servers": [{"url": "https://paths.example/v1/path"}], "get": {"operationId": "path"}},
    }));
    let expected = [
        ("plain", "GET /base/a"),
        ("same", "GET /base/b"),
        ("longer", "GET /base/upload/c"),
        ("another", "GET /base/v1beta/d"),
        ("relative", "GET /base/inner/e"),
        ("unnamed", "GET /base/f"),
        ("path", "GET /base/path/g"),
    ];
    description["servers"] = json!([{"url": "https://api.example/v1"}]);
    let mut options = ApiOptions::new("api");
    options.base_url = Some(upstream.url("/base/"));
    options.auth = Auth::from(Credential::Bearer("canary".into()));
    let api = load_text(description.to_string(), options).await.unwrap();
    assert_eq!((&api.report.skipped, &api.report.warnings), (&vec![], &vec![]));
    for (name, line) in expected {
        call(&api, name, json!({})).await.unwrap();
        let seen = upstream.only();
        assert_eq!(seen.line, line, "{name}");
        assert!(seen.header("authorization").is_some(), "the operator named this server");
    }
    // Without a base URL, a relative server is resolved against the first server.
    description["servers"] = json!([{"url": upstream.url("/v1").as_str()}]);
    let mut options = ApiOptions::new("api");
    options.allow_private = true;
    let api = load_text(description.to_string(), options).await.unwrap();
    call(&api, "relative", json!({})).await.unwrap();
    assert_eq!(upstream.only().line, "GET /v1/inner/e");
}

#[tokio::test]
async fn seam_4_a_description_without_a_server_says_so_and_lists_its_tools() {
    let description = openapi(json!({"/a": {"get": {"operationId": "a"}}}));
    let api = load_text(description.to_string(), ApiOptions::new("pets")).await.unwrap();
    assert_eq!(api.tools.len(), 1);
    assert_eq!(
        api.report.warnings,
        ["no usable server URL (the description lists no servers); set openapi.pets.base_url"]
    );
    let error = call(&api, "a", json!({})).await.unwrap_err().to_string();
    assert_eq!(error, "the description has no usable server URL; set openapi.pets.base_url");
}

#[tokio::test]
async fn seam_5_a_parameter_without_a_name_is_skipped_but_its_operation_is_not() {
    let upstream = Upstream::empty().await;
    let parameters = json!([{"in": "query"}, {"name": "q", "in": "query"}, {"name": "", "in": "header"}]);
    let description = openapi(json!({"/a": {"get": {"operationId": "a", "parameters": parameters}}}));
    let api = load_at(&upstream, &description).await;
    assert_eq!(api.report.warnings, ["skipped a parameter without a name in /a"]);
    call(&api, "a", json!({"q": "x"})).await.unwrap();
    assert_eq!(upstream.only().line, "GET /a?q=x");
}

#[tokio::test]
async fn seam_6_control_characters_in_a_description_are_accepted() {
    let description = "openapi: 3.0.0\nservers: [{url: 'https://x.example'}]\n\
        paths: {/a: {get: {operationId: a, summary: \"it\u{92}s \u{80}\", description: it\u{92}s}}}\n";
    for text in
        [description.to_owned(), openapi(json!({"/a": {"get": {"summary": "it\u{92}s"}}})).to_string()]
    {
        let api = load_text(text, ApiOptions::new("x")).await.unwrap();
        assert!(api.tools[0].spec().description.contains("it"), "{:?}", api.tools[0].spec().description);
    }
}

#[tokio::test]
async fn oas_1_3_several_descriptions_can_be_loaded() {
    let (one, other) = (Upstream::empty().await, Upstream::empty().await);
    let description = openapi(json!({"/a": {"get": {"operationId": "a"}}}));
    let (first, second) = (load_at(&one, &description).await, load_at(&other, &description).await);
    call(&first, "a", json!({})).await.unwrap();
    call(&second, "a", json!({})).await.unwrap();
    assert_eq!((one.take().len(), other.take().len()), (1, 1));
}

#[tokio::test]
async fn a4_files_outside_the_folder_of_the_description_are_not_read() {
    let outer = tempfile::tempdir().unwrap();
    let directory = outer.path().join("api");
    fs::create_dir_all(directory.join("parts")).unwrap();
    let parameter = |name: &str| json!({"P": {"name": name, "in": "query"}}).to_string();
    fs::write(outer.path().join("secret.json"), parameter("secret")).unwrap();
    fs::write(directory.join("parts/common.yaml"), "P: {$ref: 'more.json#/P'}").unwrap();
    fs::write(directory.join("parts/more.json"), parameter("found")).unwrap();
    fs::write(directory.join("broken.json"), "{").unwrap();
    std::os::unix::fs::symlink(outer.path().join("secret.json"), directory.join("link.json")).unwrap();
    let absolute = outer.path().join("secret.json");
    let references = [
        ("good", "./parts/common.yaml#/P".to_owned()),
        ("up", "../secret.json#/P".to_owned()),
        ("sneaky", "parts/../../secret.json#/P".to_owned()),
        ("escaped", "%2e%2e/secret.json#/P".to_owned()),
        ("absolute", format!("{}#/P", absolute.display())),
        ("scheme", format!("file://{}#/P", absolute.display())),
        ("link", "link.json#/P".to_owned()),
        ("web", "http://127.0.0.1/x.json#/P".to_owned()),
        ("gone", "gone.json#/P".to_owned()),
        ("broken", "broken.json#/P".to_owned()),
    ];
    let paths: serde_json::Map<String, Value> = references
        .iter()
        .map(|(id, reference)| {
            (format!("/{id}"), json!({"get": {"operationId": id, "parameters": [{"$ref": reference}]}}))
        })
        .collect();
    let mut description = openapi(Value::Object(paths));
    description["servers"] = json!([{"url": "https://x.example"}]);
    fs::write(directory.join("openapi.json"), description.to_string()).unwrap();
    let api = load(Origin::File(directory.join("openapi.json")), ApiOptions::new("x"), None).await.unwrap();
    let signatures: Vec<String> = api.tools.iter().map(|it| it.spec().signature()).collect();
    assert_eq!(signatures, ["x.good(found: Any = ...)"]);
    assert_eq!(api.report.skipped.len(), 9, "{:?}", api.report.skipped);
    for (key, reason) in &api.report.skipped {
        let expected = match key.as_str() {
            "link" => "is a symlink that points outside",
            "gone" => "cannot read",
            "broken" => "is not valid JSON",
            _ => "may be outside the description's directory",
        };
        assert!(reason.contains(expected), "{key}: {reason}");
    }
}

#[tokio::test]
async fn a4_references_by_url_stay_on_the_origin_of_the_description() {
    let mut description = openapi(json!({
        "/good": {"get": {"operationId": "good", "parameters": [{"$ref": "common.json#/P"}]}},
        "/bad": {"get": {"operationId": "bad", "parameters": [{"$ref": "http://127.0.0.1:1/common.json#/P"}]}},
    }));
    description["servers"] = json!([{"url": "/"}]);
    let upstream = Upstream::start(move |seen| match seen.line.as_str() {
        "GET /d/openapi.json" => Reply::json(&description),
        "GET /d/common.json" => Reply::json(&json!({"P": {"name": "found", "in": "query"}})),
        _ => Reply::new(404, "text/plain", ""),
    })
    .await;
    let api = load(Origin::Url(upstream.url("/d/openapi.json")), ApiOptions::new("x"), None).await.unwrap();
    assert_eq!(api.tools[0].spec().signature(), "x.good(found: Any = ...)");
    assert_eq!(
        api.report.skipped[0].1,
        "'http://127.0.0.1:1/common.json' is on a different origin than the description"
    );
    let missing =
        load(Origin::Url(upstream.url("/nope?key=s3cret")), ApiOptions::new("x"), None).await.err().unwrap();
    assert!(missing.to_string().contains("HTTP 404") && !missing.to_string().contains("s3cret"), "{missing}");
}
