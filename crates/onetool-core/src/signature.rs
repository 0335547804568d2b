//! Converts JSON Schemas to Python-like signatures, the form in which agents see a tool's parameters.

use std::borrow::Cow;
use std::collections::HashSet;
use std::fmt::Write as _;

use serde_json::Value;

use crate::python::python_identifier;
use crate::{JsonObject, shorten};

/// Returns a signature as a Python stub has it. Optional parameters have their default, or `...` if there is none.
///
/// The parameters are in the order of the schema, which is also the order of positional arguments.
///
/// ```
/// let schema = serde_json::json!({
///     "properties": {"query": {"type": "string"}, "count": {"type": "integer", "default": 5}},
///     "required": ["query"],
/// });
/// let signature = onetool_core::signature("brave.search", schema.as_object().unwrap());
/// assert_eq!(signature, "brave.search(query: str, count: int = 5)");
/// ```
pub fn signature(name: &str, schema: &JsonObject) -> String {
    full_signature(name, schema, "...")
}

/// Returns a signature of readable length in which optional parameters without a default have `'...'`, as `ot.tools`
/// shows it (OT-1.6).
///
/// ```
/// let schema = serde_json::json!({"properties": {"repo": {"type": "string"}}});
/// let signature = onetool_core::quoted_signature("github.search", schema.as_object().unwrap());
/// assert_eq!(signature, "github.search(repo: str = '...')");
/// ```
pub fn quoted_signature(name: &str, schema: &JsonObject) -> String {
    shortened(name, schema, "'...'")
}

fn full_signature(name: &str, schema: &JsonObject, placeholder: &str) -> String {
    let parameters: Vec<String> = parameters(schema).map(|it| it.format(usize::MAX, placeholder)).collect();
    format!("{name}({})", parameters.join(", "))
}

/// Returns a signature of readable length: long types and defaults are shortened, and optional parameters beyond the
/// limit are replaced by `…`.
pub fn short_signature(name: &str, schema: &JsonObject) -> String {
    shortened(name, schema, "...")
}

fn shortened(name: &str, schema: &JsonObject, placeholder: &str) -> String {
    let full = full_signature(name, schema, placeholder);
    if full.len() <= SHORT_MAX {
        return full;
    }
    let mut text = format!("{name}(");
    let mut is_shortened = false;
    for parameter in parameters(schema) {
        let formatted = parameter.format(SHORT_PART, placeholder);
        let limit = if parameter.required { 4 * SHORT_MAX } else { SHORT_MAX };
        if text.len() + formatted.len() > limit {
            is_shortened = true;
            continue;
        }
        text.push_str(&formatted);
        text.push_str(", ");
    }
    text.push_str(if is_shortened { "…" } else { "" });
    format!("{})", text.trim_end_matches(", "))
}

/// Maximum length of a signature before it is shortened.
const SHORT_MAX: usize = 500;
/// Maximum length of a parameter's type and of its default in a shortened signature.
const SHORT_PART: usize = 60;

/// A parameter of a tool, derived from its schema.
#[derive(Debug, Clone, PartialEq)]
pub struct Parameter<'a> {
    /// The name.
    pub name: &'a str,
    /// The name that code uses as a keyword argument.
    pub python_name: Cow<'a, str>,
    /// The Python type.
    pub python_type: String,
    /// What the parameter means.
    pub description: Option<&'a str>,
    /// Whether the parameter is required.
    pub required: bool,
    /// The default value.
    pub default: Option<&'a Value>,
}

impl Parameter<'_> {
    /// Formats the parameter with a type and a default of at most `max` characters, and `placeholder` if it has none.
    fn format(&self, max: usize, placeholder: &str) -> String {
        let mut text = format!("{}: {}", self.python_name, shorten(&self.python_type, max));
        if !self.required {
            let default = self.default.map_or_else(|| placeholder.to_owned(), python_literal);
            // Writing to a String cannot fail.
            let _ = write!(text, " = {}", shorten(&default, max));
        }
        text
    }
}

