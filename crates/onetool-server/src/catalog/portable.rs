//! Schemas that every client can compile, and schemas that describe values without rejecting any.

use std::borrow::Cow;
use std::cell::Cell;

use onetool_core::JsonObject;
use serde_json::{Value, json};

/// Keywords whose values are maps from names to schemas.
const BY_NAME: [&str; 5] = ["properties", "patternProperties", "$defs", "definitions", "dependentSchemas"];
/// Keywords whose values are lists of schemas.
const LISTS: [&str; 4] = ["allOf", "anyOf", "oneOf", "prefixItems"];
/// Keywords whose values are schemas.
const SINGLE: [&str; 11] = [
    "items",
    "additionalProperties",
    "additionalItems",
    "unevaluatedItems",
    "unevaluatedProperties",
    "contains",
    "propertyNames",
    "not",
    "if",
    "then",
    "else",
];

/// Keywords of a descriptive schema: documentation, types and structure.
const DESCRIPTIVE: [&str; 16] = [
    "$ref",
    "$defs",
    "definitions",
    "title",
    "description",
    "type",
    "properties",
    "items",
    "prefixItems",
    "additionalProperties",
    "allOf",
    "anyOf",
    "oneOf",
    "examples",
    "default",
    "deprecated",
];

/// Maximum length of a listed pattern, in bytes.
const PATTERN_MAX: usize = 1000;

/// Maximum number of patterns; a schema with more is listed without any.
const PATTERNS_MAX: usize = 1000;

/// Omits patterns that are not valid both in ECMA-262 with the `u` flag and in Python.
///
/// A client that compiles schemas rejects the whole list because of one invalid pattern.
pub(super) fn portable(schema: &JsonObject) -> Cow<'_, JsonObject> {
    let count = Cell::new(0);
    let counted = |_: &str| {
        count.set(count.get() + 1);
        true
    };
    all_patterns(schema, &counted);
    // Each one takes time to compile, and an upstream server controls their number.
    let keep = if count.get() <= PATTERNS_MAX { is_portable } else { |_: &str| false };
    if all_patterns(schema, &keep) {
        Cow::Borrowed(schema)
    } else {
        Cow::Owned(with_patterns(schema.clone(), &keep))
    }
}

/// Returns whether every pattern of a schema passes a test.
fn all_patterns(schema: &JsonObject, test: &dyn Fn(&str) -> bool) -> bool {
    let in_value = |value: &Value| value.as_object().is_none_or(|part| all_patterns(part, test));
    schema.iter().all(|(key, value)| match (key.as_str(), value) {
        ("pattern", Value::String(pattern)) => test(pattern),
        ("patternProperties", Value::Object(parts)) => {
            parts.iter().all(|(pattern, part)| test(pattern) && in_value(part))
        }
        (key, Value::Object(parts)) if BY_NAME.contains(&key) => parts.values().all(in_value),
        (key, Value::Array(parts)) if LISTS.contains(&key) || key == "items" => parts.iter().all(in_value),
        (key, value) if SINGLE.contains(&key) => in_value(value),
        _ => true,
    })
}

/// Removes the patterns of a schema that do not pass a test.
fn with_patterns(mut schema: JsonObject, test: &dyn Fn(&str) -> bool) -> JsonObject {
    schema.retain(|key, value| key != "pattern" || value.as_str().is_none_or(test));
    if let Some(Value::Object(parts)) = schema.get_mut("patternProperties") {
        parts.retain(|pattern, _| test(pattern));
    }
    each_part(&mut schema, &mut |part| *part = with_patterns(std::mem::take(part), test));
    schema
}

/// Returns whether clients written in JavaScript and in Python accept a pattern.
///
/// A long pattern is rejected without parsing it, because a hostile one could overflow the parser's stack.
fn is_portable(pattern: &str) -> bool {
    pattern.len() <= PATTERN_MAX && is_ecma(pattern) && is_python(pattern)
}

