//! Random and malformed documents.

use onetool_openapi::ApiOptions;
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::support::load_text;

/// Generates JSON values from keywords that are meaningful in descriptions.
fn value() -> impl Strategy<Value = Value> {
    let word = prop::sample::select(vec![
        "openapi",
        "3.0.0",
        "3.1.0",
        "2.0",
        "swagger",
        "paths",
        "/a/{b}",
        "/c",
        "get",
        "post",
        "parameters",
        "name",
        "in",
        "path",
        "query",
        "header",
        "body",
        "formData",
        "schema",
        "$ref",
        "#/components/schemas/A",
        "#/definitions/A",
        "#",
        "#/paths/~1c",
        "#/components/parameters/A",
        "other.json#/x",
        "components",
        "schemas",
        "definitions",
        "A",
        "type",
        "object",
        "array",
        "properties",
        "items",
        "allOf",
        "oneOf",
        "required",
        "requestBody",
        "content",
        "application/json",
        "multipart/form-data",
        "responses",
        "200",
        "servers",
        "url",
        "https://x.example/{v}",
        "variables",
        "v",
        "default",
        "security",
        "securitySchemes",
        "style",
        "deepObject",
        "explode",
        "encoding",
        "operationId",
        "nullable",
        "enum",
        "pattern",
        "(",
        "host",
        "tags",
        "",
    ]);
    let leaf = prop_oneof![
        word.clone().prop_map(Value::from),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        Just(Value::Null),
        ".{0,8}".prop_map(Value::from),
    ];
    leaf.prop_recursive(6, 64, 8, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
            prop::collection::vec((word.clone(), inner), 0..6).prop_map(|entries| Value::Object(
                entries.into_iter().map(|(key, value)| (key.to_owned(), value)).collect()
            )),
        ]
    })
}

/// Loads a text and builds all schemas. Only a panic or a schema that does not compile is a failure.
fn load_and_build(text: &str) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let mut options = ApiOptions::new("fuzz");
    options.base_url = Some("https://x.example".parse().unwrap());
    if let Ok(api) = runtime.block_on(load_text(text, options)) {
        for tool in &api.tools {
            let schema = Value::Object(tool.spec().input_schema.peek().into_owned());
            assert_eq!(schema["type"], "object");
            jsonschema::meta::validate(&schema)
                .unwrap_or_else(|error| panic!("{error}: {schema}\nof {text}"));
            let validator = jsonschema::validator_for(&schema)
                .unwrap_or_else(|error| panic!("{error}: {schema}\nof {text}"));
            // An endless cycle of references would hang here.
            let _ = validator.is_valid(&json!({"body": [{}], "b": "x", "A": {"A": {}}}));
            let _ = tool.spec().output_schema.as_ref().map(|schema| schema.peek().len());
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn r9_any_operation_any_schemas(item in value(), schemas in value(), parameters in value()) {
        for version in ["3.0.3", "3.1.0"] {
            let document = json!({"openapi": version, "paths": {"/a/{b}": item, "/c": {"post": item, "get": item}},
                                  "components": {"schemas": schemas, "parameters": parameters}});
            load_and_build(&document.to_string());
        }
        load_and_build(&json!({"swagger": "2.0", "paths": {"/c": {"post": item}}, "definitions": schemas, "parameters": parameters}).to_string());
    }

    #[test]
    fn r9_any_body_schema(schema in value(), other in value()) {
        let body = json!({"content": {"application/json": {"schema": schema}, "multipart/form-data": {"schema": other}}});
        let form = json!({"content": {"multipart/form-data": {"schema": schema, "encoding": other}}});
        load_and_build(&json!({"openapi": "3.0.0", "paths": {"/c": {"post": {"requestBody": body, "parameters": [{"name": "b", "in": "query", "schema": other}]},
            "put": {"requestBody": form}}}, "components": {"schemas": {"A": other}}}).to_string());
    }

    #[test]
    fn r9_any_document(document in value()) {
        load_and_build(&document.to_string());
    }

    #[test]
    fn r9_any_text(text in "(openapi: 3.0.0\n)?[ \\-:{}\\[\\]&*a-c\"'|>#\n]{0,200}") {
        load_and_build(&text);
    }

    #[test]
    fn r9_a_truncated_description(cut in 0_usize..600) {
        let text = json!({"openapi": "3.0.3", "paths": {"/a/{b}": {"get": {"operationId": "x", "parameters": [{"name": "b", "in": "path",
            "schema": {"$ref": "#/components/schemas/A"}}], "responses": {"200": {"content": {"application/json": {"schema": {}}}}}}}},
            "components": {"schemas": {"A": {"type": "string"}}}}).to_string();
        load_and_build(&text[..cut.min(text.len())]);
    }
}
