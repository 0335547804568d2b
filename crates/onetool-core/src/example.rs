//! Example calls made from schemas: arguments that the tool accepts.

use regex_syntax::hir::{Class, Hir, HirKind, Repetition};
use serde_json::{Number, Value, json};

use crate::JsonObject;
use crate::signature::{parameters, python_literal, resolve_local};

/// Maximum depth of an example, and of values in it.
const MAX_DEPTH: usize = 6;
const MAX_VALUES: usize = 200;
/// Longest text that is made to satisfy `minLength` or a pattern.
const MAX_TEXT: usize = 400;
/// The text of an argument about which nothing is known.
const PLACEHOLDER: &str = "...";

/// Returns an example call with the required arguments. `name` is the name that code uses.
///
/// ```
/// let schema = serde_json::json!({
///     "properties": {"state": {"enum": ["open", "closed"]}, "since": {"type": "string", "format": "date"}},
///     "required": ["state", "since"],
/// });
/// let call = onetool_core::example_call("github.list_issues", schema.as_object().unwrap());
/// assert_eq!(call, "github.list_issues(state='open', since='2026-01-31')");
/// ```
pub fn example_call(name: &str, schema: &JsonObject) -> String {
    let mut examples = Examples { root: schema, left: MAX_VALUES };
    let arguments: Vec<String> = parameters(schema)
        .filter(|parameter| parameter.required)
        .map(|parameter| {
            let property = schema.get("properties").and_then(|it| it.get(parameter.name));
            let value = property.map_or_else(|| json!(PLACEHOLDER), |it| examples.value(it, 0));
            format!("{}={}", parameter.python_name, python_literal(&value))
        })
        .collect();
    format!("{name}({})", arguments.join(", "))
}

struct Examples<'a> {
    root: &'a JsonObject,
    left: usize,
}

impl<'a> Examples<'a> {
    fn value(&mut self, schema: &'a Value, depth: usize) -> Value {
        let Some(schema) = schema.as_object() else { return json!(PLACEHOLDER) };
        if depth > MAX_DEPTH || self.left == 0 {
            return Value::Null;
        }
        self.left -= 1;
        if let Some(reference) = schema.get("$ref").and_then(Value::as_str) {
            return resolve_local(reference, self.root)
                .map_or_else(|| json!(PLACEHOLDER), |it| self.value(it, depth + 1));
        }
        if let Some(value) = given(schema) {
            return value.clone();
        }
        for keyword in ["oneOf", "anyOf"] {
            let variants = schema.get(keyword).and_then(Value::as_array);
            let is_null = |it: &&Value| it.get("type").is_some_and(|kind| kind == "null");
            if let Some(variant) = variants.and_then(|all| all.iter().find(|it| !is_null(it))) {
                let mut value = self.value(variant, depth + 1);
                // `anyOf` may only restrict the properties next to it.
                if schema.contains_key("properties") && (value.is_object() || value == PLACEHOLDER) {
                    let mut object = self.object(schema, depth);
                    let also_required = variant.get("required").and_then(Value::as_array);
                    self.add_properties(&mut object, schema, also_required, depth);
                    object.extend(value.as_object().cloned().unwrap_or_default());
                    value = Value::Object(object);
                }
                return value;
            }
        }
        if let Some(parts) = schema.get("allOf").and_then(Value::as_array) {
            return self.all_of(schema, parts, depth);
        }
        match kind(schema) {
            Some("integer") => Value::Number(integer(schema)),
            Some("number") => number(schema),
            Some("boolean") => json!(true),
            Some("null") => Value::Null,
            Some("array") => self.array(schema, depth),
            Some("object") => Value::Object(self.object(schema, depth)),
            Some("string") => Value::String(text(schema)),
            _ => json!(PLACEHOLDER),
        }
    }

    fn all_of(&mut self, schema: &'a JsonObject, parts: &'a [Value], depth: usize) -> Value {
        let mut object = self.object(schema, depth);
        let mut other = None;
        for part in parts {
            match self.value(part, depth + 1) {
                Value::Object(members) => object.extend(members),
                value if value != PLACEHOLDER => other = Some(value),
                _ => {}
            }
        }
        if object.is_empty() { other.unwrap_or(Value::Object(object)) } else { Value::Object(object) }
    }