/// Returns whether JavaScript accepts a pattern with the `u` flag, which validators set.
fn is_ecma(pattern: &str) -> bool {
    let flags = regress::Flags { unicode: true, no_opt: true, ..regress::Flags::default() };
    regress::Regex::with_flags(pattern, flags).is_ok()
}

/// Returns whether Python accepts a pattern that JavaScript accepts.
///
/// Rejects syntax that Python lacks, spells differently, or accepts only in some cases, such as lookbehinds and
/// backreferences.
fn is_python(pattern: &str) -> bool {
    let mut rest = pattern.chars();
    while let Some(c) = rest.next() {
        let after = rest.as_str();
        let is_unsupported = match c {
            '\\' => {
                after.starts_with("u{")
                    || after.starts_with(|c| matches!(c, 'p' | 'P' | 'c' | 'k' | '1'..='9'))
            }
            '(' => after.starts_with("?<"),
            '[' => after.starts_with(']') || after.starts_with("^]"),
            _ => false,
        };
        if is_unsupported {
            return false;
        }
        if c == '\\' {
            rest.next();
        }
    }
    true
}

/// Creates a schema that describes results without rejecting any: vendors violate their own schemas, and a client that
/// validates a response would discard it. The top level stays an object, as MCP requires.
pub(super) fn descriptive(schema: &JsonObject) -> JsonObject {
    let mut relaxed = relaxed(schema.clone());
    relaxed.insert("type".into(), json!("object"));
    relaxed
}

fn relaxed(mut schema: JsonObject) -> JsonObject {
    schema.retain(|key, value| DESCRIPTIVE.contains(&key.as_str()) && *value != Value::Bool(false));
    // Several alternatives may match once none of them rejects anything.
    if let Some(alternatives) = schema.shift_remove("oneOf") {
        schema.entry("anyOf").or_insert(alternatives);
    }
    if let Some(Value::Array(alternatives)) = schema.get_mut("anyOf") {
        alternatives.push(json!({"type": "null"}));
    }
    match schema.get_mut("type") {
        Some(Value::String(one)) if one != "null" => {
            let either = json!([one, "null"]);
            schema.insert("type".into(), either);
        }
        Some(Value::Array(several)) if !several.iter().any(|it| it == "null") => several.push("null".into()),
        _ => {}
    }
    each_part(&mut schema, &mut |part| *part = relaxed(std::mem::take(part)));
    schema
}

