//! What the index knows of a tool, and how a JSON Schema becomes part of it.

use serde_json::{Map, Value};

/// One tool as it is searched.
#[derive(Debug, Clone, Copy, Default)]
pub struct Document<'a> {
    /// The canonical name, `pack.tool` or a bare one. It is the key of the document.
    pub name: &'a str,
    /// What the tool says it does.
    pub description: &'a str,
    /// The pack or server that the tool belongs to; empty if none.
    pub pack: &'a str,
    /// What the pack says of itself.
    pub pack_description: &'a str,
    /// The input schema, searched as [`Parameters::of_schema`] reads it.
    pub input_schema: Option<&'a Map<String, Value>>,
    /// Further words to find it by.
    pub keywords: &'a [String],
    /// What kind of tool it is.
    pub category: Option<&'a str>,
    /// Queries that led to this tool before, oldest first. The latest [`REMEMBERED_MAX`] different ones count.
    pub remembered: &'a [String],
}

/// How many remembered queries of a tool count.
pub const REMEMBERED_MAX: usize = 10;

/// How deep below the tool's own parameters a schema is read.
const DEPTH: usize = 3;
/// How many steps through lists, choices and references a schema is followed; a reference may point at itself.
const STEPS: usize = 8;
/// A schema of more strings than this is described well enough by the first ones.
const STRINGS: usize = 2000;

/// The searchable strings of a JSON Schema.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Parameters<'a> {
    /// Names of properties, in their order, nested ones too.
    pub names: Vec<&'a str>,
    /// Descriptions, and the strings that an enumeration allows.
    pub texts: Vec<&'a str>,
}

impl<'a> Parameters<'a> {
    /// Reads a schema to three levels of properties, through lists, choices and local references.
    pub fn of_schema(schema: &'a Map<String, Value>) -> Self {
        let mut parameters = Self::default();
        parameters.read(schema, schema, DEPTH, STEPS);
        parameters
    }

    fn read(
        &mut self,
        root: &'a Map<String, Value>,
        schema: &'a Map<String, Value>,
        depth: usize,
        steps: usize,
    ) {
        if self.names.len() + self.texts.len() >= STRINGS {
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
                    self.read(root, property, depth - 1, steps);
                }
            }
        }
        if steps == 0 {
            return;
        }
        let referred = schema.get("$ref").and_then(Value::as_str).and_then(|pointer| resolve(root, pointer));
        let choices = ["anyOf", "oneOf", "allOf"].into_iter().filter_map(|key| schema.get(key)?.as_array());
        let below = schema.get("items").into_iter().chain(choices.flatten()).filter_map(Value::as_object);
        for schema in below.chain(referred) {
            self.read(root, schema, depth, steps - 1);
        }
    }
}

/// Finds what a local reference such as `#/$defs/Item` points at.
fn resolve<'a>(root: &'a Map<String, Value>, pointer: &str) -> Option<&'a Map<String, Value>> {
    let (section, name) = pointer.strip_prefix("#/")?.split_once('/')?;
    root.get(section)?.get(name)?.as_object()
}