    fn array(&mut self, schema: &'a JsonObject, depth: usize) -> Value {
        let count = schema.get("minItems").and_then(Value::as_u64).unwrap_or(0).min(MAX_VALUES as u64);
        let Some(items) = schema.get("items") else {
            return json!(vec![PLACEHOLDER; usize::try_from(count).unwrap_or(0)]);
        };
        // One element shows what belongs there, unless none is allowed.
        let is_empty = schema.get("maxItems").and_then(Value::as_u64) == Some(0);
        let count = if is_empty { 0 } else { count.max(1) };
        let is_unique = schema.get("uniqueItems") == Some(&Value::Bool(true));
        let mut values: Vec<Value> = Vec::new();
        for index in 0..count {
            let mut value = self.value(items, depth + 1);
            if is_unique && values.contains(&value) {
                value = distinct(items, &values, value, index);
            }
            values.push(value);
        }
        Value::Array(values)
    }

    fn object(&mut self, schema: &'a JsonObject, depth: usize) -> JsonObject {
        let mut object = JsonObject::new();
        let required = schema.get("required").and_then(Value::as_array);
        self.add_properties(&mut object, schema, required, depth);
        let missing = schema.get("minProperties").and_then(Value::as_u64).unwrap_or(0);
        let others = schema.get("properties").and_then(Value::as_object).into_iter().flatten();
        for (name, property) in others {
            if object.len() as u64 >= missing {
                break;
            }
            if !object.contains_key(name) {
                let value = self.value(property, depth + 1);
                object.insert(name.clone(), value);
            }
        }
        for index in object.len() as u64..missing.min(8) {
            let values = schema.get("additionalProperties").filter(|it| it.is_object());
            let value = values.map_or_else(|| json!(PLACEHOLDER), |it| self.value(it, depth + 1));
            object.insert(format!("key{}", index + 1), value);
        }
        object
    }

    fn add_properties(
        &mut self,
        object: &mut JsonObject,
        schema: &'a JsonObject,
        names: Option<&'a Vec<Value>>,
        depth: usize,
    ) {
        let properties = schema.get("properties").and_then(Value::as_object);
        for name in names.into_iter().flatten().filter_map(Value::as_str) {
            if !object.contains_key(name) {
                let property = properties.and_then(|it| it.get(name));
                let value = property.map_or_else(|| json!(PLACEHOLDER), |it| self.value(it, depth + 1));
                object.insert(name.to_owned(), value);
            }
        }
    }
}

/// Returns a value that the schema itself names.
fn given(schema: &JsonObject) -> Option<&Value> {
    let first = |keyword: &str| schema.get(keyword)?.as_array()?.first();
    schema.get("const").or_else(|| first("enum")).or_else(|| schema.get("default").filter(|it| !it.is_null()))
}

fn kind(schema: &JsonObject) -> Option<&str> {
    match schema.get("type") {
        Some(Value::String(name)) => Some(name),
        Some(Value::Array(names)) => names.iter().filter_map(Value::as_str).find(|name| *name != "null"),
        _ if schema.contains_key("properties") => Some("object"),
        _ if schema.contains_key("items") => Some("array"),
        _ if schema.contains_key("pattern") || schema.contains_key("format") => Some("string"),
        _ => None,
    }
}

/// Returns another value than those that a list already has.
fn distinct(items: &Value, values: &[Value], value: Value, index: u64) -> Value {
    let choices = items.get("enum").and_then(Value::as_array).into_iter().flatten();
    if let Some(other) = choices.into_iter().find(|it| !values.contains(it)) {
        return other.clone();
    }
    match value {
        Value::Number(number) => json!(number.as_u64().unwrap_or(0) + index),
        Value::String(text) => json!(format!("{text}{index}")),
        other => other,
    }
}

fn integer(schema: &JsonObject) -> Number {
    let bound = |keyword: &str| schema.get(keyword).and_then(Value::as_f64);
    let step = bound("multipleOf").filter(|it| *it >= 1.0).unwrap_or(1.0);
    #[expect(clippy::cast_possible_truncation, reason = "the cast saturates")]
    let value = closest(schema, step) as i64;
    value.into()
}

