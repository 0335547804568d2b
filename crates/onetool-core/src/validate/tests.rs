//! Valid and invalid values, error messages, and hostile schemas.

use std::time::Duration;

use serde_json::{Value, json};

use super::{GrowthError, Validator, WorkLimit, WorkLimitExceeded, check_growth};
use crate::JsonObject;

fn object(value: Value) -> JsonObject {
    value.as_object().cloned().unwrap()
}

fn growth(schema: &Value) -> Result<(), GrowthError> {
    check_growth(schema.as_object().unwrap())
}

fn compile(schema: Value) -> Validator {
    Validator::for_arguments(&object(schema), &WorkLimit::FULL)
}

fn paths(schema: Value, value: &Value) -> Vec<String> {
    let errors = compile(schema).check(value, &WorkLimit::FULL).unwrap();
    errors.into_iter().map(|error| error.path).collect()
}

#[test]
fn n3_no_value_is_valid_against_an_invalid_schema() {
    for schema in [
        json!({"type": "string"}),
        json!({"type": "object", "properties": {"a": {"type": "strin"}}}),
        json!({"type": "object", "required": "a"}),
        json!({"properties": {"a": 5}}),
        json!({"properties": {"a": {"$ref": "#/$defs/None"}}}),
        json!({"properties": {"a": {"$ref": "https://example.org/schema.json"}}}),
        json!({"properties": {"a": {"pattern": "("}}}),
    ] {
        let validator = compile(schema.clone());
        assert!(validator.schema_error().is_some(), "{schema}");
        let errors = validator.check(&json!({}), &WorkLimit::FULL).unwrap();
        assert_eq!(errors[0].keyword.as_deref(), Some("schema"));
        assert!(errors[0].message.starts_with("Invalid schema: "), "{errors:?}");
    }
}

#[test]
fn errors_say_where_and_why() {
    let schema = json!({"type": "object", "required": ["q"],
        "properties": {"q": {"type": "string"}, "n": {"type": "array", "items": {"type": "integer"}}}});
    let validator = compile(schema);
    let errors = validator.check(&json!({"n": [1, "x"]}), &WorkLimit::QUICK).unwrap();
    let found: Vec<_> = errors.iter().map(|it| (it.path.as_str(), it.keyword.as_deref())).collect();
    assert!(found.contains(&("/n/1", Some("type"))), "{errors:?}");
    assert!(found.contains(&("", Some("required"))), "{errors:?}");
    let long = json!({"q": ["x".repeat(5000)]});
    assert!(validator.check(&long, &WorkLimit::QUICK).unwrap()[0].message.len() < 400);
}

#[test]
fn an_error_in_the_intended_variant_names_its_field() {
    let schema = json!({"properties": {"list": {"items": {"oneOf": [
        {"type": "object", "required": ["kind"], "properties": {"kind": {"const": "file"}, "size": {"type": "integer"}}},
        {"type": "object", "required": ["kind"], "properties": {"kind": {"const": "link"}, "size": {"type": "string"}}},
        {"type": "string", "minLength": 3}
    ]}}}});
    let errors = |item: Value| paths(schema.clone(), &json!({"list": [item]}));
    assert_eq!(errors(json!({"kind": "file", "size": "x"})), ["/list/0/size"]);
    assert_eq!(errors(json!("ab")), ["/list/0"]);
    // No variant is a candidate, so the error is about the item itself.
    assert_eq!(errors(json!({"kind": "other"})), ["/list/0"]);
    assert!(errors(json!({"kind": "link", "size": "x"})).is_empty());
}

#[test]
fn counting_does_not_change_the_meaning_of_a_schema() {
    // Property names that are keywords, data that looks like schemas, and closed objects.
    let schema = json!({"type": "object", "additionalProperties": false, "unevaluatedProperties": false,
        "properties": {
            "enum": {"type": "string"}, "properties": {"const": {"a": {"b": 1}}}, "default": {"enum": [{"c": {}}]},
            "t": {"$ref": "#/x-shared/t"},
        },
        "dependentRequired": {"enum": ["t"]},
        "x-shared": {"t": {"type": "integer"}}});
    assert!(
        paths(
            schema.clone(),
            &json!({"enum": "x", "t": 1, "properties": {"a": {"b": 1}}, "default": {"c": {}}})
        )
        .is_empty()
    );
    assert_eq!(paths(schema.clone(), &json!({"t": "x"})), ["/t"]);
    assert_eq!(paths(schema.clone(), &json!({"enum": "x"})), [""]);
    assert_eq!(paths(schema.clone(), &json!({"properties": {"a": {}}})), ["/properties"]);
    assert!(!paths(schema, &json!({"x-onetool-step": true})).is_empty());
    let old = json!({"$schema": "http://json-schema.org/draft-07/schema#",
        "definitions": {"a": {"type": "integer"}}, "properties": {"n": {"$ref": "#/definitions/a", "type": "string"}}});
    assert!(paths(old, &json!({"n": 1})).is_empty(), "this draft ignores siblings of a reference");
}

/// Each definition applies the next one twice.
fn doubled(keyword: &str, levels: usize) -> Value {
    let next = |level: usize| json!({"$ref": format!("#/$defs/d{}", level + 1)});
    let mut definitions: JsonObject = (0..levels)
        .map(|level| (format!("d{level}"), json!({keyword: [next(level), next(level)]})))
        .collect();
    definitions.insert(format!("d{levels}"), json!({"required": ["a"]}));
    json!({"type": "object", "$ref": "#/$defs/d0", "$defs": definitions})
}

