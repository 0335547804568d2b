//! Masks secrets in arguments before they are stored.

use onetool_core::JsonObject;
use serde_json::{Map, Value};

/// The replacement for a secret. The page never sends it as a value.
const MASK: &str = "••••••";
/// Substrings of names whose values are secret.
const SECRET_NAMES: [&str; 7] = ["secret", "token", "passw", "apikey", "api_key", "api-key", "credential"];
/// Maximum depth at which arguments are inspected; deeper values are masked entirely.
const DEPTH: usize = 32;

/// Masks the values whose schema or name marks them as secret.
pub(super) fn masked(args: &JsonObject, schema: &JsonObject) -> JsonObject {
    object(args, Some(schema), schema, DEPTH)
}

fn object(args: &JsonObject, schema: Option<&JsonObject>, root: &JsonObject, depth: usize) -> JsonObject {
    let properties = schema.and_then(|schema| schema.get("properties")).and_then(Value::as_object);
    let mask = |(name, part): (&String, &Value)| {
        let schema = properties.and_then(|it| it.get(name)).and_then(|it| resolved(it, root));
        let part = if is_secret_name(name) && !part.is_boolean() && !part.is_null() {
            MASK.into()
        } else {
            value(part, schema, root, depth)
        };
        (name.clone(), part)
    };
    args.iter().map(mask).collect()
}

fn value(part: &Value, schema: Option<&JsonObject>, root: &JsonObject, depth: usize) -> Value {
    let keyword = |key: &str| schema.and_then(|schema| schema.get(key));
    let is_secret = keyword("format").is_some_and(|it| it == "password")
        || keyword("writeOnly").is_some_and(|it| it == &Value::Bool(true));
    if is_secret || depth == 0 {
        return MASK.into();
    }
    match part {
        Value::Object(inner) => Value::Object(object(inner, schema, root, depth - 1)),
        Value::Array(items) => {
            let schema = keyword("items").and_then(|it| resolved(it, root));
            items.iter().map(|item| value(item, schema, root, depth - 1)).collect()
        }
        other => other.clone(),
    }
}

fn is_secret_name(name: &str) -> bool {
    let name = name.to_lowercase();
    SECRET_NAMES.iter().any(|part| name.contains(part))
}

/// Follows a single reference within the schema. A secret behind two references is masked only if its name matches.
fn resolved<'a>(schema: &'a Value, root: &'a JsonObject) -> Option<&'a Map<String, Value>> {
    let schema = schema.as_object()?;
    let Some(reference) = schema.get("$ref").and_then(Value::as_str) else { return Some(schema) };
    let (section, name) = reference.strip_prefix("#/")?.split_once('/')?;
    root.get(section)?.get(name)?.as_object()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn l2_secrets_are_hidden_by_schema_and_by_name() {
        let schema = json!({
            "properties": {
                "pin": {"type": "string", "format": "password"},
                "login": {"$ref": "#/$defs/Login"},
                "keys": {"type": "array", "items": {"writeOnly": true}},
            },
            "$defs": {"Login": {"properties": {"code": {"writeOnly": true}}}},
        });
        let args = json!({
            "pin": "1234",
            "login": {"code": "x", "user": "ada"},
            "keys": ["a", "b"],
            "api_key": "k",
            "headers": {"Authorization-Token": "t"},
            "token": {"value": "v"},
            "query": "rust",
        });
        let object = |value: serde_json::Value| value.as_object().cloned().unwrap();
        let masked = Value::Object(masked(&object(args), &object(schema)));
        assert_eq!(
            masked,
            json!({
                "pin": MASK,
                "login": {"code": MASK, "user": "ada"},
                "keys": [MASK, MASK],
                "api_key": MASK,
                "headers": {"Authorization-Token": MASK},
                "token": MASK,
                "query": "rust",
            })
        );
    }
}