fn number(schema: &JsonObject) -> Value {
    let step = schema.get("multipleOf").and_then(Value::as_f64).filter(|it| *it > 0.0).unwrap_or(1.0);
    let mut value = closest(schema, step);
    let max = schema.get("maximum").or_else(|| schema.get("exclusiveMaximum")).and_then(Value::as_f64);
    let min = schema.get("minimum").or_else(|| schema.get("exclusiveMinimum")).and_then(Value::as_f64);
    // Between bounds less than a step apart, such as 0 and 1.
    if let (Some(min), Some(max)) = (min, max)
        && !schema.contains_key("multipleOf")
        && max - min <= 1.0
    {
        value = f64::midpoint(min, max);
    }
    Number::from_f64(value).map_or(json!(1.0), Value::Number)
}

/// Returns the multiple of `step` within the bounds that is closest to 1.
fn closest(schema: &JsonObject, step: f64) -> f64 {
    let bound = |keyword: &str| schema.get(keyword).and_then(Value::as_f64);
    let is_exclusive = |keyword: &str| schema.get(keyword) == Some(&Value::Bool(true));
    let after = |it: f64| (it / step).floor().mul_add(step, step);
    let before = |it: f64| (it / step).ceil().mul_add(step, -step);
    let at_least = |it: f64| (it / step).ceil() * step;
    let at_most = |it: f64| (it / step).floor() * step;
    let mut value = step;
    if let Some(min) = bound("minimum") {
        value = value.max(if is_exclusive("exclusiveMinimum") { after(min) } else { at_least(min) });
    }
    if let Some(min) = bound("exclusiveMinimum") {
        value = value.max(after(min));
    }
    if let Some(max) = bound("maximum") {
        value = value.min(if is_exclusive("exclusiveMaximum") { before(max) } else { at_most(max) });
    }
    if let Some(max) = bound("exclusiveMaximum") {
        value = value.min(before(max));
    }
    value
}

fn text(schema: &JsonObject) -> String {
    let length = |keyword: &str| {
        let length = schema.get(keyword).and_then(Value::as_u64)?;
        Some(usize::try_from(length).unwrap_or(usize::MAX).min(MAX_TEXT))
    };
    if let Some(text) = schema.get("pattern").and_then(Value::as_str).and_then(matching) {
        return text;
    }
    let known = schema.get("format").and_then(Value::as_str).and_then(formatted);
    let mut text = known.unwrap_or(PLACEHOLDER).to_owned();
    if let Some(min) = length("minLength") {
        let missing = min.saturating_sub(text.chars().count());
        text.extend(std::iter::repeat_n('x', missing));
    }
    match length("maxLength") {
        Some(max) if known.is_none() => text.chars().take(max).collect(),
        _ => text,
    }
}

fn formatted(format: &str) -> Option<&'static str> {
    Some(match format {
        "date" => "2026-01-31",
        "date-time" => "2026-01-31T12:00:00Z",
        "time" => "12:00:00Z",
        "duration" => "P1D",
        "email" | "idn-email" => "user@example.com",
        "hostname" | "idn-hostname" => "example.com",
        "ipv4" => "192.0.2.1",
        "ipv6" => "2001:db8::1",
        "uri" | "uri-reference" | "iri" | "iri-reference" | "url" => "https://example.com",
        "uri-template" => "https://example.com/{id}",
        "uuid" => "123e4567-e89b-12d3-a456-426614174000",
        "json-pointer" => "/key",
        "relative-json-pointer" => "0",
        "regex" => "a",
        "byte" => "AAAA",
        _ => return None,
    })
}

/// Returns a short text that matches a pattern, if the pattern is simple enough.
fn matching(pattern: &str) -> Option<String> {
    let hir = regex_syntax::ParserBuilder::new().nest_limit(50).build().parse(pattern).ok()?;
    let mut text = String::new();
    append(&hir, &mut text)?;
    (!text.is_empty()).then_some(text)
}