#[test]
fn h4_references_that_multiply_are_found_and_named() {
    for keyword in ["allOf", "anyOf", "oneOf"] {
        let error = growth(&doubled(keyword, 31)).unwrap_err();
        assert_eq!(error, GrowthError::Exponential { at: "#/$defs/d13".into() }, "{keyword}");
        let validator = compile(doubled(keyword, 31));
        assert_eq!(
            validator.schema_error(),
            Some("references grow exponentially: '#/$defs/d13' expands to more than 1000000 schemas")
        );
        assert!(growth(&doubled(keyword, 10)).is_ok());
    }
    let circular = json!({"$defs": {"a": {"allOf": [{"$ref": "#/$defs/b"}]}, "b": {"$ref": "#/$defs/a"}}, "$ref": "#/$defs/a"});
    assert!(matches!(growth(&circular), Err(GrowthError::Circular { .. })));
    let chain: JsonObject =
        (0..100).map(|i| (format!("d{i}"), json!({"$ref": format!("#/$defs/d{}", i + 1)}))).collect();
    let chain = json!({"$ref": "#/$defs/d0", "$defs": chain});
    assert!(matches!(growth(&chain), Err(GrowthError::TooDeep { .. })));
}

#[test]
fn h4_recursive_schemas_are_fine() {
    let tree = json!({"type": "object", "properties": {"left": {"$ref": "#"}, "right": {"$ref": "#"},
        "any": {"anyOf": [{"type": "string"}, {"type": "array", "items": {"$ref": "#/properties/any"}}]}}});
    growth(&tree).unwrap();
    let value = (0..60).fold(json!({"any": [["x"]]}), |inner, _| json!({"left": {}, "right": inner}));
    assert!(paths(tree, &value).is_empty());
}

#[test]
fn h4_a_check_that_multiplies_ends() {
    // Few enough for the schema to be accepted, but too many to evaluate for each of 1000 items.
    let mut schema = doubled("allOf", 17);
    schema["properties"] = json!({"list": {"items": {"$ref": "#/$defs/d0"}}, "a": {}});
    growth(&schema).unwrap();
    let validator = compile(schema);
    let items: Vec<Value> = (0..1000).map(|i| json!({"a": i})).collect();
    let value = json!({"a": 1, "list": items});
    assert_eq!(validator.check(&value, &WorkLimit::QUICK), Err(WorkLimitExceeded));
    assert_eq!(
        validator.check(&value, &WorkLimit { steps: 1_000_000, ..WorkLimit::FULL }),
        Err(WorkLimitExceeded)
    );
    assert_eq!(validator.check(&json!({"a": 1}), &WorkLimit::FULL), Ok(Vec::new()), "a smaller value passes");
}

#[test]
fn h4_errors_that_multiply_with_the_depth_of_the_value_end() {
    for keyword in ["allOf", "oneOf", "anyOf"] {
        let again = json!({"properties": {"a": {"$ref": "#"}}});
        let schema = json!({"type": "object", keyword: [again, again]});
        growth(&schema).unwrap();
        let value = (0..60).fold(json!(5), |inner, _| json!({"a": inner}));
        let errors = compile(schema).check(&value, &WorkLimit::FULL).unwrap();
        assert!(!errors.is_empty(), "{keyword}");
    }
}

/// A chain of references by anchor.
fn chain(length: usize) -> Value {
    let link = |i: usize| json!({"$anchor": format!("a{i}"), "allOf": [{"$ref": format!("#a{}", i + 1)}]});
    let mut links: JsonObject = (0..length).map(|i| (format!("d{i}"), link(i))).collect();
    links.insert("end".into(), json!({"$anchor": format!("a{length}")}));
    json!({"type": "object", "$ref": "#a0", "$defs": links})
}

#[test]
fn h4_references_that_cannot_be_followed_here_are_few() {
    assert!(compile(chain(10)).schema_error().is_none());
    let error = "more than 16 references by anchor or id; use '#/$defs/NAME' instead";
    assert_eq!(compile(chain(50_000)).schema_error(), Some(error));
    let mut hidden = doubled("allOf", 40);
    hidden["$defs"]["d0"] = json!({"$id": "urn:other", "$ref": "#/x", "x": doubled("allOf", 40)});
    assert!(growth(&hidden).is_err());
    let own = json!({"$id": "https://example.org/a", "$ref": "https://example.org/a#/$defs/x", "$defs": {"x": {"required": ["b"]}}});
    assert_eq!(paths(own, &json!({})), [""]);
}

#[test]
fn h4_a_deep_stack_ends_the_check_and_not_the_process() {
    let schema =
        (0..30).fold(json!({"properties": {"a": {"$ref": "#"}}}), |inner, _| json!({"allOf": [inner]}));
    let validator = compile(schema);
    let value = (0..100).fold(json!({}), |inner, _| json!({"a": inner}));
    let low = WorkLimit { stack_bytes: 64 << 10, ..WorkLimit::FULL };
    assert_eq!(validator.check(&value, &low), Err(WorkLimitExceeded));
    assert_eq!(validator.check(&json!({"a": {}}), &WorkLimit::FULL), Ok(Vec::new()));
}

#[test]
fn h4_patterns_that_backtrack_endlessly_are_stopped() {
    let validator = compile(json!({"properties": {"a": {"pattern": "^(a|a)*(?=b)$"}}}));
    assert_eq!(validator.schema_error(), None);
    let value = json!({"a": "a".repeat(40)});
    assert!(
        !validator.check(&value, &WorkLimit::FULL).unwrap().is_empty(),
        "a value that cannot be checked is invalid"
    );
}

#[test]
fn h4_a_check_ends_at_its_time_limit() {
    let validator = compile(json!({"properties": {"a": {"items": {"type": "integer"}}}}));
    let value = json!({"a": vec![1; 1000]});
    let late = WorkLimit { time: Duration::ZERO, ..WorkLimit::FULL };
    assert_eq!(validator.check(&value, &late), Err(WorkLimitExceeded));
}