/// Visits the schemas directly inside a schema.
fn each_part(schema: &mut JsonObject, visit: &mut dyn FnMut(&mut JsonObject)) {
    let mut visit_value = |value: &mut Value| {
        if let Value::Object(part) = value {
            visit(part);
        }
    };
    for (key, value) in schema {
        match (key.as_str(), value) {
            (key, Value::Object(parts)) if BY_NAME.contains(&key) => {
                parts.values_mut().for_each(&mut visit_value);
            }
            (key, Value::Array(parts)) if LISTS.contains(&key) || key == "items" => {
                parts.iter_mut().for_each(&mut visit_value);
            }
            (key, value) if SINGLE.contains(&key) => visit_value(value),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use onetool_core::validate::{Validator, WorkLimit};

    use super::*;

    fn object(value: Value) -> JsonObject {
        let Value::Object(object) = value else { panic!("{value}") };
        object
    }

    #[test]
    fn seam_2_patterns_that_javascript_rejects_are_omitted() {
        for good in
            ["^a+$", r"\d{3}-\w", r"^\p{L}+$", r"^(?=x)[^\]]*$", "(?<year>[0-9]{4})", r"\u{1F600}", ""]
        {
            assert!(is_ecma(good), "{good}");
        }
        for bad in [r"\p{Print}", r"\_", r"\pL", "(?i)a", r"\Z", "(", "a{2,1}", "[z-a]", r"\-", "(?P<x>a)"] {
            assert!(!is_ecma(bad), "{bad}");
        }
        assert!(!is_portable(&"(".repeat(1_000_000)));
        assert!(is_portable(&format!("{}{}", "(".repeat(100), ")".repeat(100))), "this depth is fine");
        assert!(is_portable("((((a{65535}){65535}){65535}){65535}){65535}"), "compiling it is fast");
        let many: JsonObject = (0..1001).map(|n| (format!("p{n}"), json!({"pattern": "^a$"}))).collect();
        let many = object(json!({"properties": many}));
        assert!(!json!(*portable(&many)).to_string().contains("pattern"), "too many to compile");
        let schema = object(json!({
            "type": "object",
            "properties": {
                "pattern": {"type": "string", "pattern": r"\p{Print}", "maxLength": 3},
                "fine": {"pattern": "^a$"},
                "list": {"items": {"anyOf": [{"pattern": r"\_"}, {"$ref": "#/$defs/x"}]}},
            },
            "patternProperties": {r"\pL": {}, "^x": {"pattern": "["}},
            "$defs": {"x": {"not": {"pattern": r"\Z"}}},
        }));
        let expected = object(json!({
            "type": "object",
            "properties": {
                "pattern": {"type": "string", "maxLength": 3},
                "fine": {"pattern": "^a$"},
                "list": {"items": {"anyOf": [{}, {"$ref": "#/$defs/x"}]}},
            },
            "patternProperties": {"^x": {}},
            "$defs": {"x": {"not": {}}},
        }));
        assert_eq!(*portable(&schema), expected);
        assert!(matches!(portable(&expected), Cow::Borrowed(_)), "a portable schema is not copied");
    }

    #[test]
    fn seam_19_patterns_that_python_rejects_are_omitted() {
        for good in [r"^\\p{1}$", r"[\]^-]\[]?", r"^(?!aws:)(?:\w|\u00e9)+$", "(a)(?=b)", r"\("] {
            assert!(is_python(good), "{good}");
        }
        for bad in [
            r"^[\p{L}\d]+$",
            r"\P{C}",
            r"\u{1F600}",
            r"\cA",
            "(?<year>a)",
            r"(?<y>a)\k<y>",
            r"(a)\1",
            "(?<=a+)b",
            "[]",
            "[^]",
        ] {
            assert!(is_ecma(bad) && !is_portable(bad), "{bad}");
        }
    }

    #[test]
    fn seam_1_a_schema_that_describes_rejects_nothing_that_vendors_send() {
        let strict = object(json!({
            "type": "object",
            "description": "A pet.",
            "required": ["id", "kind"],
            "additionalProperties": false,
            "properties": {
                "id": {"type": "string", "format": "uuid", "pattern": "^[0-9]+$", "minLength": 3},
                "kind": {"type": "string", "enum": ["cat", "dog"]},
                "owner": {"$ref": "#/$defs/owner"},
                "either": {"oneOf": [{"type": "string"}, {"type": "object", "required": ["a"]}]},
                "list": {"type": "array", "items": {"type": "integer", "minimum": 5}, "uniqueItems": true},
            },
            "$defs": {"owner": {"type": ["object"], "required": ["name"], "not": {"type": "string"}}},
        }));
        let listed = descriptive(&strict);
        assert_eq!(
            Value::Object(listed.clone()),
            json!({
                "type": "object",
                "description": "A pet.",
                "properties": {
                    "id": {"type": ["string", "null"]},
                    "kind": {"type": ["string", "null"]},
                    "owner": {"$ref": "#/$defs/owner"},
                    "either": {"anyOf": [{"type": ["string", "null"]}, {"type": ["object", "null"]}, {"type": "null"}]},
                    "list": {"type": ["array", "null"], "items": {"type": ["integer", "null"]}},
                },
                "$defs": {"owner": {"type": ["object", "null"]}},
            })
        );
        let validator = Validator::for_value(&listed, &WorkLimit::FULL);
        for response in [
            json!({}),
            json!({"id": "x", "kind": "bird", "more": 1}),
            json!({"id": null, "owner": null, "either": null, "list": [null, 1, 1]}),
            json!({"either": {"b": 1}, "owner": {}}),
        ] {
            assert_eq!(validator.check(&response, &WorkLimit::FULL).unwrap(), [], "{response}");
        }
    }
}