fn append(hir: &Hir, text: &mut String) -> Option<()> {
    if text.len() > MAX_TEXT {
        return None;
    }
    match hir.kind() {
        HirKind::Empty | HirKind::Look(_) => Some(()),
        HirKind::Literal(literal) => {
            text.push_str(std::str::from_utf8(&literal.0).ok()?);
            Some(())
        }
        HirKind::Class(Class::Unicode(class)) => {
            // A letter or digit reads better than the first character of a class, which may be a space or control.
            let has = |c: char| class.iter().any(|range| (range.start()..=range.end()).contains(&c));
            let first = || class.iter().next().map(regex_syntax::hir::ClassUnicodeRange::start);
            text.push("a1A0_-./ ".chars().find(|c| has(*c)).or_else(first)?);
            Some(())
        }
        HirKind::Class(Class::Bytes(_)) => None,
        HirKind::Repetition(Repetition { min, max, sub, .. }) => {
            // One more than nothing, so that the example shows something.
            let count = if *min == 0 && max.is_none() { 1 } else { *min };
            (0..count).try_for_each(|_| append(sub, text))
        }
        HirKind::Capture(capture) => append(&capture.sub, text),
        HirKind::Concat(parts) => parts.iter().try_for_each(|part| append(part, text)),
        HirKind::Alternation(variants) => append(variants.first()?, text),
    }
}

#[cfg(test)]
#[cfg(feature = "validate")]
mod tests {
    use super::*;
    use crate::validate::{Validator, WorkLimit};

    #[track_caller]
    fn assert_accepted(property: Value) {
        let schema = json!({"type": "object", "properties": {"x": property}, "required": ["x"]});
        let root = schema.as_object().unwrap();
        let value = Examples { root, left: MAX_VALUES }.value(&schema["properties"]["x"], 0);
        let errors = Validator::for_arguments(root, &WorkLimit::FULL)
            .check(&json!({"x": value}), &WorkLimit::FULL)
            .unwrap();
        assert!(errors.is_empty(), "{value} for {}: {errors:?}", schema["properties"]["x"]);
    }

    #[test]
    fn agt_1_examples_are_accepted_by_their_schema() {
        for format in
            ["date", "date-time", "time", "duration", "email", "hostname", "ipv4", "ipv6", "uri", "uuid"]
        {
            assert_accepted(json!({"type": "string", "format": format}));
        }
        assert_accepted(json!({"type": "string", "pattern": "^[A-Z]{2}-\\d{4}$"}));
        assert_accepted(json!({"type": "string", "pattern": "^(open|closed)(:[a-z]+)?$"}));
        assert_accepted(json!({"type": "string", "minLength": 30}));
        assert_accepted(json!({"type": "string", "maxLength": 2}));
        assert_accepted(json!({"type": "integer", "minimum": 10, "multipleOf": 7}));
        assert_accepted(json!({"type": "integer", "maximum": -5}));
        assert_accepted(json!({"type": "integer", "exclusiveMinimum": 1}));
        assert_accepted(json!({"type": "number", "minimum": 0, "maximum": 1}));
        assert_accepted(json!({"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 0.5}));
        assert_accepted(
            json!({"type": "array", "items": {"enum": ["a", "b", "c"]}, "minItems": 3, "uniqueItems": true}),
        );
        assert_accepted(
            json!({"type": "array", "items": {"type": "integer"}, "minItems": 3, "uniqueItems": true}),
        );
        assert_accepted(json!({"type": "array", "minItems": 2}));
        assert_accepted(
            json!({"type": ["null", "object"], "required": ["a"], "properties": {"a": {"const": 5}}}),
        );
        assert_accepted(
            json!({"allOf": [{"type": "object", "required": ["a"], "properties": {"a": {"type": "boolean"}}},
            {"required": ["b"], "properties": {"b": {"type": "string"}}}]}),
        );
        assert_accepted(json!({"anyOf": [{"type": "null"}, {"type": "integer", "minimum": 3}]}));
        assert_accepted(
            json!({"type": "object", "properties": {"a": {"type": "string"}, "b": {"type": "string"}},
            "anyOf": [{"required": ["b"]}, {"required": ["a"]}]}),
        );
        assert_accepted(
            json!({"type": "object", "minProperties": 2, "additionalProperties": {"type": "integer"}}),
        );
        assert_accepted(json!({}));
    }

    #[test]
    fn agt_1_a_hostile_schema_has_a_bounded_example() {
        let schema = json!({"properties": {"x": {"$ref": "#/$defs/N"}, "y": {"pattern": "((((a{400}){400}){400}))"}},
            "required": ["x", "y"], "$defs": {"N": {"type": "array", "minItems": 1_000_000, "items": {"$ref": "#/$defs/N"}}}});
        let call = example_call("t.f", schema.as_object().unwrap());
        assert!(call.len() < 100_000, "{}", call.len());
    }
}
