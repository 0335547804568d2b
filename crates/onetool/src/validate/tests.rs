//! Schemas that clients accept, and arguments that do not fit.

use std::sync::Arc;

use onetool_core::JsonObject;
use serde_json::{Value, json};

use super::*;

fn object(value: Value) -> JsonObject {
    value.as_object().cloned().unwrap()
}

#[test]
fn n5_a_listed_schema_is_an_object_without_a_union_at_the_top() {
    let schema = Arc::new(object(json!({
        "properties": {"a": {"type": "string"}},
        "required": ["a"],
        "oneOf": [
            {"properties": {"b": {"type": "integer"}, "c": {}}, "required": ["b", "c"]},
            {"$ref": "#/$defs/Second"},
        ],
        "$defs": {"Second": {"properties": {"d": {}}, "required": ["c"]}},
    })));
    let listed = listed_schema(&schema);
    assert_eq!(listed["type"], "object");
    assert!(!listed.contains_key("oneOf"));
    let names: Vec<&String> = listed["properties"].as_object().unwrap().keys().collect();
    assert_eq!(names, ["a", "b", "c", "d"]);
    assert_eq!(listed["required"], json!(["a", "c"]));
    assert_eq!(listed_schema(&Arc::new(JsonObject::new()))["type"], "object");
}

#[test]
fn n5_a_schema_that_is_fine_is_listed_as_it_is() {
    let schema = Arc::new(object(json!({"type": "object", "properties": {"z": {}, "a": {}}})));
    assert!(Arc::ptr_eq(&schema, &listed_schema(&schema)));
}

#[test]
fn n3_a_schema_that_does_not_compile_lets_nothing_pass() {
    for schema in [
        json!({"type": "string"}),
        json!({"type": "object", "properties": {"a": {"type": "strin"}}}),
        json!({"type": "object", "required": "a"}),
        json!({"properties": {"a": {"$ref": "#/$defs/None"}}}),
        json!({"properties": {"a": {"$ref": "https://example.org/schema.json"}}}),
        json!({"properties": {"a": {"pattern": "("}}}),
    ] {
        let validator = Validator::compile(&object(schema.clone()));
        assert!(validator.broken().is_some(), "{schema}");
        let errors = validator.check(&JsonObject::new());
        assert_eq!(errors[0].keyword.as_deref(), Some("schema"));
        assert!(errors[0].message.starts_with("Invalid schema: "), "{errors:?}");
    }
}

#[test]
fn errors_say_where_and_why() {
    let schema = json!({"type": "object", "required": ["q"],
        "properties": {"q": {"type": "string"}, "n": {"type": "array", "items": {"type": "integer"}}}});
    let validator = Validator::compile(&object(schema));
    let errors = validator.check(&object(json!({"n": [1, "x"]})));
    let found: Vec<_> = errors.iter().map(|it| (it.path.as_str(), it.keyword.as_deref())).collect();
    assert!(found.contains(&("/n/1", Some("type"))), "{errors:?}");
    assert!(found.contains(&("", Some("required"))), "{errors:?}");
    let long = "x".repeat(5000);
    assert!(validator.check(&object(json!({"q": [long]})))[0].message.len() < 400);
}
