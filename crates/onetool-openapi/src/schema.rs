//! Translates schemas of Swagger 2.0, OpenAPI 3.0 and 3.1 to JSON Schema 2020-12 that compiles.
//!
//! Only JSON Schema keywords with values that the meta-schema accepts are kept; an invalid keyword is dropped, not the
//! whole operation. The result may accept more than the original, never less: the API makes the final decision.

use std::collections::HashMap;

use onetool_core::JsonObject;
use serde_json::{Value, json};

use crate::dialect::Dialect;

/// Maximum length of examples. Longer ones cost tokens and rarely help a model.
const EXAMPLE_MAX: usize = 200;

/// Maps references to names under `$defs`.
pub(crate) trait DefinitionNames {
    /// Returns the name of the definition that `reference` points to; `None` to accept any value.
    ///
    /// `in_place` means that the referenced schema applies to the same value as the schema being translated, not to a
    /// part of it. A cycle of such references never ends.
    fn definition_name(&mut self, reference: &str, in_place: bool) -> Option<String>;
}

/// Translates the schemas of one document.
pub(crate) struct Translator<'a> {
    pub(crate) dialect: Dialect,
    pub(crate) names: &'a mut dyn DefinitionNames,
    pub(crate) patterns: &'a mut Patterns,
}

impl Translator<'_> {
    /// Translates a schema that is not a definition.
    pub(crate) fn schema(&mut self, schema: Value) -> Value {
        self.translate(schema, false)
    }

    /// Translates a definition, whose in-place references matter for finding cycles.
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
            if let Some(name) = self.names.definition_name(reference, in_place) {
                out.insert("$ref".into(), format!("#/$defs/{name}").into());
            }
            if self.dialect != Dialect::OpenApi31 {
                // Before 3.1, keywords next to a reference are ignored, but a description is still useful.
                source.retain(|key, _| key == "description");
            }
        }
        let exclusive_minimum = is_true(source.get("exclusiveMinimum"));
        let exclusive_maximum = is_true(source.get("exclusiveMaximum"));
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
        relax_one_way_properties(&mut out);
        if nullable { accept_null(out) } else { out }
    }

    /// Translates the value of a keyword; returns `None` if the keyword is meaningless or invalid.
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
                let is_useful = value.as_array().is_some_and(|it| !it.is_empty()) && is_helpful(&value);
                is_useful.then_some(value)
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
            "required" => unique_strings(value),
            "dependentRequired" => self.entries(value, |_, value| unique_strings(value)),
            "properties" | "patternProperties" | "dependentSchemas" => {
                let is_pattern = key == "patternProperties";
                let in_place = in_place && key == "dependentSchemas";
                self.entries(value, |this, value| Some(this.translate(value, in_place))).map(|mut entries| {
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
                let in_place = in_place && key != "prefixItems";
                let items: Vec<Value> = items.into_iter().map(|it| self.translate(it, in_place)).collect();
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

/// Makes read-only and write-only properties optional: the schema describes both directions, and only one sends them.
fn relax_one_way_properties(schema: &mut JsonObject) {
    let Some(Value::Array(mut required)) = schema.shift_remove("required") else { return };
    if let Some(Value::Object(properties)) = schema.get("properties") {
        let is_one_way = |name: &Value| {
            let property = name.as_str().and_then(|name| properties.get(name));
            property.is_some_and(|it| is_true(it.get("readOnly")) || is_true(it.get("writeOnly")))
        };
        required.retain(|name| !is_one_way(name));
    }
    if !required.is_empty() {
        schema.insert("required".into(), Value::Array(required));
    }
}

/// Makes a schema also accept null.
fn accept_null(mut schema: JsonObject) -> JsonObject {
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

/// Maps types to those of JSON Schema.
fn types(value: Value) -> Option<Value> {
    let json_type = |name: &str| {
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
        Value::String(name) => json_type(&name).map(Value::String),
        Value::Array(names) => {
            let mut all = Vec::new();
            for name in names {
                // An unknown type may mean anything, so the whole list does not restrict the value.
                let name = json_type(name.as_str()?)?;
                if !all.contains(&name) {
                    all.push(name);
                }
            }
            (!all.is_empty()).then(|| all.into())
        }
        _ => None,
    }
}

/// Returns the strings in a list, without duplicates.
fn unique_strings(value: Value) -> Option<Value> {
    let Value::Array(items) = value else { return None };
    let mut strings: Vec<Value> = Vec::with_capacity(items.len());
    for item in items {
        if item.is_string() && !strings.contains(&item) {
            strings.push(item);
        }
    }
    (!strings.is_empty()).then_some(Value::Array(strings))
}

pub(crate) fn is_true(value: Option<&Value>) -> bool {
    value == Some(&Value::Bool(true))
}

/// Returns whether examples are short and contain no `$ref`.
///
/// A reference inside an example means nothing, but tools that resolve every `$ref` in a schema would fail on it.
fn is_helpful(examples: &Value) -> bool {
    let text = examples.to_string();
    text.len() <= EXAMPLE_MAX && !text.contains("\"$ref\":")
}

/// Checks whether patterns compile, and caches the results. An invalid pattern would break a tool's whole schema.
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
