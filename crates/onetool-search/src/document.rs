//! The searchable parts of a tool, including the strings of its JSON Schema.

use serde_json::{Map, Value};

/// A tool to be indexed.
#[derive(Debug, Clone, Copy, Default)]
pub struct Document<'a> {
    /// The canonical name, `pack.tool` or without a pack. It is the key of the document.
    pub name: &'a str,
    /// The tool's description.
    pub description: &'a str,
    /// The pack or server that the tool belongs to; empty if none.
    pub pack: &'a str,
    /// The pack's description.
    pub pack_description: &'a str,
    /// The input schema; see [`Parameters::from_schema`] for the parts that are indexed.
    pub input_schema: Option<&'a Map<String, Value>>,
    /// Additional search terms.
    pub keywords: &'a [String],
    /// The tool's category.
    pub category: Option<&'a str>,
    /// Earlier queries that led to this tool, oldest first. Only the latest [`MAX_REMEMBERED`] distinct ones count.
    pub remembered: &'a [String],
}

/// Maximum number of remembered queries that count for a tool.
pub const MAX_REMEMBERED: usize = 10;

/// Maximum depth of nested properties that are indexed.
const MAX_DEPTH: usize = 3;
/// Maximum number of lists, alternatives and references that are followed; a reference may be recursive.
const MAX_STEPS: usize = 8;
/// Maximum number of strings that are indexed; the first ones describe a large schema well enough.
const MAX_STRINGS: usize = 2000;

/// The searchable strings of a JSON Schema.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Parameters<'a> {
    /// Names of properties in order, including nested ones.
    pub names: Vec<&'a str>,
    /// Descriptions, and the strings of enumerations and constants.
    pub texts: Vec<&'a str>,
}

impl<'a> Parameters<'a> {
    /// Collects the strings of a schema, down to three levels of properties. Follows lists, alternatives and local
    /// references.
    pub fn from_schema(schema: &'a Map<String, Value>) -> Self {
        let mut parameters = Self::default();
        parameters.collect(schema, schema, MAX_DEPTH, MAX_STEPS);
        parameters
    }

    fn collect(
        &mut self,
        root: &'a Map<String, Value>,
        schema: &'a Map<String, Value>,
        depth: usize,
        steps: usize,
    ) {
        if self.names.len() + self.texts.len() >= MAX_STRINGS {
            return;
        }
        self.texts.extend(schema.get("description").and_then(Value::as_str));
        self.texts.extend(schema.get("const").and_then(Value::as_str));
        let allowed = schema.get("enum").and_then(Value::as_array);
        self.texts.extend(allowed.into_iter().flatten().filter_map(Value::as_str));

        if let Some(properties) = schema.get("properties").and_then(Value::as_object)
            && depth > 0
        {
            for (name, property) in properties {
                self.names.push(name);
                if let Some(property) = property.as_object() {
                    self.collect(root, property, depth - 1, steps);
                }
            }
        }
        if steps == 0 {
            return;
        }
        let reference = schema.get("$ref").and_then(Value::as_str);
        let target = reference.and_then(|pointer| resolve(root, pointer));
        let variants = ["anyOf", "oneOf", "allOf"].into_iter().filter_map(|key| schema.get(key)?.as_array());
        let nested = schema.get("items").into_iter().chain(variants.flatten()).filter_map(Value::as_object);
        for schema in nested.chain(target) {
            self.collect(root, schema, depth, steps - 1);
        }
    }
}

/// Returns the target of a local reference such as `#/$defs/Item`.
fn resolve<'a>(root: &'a Map<String, Value>, pointer: &str) -> Option<&'a Map<String, Value>> {
    let (section, name) = pointer.strip_prefix("#/")?.split_once('/')?;
    root.get(section)?.get(name)?.as_object()
}