/// Returns the parameters described by a schema, in order.
pub fn parameters(schema: &JsonObject) -> impl Iterator<Item = Parameter<'_>> {
    let required = schema.get("required").and_then(Value::as_array);
    let properties = schema.get("properties").and_then(Value::as_object);
    let mut used = HashSet::new();
    properties.into_iter().flatten().map(move |(name, property)| Parameter {
        name,
        python_name: free_identifier(name, properties, &mut used),
        python_type: type_name(property, schema, 0),
        description: property.get("description").and_then(Value::as_str),
        required: required.is_some_and(|names| names.iter().any(|n| n == name)),
        default: property.get("default"),
    })
}

/// Returns the identifier for a parameter: its own name if that is one, else one that no other parameter has.
fn free_identifier<'a>(
    name: &'a str,
    properties: Option<&JsonObject>,
    used: &mut HashSet<String>,
) -> Cow<'a, str> {
    let identifier = python_identifier(name);
    if identifier == name {
        return Cow::Borrowed(name);
    }
    let is_taken = |it: &str| properties.is_some_and(|all| all.contains_key(it)) || used.contains(it);
    let numbered = (2..).map(|number| format!("{identifier}_{number}"));
    let free = std::iter::once(identifier.clone()).chain(numbered).find(|it| !is_taken(it));
    let free = free.unwrap_or(identifier);
    used.insert(free.clone());
    Cow::Owned(free)
}

const MAX_DEPTH: usize = 4;

/// Returns the Python type described by a schema.
///
/// ```
/// let schema = serde_json::json!({"type": "array", "items": {"type": ["string", "null"]}});
/// assert_eq!(onetool_core::python_type(schema.as_object().unwrap()), "list[str | None]");
/// ```
pub fn python_type(schema: &JsonObject) -> String {
    object_type(schema, schema, 0)
}

fn type_name(property: &Value, root: &JsonObject, depth: usize) -> String {
    property.as_object().map_or_else(|| "Any".into(), |property| object_type(property, root, depth))
}

fn object_type(property: &JsonObject, root: &JsonObject, depth: usize) -> String {
    if depth > MAX_DEPTH {
        return "Any".into();
    }
    if let Some(target) = property.get("$ref").and_then(Value::as_str) {
        return resolve_local(target, root).map_or("Any".into(), |it| type_name(it, root, depth + 1));
    }
    if let Some(values) = property.get("enum").and_then(Value::as_array) {
        let values: Vec<String> = values.iter().map(python_literal).collect();
        return format!("Literal[{}]", values.join(", "));
    }
    if let Some(value) = property.get("const") {
        return format!("Literal[{}]", python_literal(value));
    }
    for keyword in ["anyOf", "oneOf"] {
        if let Some(variants) = property.get(keyword).and_then(Value::as_array) {
            return union(variants.iter().map(|variant| type_name(variant, root, depth + 1)));
        }
    }
    match property.get("type") {
        Some(Value::String(name)) => named_type(name, property, root, depth),
        Some(Value::Array(names)) => {
            let names = names.iter().filter_map(Value::as_str);
            union(names.map(|name| named_type(name, property, root, depth)))
        }
        _ if property.contains_key("properties") => "dict".into(),
        _ => "Any".into(),
    }
}

fn named_type(name: &str, property: &JsonObject, root: &JsonObject, depth: usize) -> String {
    match name {
        "string" => "str".into(),
        "integer" => "int".into(),
        "number" => "float".into(),
        "boolean" => "bool".into(),
        "null" => "None".into(),
        "object" => "dict".into(),
        "array" => match property.get("items") {
            Some(items) => format!("list[{}]", type_name(items, root, depth + 1)),
            None => "list".into(),
        },
        _ => "Any".into(),
    }
}

fn union(variants: impl Iterator<Item = String>) -> String {
    let mut distinct: Vec<String> = Vec::new();
    for variant in variants {
        if !distinct.contains(&variant) {
            distinct.push(variant);
        }
    }
    if distinct.is_empty() || distinct.iter().any(|it| it == "Any") {
        "Any".into()
    } else {
        distinct.join(" | ")
    }
}

pub(crate) fn resolve_local<'a>(reference: &str, root: &'a JsonObject) -> Option<&'a Value> {
    let mut parts = reference.strip_prefix("#/")?.split('/');
    let first = root.get(parts.next()?)?;
    parts.try_fold(first, |value, part| value.get(part.replace("~1", "/").replace("~0", "~")))
}

