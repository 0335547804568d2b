//! Schemas of OpenAPI 2.0, 3.0 and 3.1 → JSON Schema 2020-12 that compiles.
//!
//! Only keywords that JSON Schema knows, with values that its meta-schema accepts, get through; a wrong one is left
//! out rather than the operation. Everything is made laxer, never stricter: the API itself has the last word.

use std::collections::HashMap;

use onetool_core::JsonObject;
use serde_json::{Value, json};

/// The flavour of schemas that a document is written in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Dialect {
    Swagger2,
    OpenApi30,
    OpenApi31,
}

/// Longer examples say no more and cost a model's attention.
const EXAMPLE_MAX: usize = 200;

/// What a reference is replaced by.
pub(crate) trait References {
    /// Returns the name under `$defs` of what `reference` points at; `None` to accept anything there.
    ///
    /// `in_place` says that the reference concerns the same value as the schema that is being translated, not a part
    /// of it. A circle of such references has no end.
    fn name_of(&mut self, reference: &str, in_place: bool) -> Option<String>;
}

/// Translates schemas of one document.
pub(crate) struct Translator<'a> {
    pub(crate) dialect: Dialect,
    pub(crate) references: &'a mut dyn References,
    pub(crate) patterns: &'a mut Patterns,
}

impl Translator<'_> {
    /// Translates a schema that describes a value of its own.
    pub(crate) fn schema(&mut self, schema: Value) -> Value {
        self.translate(schema, false)
    }

    /// Translates a definition, in which references that concern the same value are told apart.
    pub(crate) fn definition(&mut self, schema: Value) -> Value {
        self.translate(schema, true)
    }

    fn translate(&mut self, schema: Value, in_place: bool) -> Value {
        match schema {
            Value::Object(schema) => Value::Object(self.object(schema, in_place)),
            Value::Bool(false) => Value::Bool(false),
            _ => json!({}),
        }
    }

    fn object(&mut self, mut source: JsonObject, in_place: bool) -> JsonObject {
        let nullable = is_true(source.get("nullable")) || is_true(source.get("x-nullable"));
        let mut out = JsonObject::new();
        if let Some(Value::String(reference)) = source.get("$ref") {
            match self.references.name_of(reference, in_place) {
                Some(name) => out.insert("$ref".into(), format!("#/$defs/{name}").into()),
                None => None,
            };
            if self.dialect != Dialect::OpenApi31 {
                // What stands beside a reference means nothing before 3.1, but a description is welcome.
                source.retain(|key, _| key == "description");
            }
        }
        let source_has = |key: &str, source: &JsonObject| is_true(source.get(key));
        let exclusive_minimum = source_has("exclusiveMinimum", &source);
        let exclusive_maximum = source_has("exclusiveMaximum", &source);
        for (key, value) in source {
            let (key, value) = match (key.as_str(), value) {
                ("minimum", value @ Value::Number(_)) if exclusive_minimum => {
                    ("exclusiveMinimum".into(), value)
                }
                ("maximum", value @ Value::Number(_)) if exclusive_maximum => {
                    ("exclusiveMaximum".into(), value)
                }
                ("items", Value::Array(items)) => ("prefixItems".into(), Value::Array(items)),
                ("example", value) if !value.is_null() => ("examples".into(), Value::Array(vec![value])),
                (_, value) => (key, value),
            };
            if let Some(value) = self.keyword(&key, value, in_place) {
                out.insert(key, value);
            }
        }
        drop_one_sided_required(&mut out);
        if nullable { or_null(out) } else { out }
    }

    /// Returns what a keyword becomes; `None` if it says nothing, or nothing valid.
    fn keyword(&mut self, key: &str, value: Value, in_place: bool) -> Option<Value> {
        match key {
            "type" => types(value),
            "description" | "title" | "format" | "contentEncoding" | "contentMediaType" => {
                value.as_str().is_some_and(|it| !it.trim().is_empty()).then_some(value)
            }
            "enum" => value.as_array().is_some_and(|it| !it.is_empty()).then_some(value),
            "const" => Some(value),
            "default" => (!value.is_null()).then_some(value),
            "examples" => {
                let says_something = value.as_array().is_some_and(|it| !it.is_empty()) && is_helpful(&value);
                says_something.then_some(value)
            }
            "deprecated" | "readOnly" | "writeOnly" => is_true(Some(&value)).then_some(value),
            "uniqueItems" => value.is_boolean().then_some(value),
            "minimum" | "maximum" | "exclusiveMinimum" | "exclusiveMaximum" => {
                value.is_number().then_some(value)
            }
            "multipleOf" => value.as_f64().is_some_and(|it| it > 0.0).then_some(value),
            "minLength" | "maxLength" | "minItems" | "maxItems" | "minProperties" | "maxProperties"
            | "minContains" | "maxContains" => value.is_u64().then_some(value),
            "pattern" => value.as_str().is_some_and(|it| self.patterns.compiles(it)).then_some(value),
            "required" => names(value),
            "dependentRequired" => self.entries(value, |_, value| names(value)),
            "properties" | "patternProperties" | "dependentSchemas" => {
                let (is_pattern, same) = (key == "patternProperties", in_place && key == "dependentSchemas");
                self.entries(value, |this, value| Some(this.translate(value, same))).map(|mut entries| {
                    if is_pattern && let Value::Object(entries) = &mut entries {
                        entries.retain(|pattern, _| self.patterns.compiles(pattern));
                    }
                    entries
                })
            }
            "items"
            | "additionalProperties"
            | "unevaluatedItems"
            | "unevaluatedProperties"
            | "contains"
            | "propertyNames" => {
                (value.is_object() || value.is_boolean()).then(|| self.translate(value, false))
            }
            "not" | "if" | "then" | "else" => {
                (value.is_object() || value.is_boolean()).then(|| self.translate(value, in_place))
            }
            "allOf" | "anyOf" | "oneOf" | "prefixItems" => {
                let Value::Array(items) = value else { return None };
                let same = in_place && key != "prefixItems";
                let items: Vec<Value> = items.into_iter().map(|it| self.translate(it, same)).collect();
                (!items.is_empty()).then_some(Value::Array(items))
            }
            _ => None,
        }
    }

    fn entries(
        &mut self,
        value: Value,
        mut translate: impl FnMut(&mut Self, Value) -> Option<Value>,
    ) -> Option<Value> {
        let Value::Object(entries) = value else { return None };
        let entries = entries.into_iter().filter_map(|(key, value)| Some((key, translate(self, value)?)));
        Some(Value::Object(entries.collect()))
    }
}

