//! Shapes that JSON Schemas declare.

use serde_json::Value;

use super::{Field, Record, Shape};
use crate::JsonObject;
use crate::signature::resolve_local;

/// Maximum depth of a shape; what is deeper is `Any`.
const MAX_DEPTH: usize = 8;
/// Maximum number of keys in a record; more make it open.
const MAX_FIELDS: usize = 200;
/// Maximum number of variants that are read.
const MAX_VARIANTS: usize = 16;
/// Maximum number of schemas that are read for one shape, because references can multiply.
const MAX_SCHEMAS: usize = 5_000;

impl Shape {
    /// Returns the shape that a JSON Schema describes.
    pub fn from_schema(schema: &JsonObject) -> Self {
        Reader { root: schema, left: MAX_SCHEMAS }.object(schema, 0)
    }
}

struct Reader<'a> {
    root: &'a JsonObject,
    left: usize,
}

impl<'a> Reader<'a> {
    fn value(&mut self, schema: &'a Value, depth: usize) -> Shape {
        schema.as_object().map_or(Shape::Any, |schema| self.object(schema, depth))
    }

    fn object(&mut self, schema: &'a JsonObject, depth: usize) -> Shape {
        if depth > MAX_DEPTH || self.left == 0 {
            return Shape::Any;
        }
        self.left -= 1;
        if let Some(reference) = schema.get("$ref").and_then(Value::as_str) {
            return match resolve_local(reference, self.root) {
                Some(target) => self.value(target, depth + 1),
                None => Shape::Any,
            };
        }
        if let Some(values) = schema.get("enum").and_then(Value::as_array) {
            return Shape::union(values.iter().map(scalar));
        }
        if let Some(value) = schema.get("const") {
            return scalar(value);
        }
        for keyword in ["anyOf", "oneOf"] {
            if let Some(variants) = schema.get(keyword).and_then(Value::as_array) {
                if variants.len() > MAX_VARIANTS || schema.contains_key("properties") {
                    return Shape::Any;
                }
                let variants: Vec<Shape> = variants.iter().map(|it| self.value(it, depth + 1)).collect();
                return self.nullable(Shape::union(variants), schema);
            }
        }
        if let Some(parts) = schema.get("allOf").and_then(Value::as_array) {
            let merged = self.all_of(schema, parts, depth);
            return self.nullable(merged, schema);
        }
        let shape = match schema.get("type") {
            Some(Value::String(name)) => self.named(name, schema, depth),
            Some(Value::Array(names)) => {
                let names: Vec<&str> = names.iter().filter_map(Value::as_str).collect();
                Shape::union(names.into_iter().map(|name| self.named(name, schema, depth)))
            }
            _ if schema.contains_key("properties") => self.record(schema, depth),
            _ if schema.contains_key("items") => self.named("array", schema, depth),
            _ => Shape::Any,
        };
        self.nullable(shape, schema)
    }

    /// Applies `nullable`, which OpenAPI 3.0 has instead of the type `null`.
    #[expect(clippy::unused_self, reason = "reads like the other steps")]
    fn nullable(&self, shape: Shape, schema: &JsonObject) -> Shape {
        match schema.get("nullable") {
            Some(Value::Bool(true)) => Shape::union([shape, Shape::Null]),
            _ => shape,
        }
    }

    fn named(&mut self, name: &str, schema: &'a JsonObject, depth: usize) -> Shape {
        match name {
            "string" => Shape::Str,
            "integer" => Shape::Int,
            "number" => Shape::Float,
            "boolean" => Shape::Bool,
            "null" => Shape::Null,
            "array" => {
                let element = schema.get("items").map_or(Shape::Any, |items| self.value(items, depth + 1));
                Shape::List(Box::new(element))
            }
            "object" if schema.contains_key("properties") => self.record(schema, depth),
            "object" => {
                let values = schema.get("additionalProperties");
                Shape::Map(Box::new(values.map_or(Shape::Any, |it| self.value(it, depth + 1))))
            }
            _ => Shape::Any,
        }
    }

    fn record(&mut self, schema: &'a JsonObject, depth: usize) -> Shape {
        let required = schema.get("required").and_then(Value::as_array);
        let is_required = |name: &str| required.is_some_and(|names| names.iter().any(|it| it == name));
        let properties = schema.get("properties").and_then(Value::as_object);
        let count = properties.map_or(0, JsonObject::len);
        let fields = properties.into_iter().flatten().take(MAX_FIELDS).map(|(name, property)| Field {
            name: name.clone(),
            shape: self.value(property, depth + 1),
            is_optional: !is_required(name),
        });
        let fields = fields.collect();
        let is_closed = schema.get("additionalProperties") == Some(&Value::Bool(false))
            && !schema.contains_key("patternProperties");
        Shape::Record(Record { fields, is_open: !is_closed || count > MAX_FIELDS })
    }

    /// Merges the records of `allOf`. Anything else in it makes the shape unknown.
    fn all_of(&mut self, schema: &'a JsonObject, parts: &'a [Value], depth: usize) -> Shape {
        let mut merged = Record { fields: Vec::new(), is_open: true };
        let own = schema.contains_key("properties").then(|| self.record(schema, depth));
        let parts: Vec<Shape> = parts.iter().take(MAX_VARIANTS).map(|it| self.value(it, depth + 1)).collect();
        for part in own.into_iter().chain(parts) {
            match part {
                Shape::Record(record) => merge(&mut merged, record),
                // Constraints such as `required` alone say nothing about the shape.
                Shape::Any => {}
                other if merged.fields.is_empty() => return other,
                _ => return Shape::Any,
            }
        }
        if merged.fields.is_empty() { Shape::Any } else { Shape::Record(merged) }
    }
}

fn merge(into: &mut Record, from: Record) {
    for field in from.fields {
        match into.fields.iter_mut().find(|known| known.name == field.name) {
            Some(known) => known.is_optional &= field.is_optional,
            None => into.fields.push(field),
        }
    }
}

fn scalar(value: &Value) -> Shape {
    match value {
        Value::Null => Shape::Null,
        Value::Bool(_) => Shape::Bool,
        Value::Number(number) if number.is_f64() => Shape::Float,
        Value::Number(_) => Shape::Int,
        Value::String(_) => Shape::Str,
        Value::Array(_) => Shape::List(Box::new(Shape::Any)),
        Value::Object(_) => Shape::Map(Box::new(Shape::Any)),
    }
}