pub(crate) fn python_literal(value: &Value) -> String {
    match value {
        Value::Null => "None".into(),
        Value::Bool(true) => "True".into(),
        Value::Bool(false) => "False".into(),
        Value::Number(number) => number.to_string(),
        Value::String(text) => format!("'{}'", text.escape_debug().to_string().replace("\\\"", "\"")),
        Value::Array(items) => {
            format!("[{}]", items.iter().map(python_literal).collect::<Vec<_>>().join(", "))
        }
        Value::Object(entries) => {
            let entry = |(key, value): (&String, &Value)| {
                format!("{}: {}", python_literal(&Value::String(key.clone())), python_literal(value))
            };
            format!("{{{}}}", entries.iter().map(entry).collect::<Vec<_>>().join(", "))
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn signature_of(schema: &Value) -> String {
        signature("t", schema.as_object().unwrap())
    }

    #[test]
    fn seam_7_a_long_signature_is_shortened_to_a_readable_length() {
        let small = json!({"properties": {"a": {"type": "string"}}, "required": ["a"]});
        let small = small.as_object().unwrap();
        assert_eq!(short_signature("t.f", small), signature("t.f", small));
        let words: Vec<String> = (0..100).map(|number| format!("word{number}")).collect();
        let mut properties = serde_json::Map::new();
        properties.insert("kind".into(), json!({"enum": words}));
        for number in 0..300 {
            properties.insert(format!("optional_{number}"), json!({"type": "integer", "default": number}));
        }
        properties.insert("last".into(), json!({"type": "string"}));
        let long = json!({"properties": properties, "required": ["kind", "last"]});
        let long = long.as_object().unwrap();
        assert!(signature("t.f", long).len() > 8000);
        let short = short_signature("t.f", long);
        assert!(short.len() < 600, "{short}");
        assert!(short.starts_with("t.f(kind: Literal['word0', 'word1', "), "{short}");
        assert!(short.contains("optional_0: int = 0, ") && !short.contains("optional_299"), "{short}");
        assert!(short.ends_with("last: str, …)"), "required parameters are kept: {short}");
    }

    #[test]
    fn every_json_type_has_a_python_name() {
        let schema = json!({"properties": {
            "s": {"type": "string"}, "i": {"type": "integer"}, "n": {"type": "number"}, "b": {"type": "boolean"},
            "l": {"type": "array", "items": {"type": "string"}}, "o": {"type": "object"},
            "u": {"type": ["string", "null"]}, "a": {"anyOf": [{"type": "integer"}, {"type": "null"}]},
            "e": {"enum": ["x", 1, null]}, "r": {"$ref": "#/$defs/R"}, "any": {}},
            "required": ["s", "i", "n", "b", "l", "o", "u", "a", "e", "r", "any"],
            "$defs": {"R": {"type": "string"}}});
        assert_eq!(
            signature_of(&schema),
            "t(s: str, i: int, n: float, b: bool, l: list[str], o: dict, u: str | None, a: int | None, \
             e: Literal['x', 1, None], r: str, any: Any)"
        );
    }

    #[test]
    fn optional_parameters_show_their_default_or_dots() {
        let schema = json!({"properties": {"repo": {"type": "string"}, "flag": {"type": "boolean", "default": true},
            "text": {"type": "string", "default": "it's"}}});
        assert_eq!(signature_of(&schema), r"t(repo: str = ..., flag: bool = True, text: str = 'it\'s')");
    }

    #[test]
    fn agt_1_parameters_have_names_that_python_accepts() {
        let schema = json!({"properties": {"per-page": {"type": "integer", "default": 30}, "from": {}, "$filter": {},
            "per_page": {}, "per.page": {}}, "required": ["from"]});
        assert_eq!(
            signature_of(&schema),
            "t(per_page_2: int = 30, from_: Any, _filter: Any = ..., per_page: Any = ..., per_page_3: Any = ...)"
        );
    }

    #[test]
    fn a_recursive_schema_terminates() {
        let schema = json!({"properties": {"node": {"$ref": "#/$defs/N"}}, "required": ["node"],
            "$defs": {"N": {"type": "array", "items": {"$ref": "#/$defs/N"}}}});
        assert_eq!(signature_of(&schema), "t(node: list[list[Any]])");
    }
}
