//! Schemas are listed in a form that every client accepts.

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