/// Properties that only one side sends are not required of the other, and one schema serves both.
fn drop_one_sided_required(schema: &mut JsonObject) {
    let Some(Value::Array(mut required)) = schema.shift_remove("required") else { return };
    if let Some(Value::Object(properties)) = schema.get("properties") {
        let one_sided = |name: &Value| {
            let property = name.as_str().and_then(|name| properties.get(name));
            property.is_some_and(|it| is_true(it.get("readOnly")) || is_true(it.get("writeOnly")))
        };
        required.retain(|name| !one_sided(name));
    }
    if !required.is_empty() {
        schema.insert("required".into(), Value::Array(required));
    }
}

/// Lets a schema accept null too.
fn or_null(mut schema: JsonObject) -> JsonObject {
    if let Some(Value::Array(values)) = schema.get_mut("enum")
        && !values.contains(&Value::Null)
    {
        values.push(Value::Null);
    }
    match schema.get_mut("type") {
        Some(Value::String(one)) => {
            let both = if one == "null" { json!("null") } else { json!([one, "null"]) };
            schema.insert("type".into(), both);
        }
        Some(Value::Array(several)) if !several.iter().any(|it| it == "null") => several.push("null".into()),
        _ => {}
    }
    if !["$ref", "allOf", "anyOf", "oneOf", "not", "const"].iter().any(|key| schema.contains_key(*key)) {
        return schema;
    }
    let mut outer = JsonObject::new();
    for key in ["description", "title", "deprecated"] {
        if let Some(value) = schema.shift_remove(key) {
            outer.insert(key.into(), value);
        }
    }
    outer.insert("anyOf".into(), json!([schema, {"type": "null"}]));
    outer
}

/// Returns the types that JSON Schema knows, under its names for them.
fn types(value: Value) -> Option<Value> {
    let known = |name: &str| {
        Some(match name {
            "string" | "number" | "integer" | "boolean" | "object" | "array" | "null" => name.to_owned(),
            "int" | "int32" | "int64" | "long" | "short" => "integer".to_owned(),
            "float" | "double" | "decimal" => "number".to_owned(),
            "bool" => "boolean".to_owned(),
            "file" | "date" | "datetime" | "date-time" | "uuid" | "uri" | "byte" | "binary" => {
                "string".to_owned()
            }
            _ => return None,
        })
    };
    match value {
        Value::String(name) => known(&name).map(Value::String),
        Value::Array(names) => {
            let mut all = Vec::new();
            for name in names {
                // One unknown alternative may be anything, so that all of them say nothing.
                let name = known(name.as_str()?)?;
                if !all.contains(&name) {
                    all.push(name);
                }
            }
            (!all.is_empty()).then(|| all.into())
        }
        _ => None,
    }
}

/// Returns the strings of a list, each once.
fn names(value: Value) -> Option<Value> {
    let Value::Array(names) = value else { return None };
    let mut kept: Vec<Value> = Vec::with_capacity(names.len());
    for name in names {
        if name.is_string() && !kept.contains(&name) {
            kept.push(name);
        }
    }
    (!kept.is_empty()).then_some(Value::Array(kept))
}

pub(crate) fn is_true(value: Option<&Value>) -> bool {
    value == Some(&Value::Bool(true))
}

/// Returns whether examples are short, and hold no reference: a value cannot refer to anything, but readers of schemas
/// that follow every `$ref` would fail.
fn is_helpful(examples: &Value) -> bool {
    let text = examples.to_string();
    text.len() <= EXAMPLE_MAX && !text.contains("\"$ref\":")
}

/// Patterns that were tried before: an invalid one would break the whole schema of a tool.
#[derive(Default)]
pub(crate) struct Patterns(HashMap<String, bool>);

impl Patterns {
    fn compiles(&mut self, pattern: &str) -> bool {
        if let Some(known) = self.0.get(pattern) {
            return *known;
        }
        let compiles = jsonschema::validator_for(&json!({"pattern": pattern})).is_ok();
        self.0.insert(pattern.to_owned(), compiles);
        compiles
    }
}

#[cfg(test)]
mod tests;
