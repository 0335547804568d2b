//! Binding of the arguments of a Python call to the parameters of a tool.

use onetool_core::{JsonObject, ToolSpec, abbreviate, parameters};
use onetool_server::catalog::{Entry, Source};
use serde_json::Value;

/// Arguments that do not match the tool's parameters.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum ArgumentsError {
    #[error("{tool} takes {takes} positional arguments but {given} were given; signature: {signature}")]
    TooMany { tool: String, takes: usize, given: usize, signature: String },
    #[error("{tool} got multiple values for '{name}'; signature: {signature}")]
    Duplicate { tool: String, name: String, signature: String },
    #[error("{tool} has no parameter '{name}'; signature: {signature}")]
    Unknown { tool: String, name: String, signature: String },
    #[error("{tool}: '{RESPONSE}' must be True or False")]
    Response { tool: String },
}

/// The keyword with which code requests the status and headers of an API's response.
const RESPONSE: &str = "_response";

/// Removes `_response` from the arguments of an API's tool, and returns its value.
pub(crate) fn take_response(entry: &Entry, kwargs: &mut JsonObject) -> Result<bool, ArgumentsError> {
    let is_own = || parameters(&entry.spec().input_schema).any(|parameter| parameter.name == RESPONSE);
    if !matches!(entry.source(), Source::OpenApi(_)) || !kwargs.contains_key(RESPONSE) || is_own() {
        return Ok(false);
    }
    match kwargs.shift_remove(RESPONSE) {
        Some(Value::Bool(is_wanted)) => Ok(is_wanted),
        _ => Err(ArgumentsError::Response { tool: entry.name().to_string() }),
    }
}

/// Returns the arguments under their parameters' names. Positional arguments bind in the order of the schema. A keyword
/// may be a prefix of a parameter's name; the exact name wins, then the first match in the order of the schema.
pub(crate) fn bind(
    spec: &ToolSpec,
    args: Vec<Value>,
    kwargs: JsonObject,
) -> Result<JsonObject, ArgumentsError> {
    let names: Vec<&str> = parameters(&spec.input_schema).map(|parameter| parameter.name).collect();
    let tool = || spec.name.to_string();
    if args.len() > names.len() {
        let (takes, given) = (names.len(), args.len());
        return Err(ArgumentsError::TooMany {
            tool: tool(),
            takes,
            given,
            signature: spec.short_signature(),
        });
    }
    let mut bound: JsonObject = names.iter().map(|name| (*name).to_owned()).zip(args).collect();
    for (given, value) in kwargs {
        let name = match names.iter().find(|name| **name == given).or_else(|| abbreviated(&names, &given)) {
            Some(name) => (*name).to_owned(),
            None if is_open(&spec.input_schema) => given,
            None => {
                return Err(ArgumentsError::Unknown {
                    tool: tool(),
                    name: abbreviate(&given).into_owned(),
                    signature: spec.short_signature(),
                });
            }
        };
        if bound.contains_key(&name) {
            return Err(ArgumentsError::Duplicate { tool: tool(), name, signature: spec.short_signature() });
        }
        bound.insert(name, value);
    }
    Ok(bound)
}

fn abbreviated<'a, 'b>(names: &'b [&'a str], given: &str) -> Option<&'b &'a str> {
    names.iter().find(|name| !given.is_empty() && name.starts_with(given))
}

/// Returns whether a schema accepts parameters that it does not list.
fn is_open(schema: &JsonObject) -> bool {
    match schema.get("additionalProperties") {
        Some(Value::Bool(open)) => *open,
        Some(_) => true,
        None => !schema.contains_key("properties"),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn object(value: Value) -> JsonObject {
        value.as_object().cloned().unwrap()
    }

    fn spec() -> ToolSpec {
        let schema = json!({"type": "object", "required": ["query"], "properties": {
            "query": {"type": "string"}, "count": {"type": "integer"}, "country": {"type": "string"}}});
        ToolSpec::new("brave.search", "").with_input_schema(object(schema))
    }

    fn bound(args: Vec<Value>, kwargs: Value) -> Result<Value, String> {
        bind(&spec(), args, object(kwargs)).map(Value::Object).map_err(|error| error.to_string())
    }

    #[test]
    fn run_3_1_positional_arguments_map_by_schema_order() {
        assert_eq!(bound(vec![json!("rust"), json!(5)], json!({})), Ok(json!({"query": "rust", "count": 5})));
        assert_eq!(
            bound(vec![json!(1); 4], json!({})).unwrap_err(),
            "brave.search takes 3 positional arguments but 4 were given; signature: brave.search(query: str, \
             count: int = ..., country: str = ...)"
        );
        assert!(
            bound(vec![json!("a")], json!({"query": "b"}))
                .unwrap_err()
                .contains("multiple values for 'query'")
        );
    }

    #[test]
    fn run_3_2_a_prefix_of_a_parameter_is_accepted_and_the_exact_name_wins() {
        assert_eq!(bound(vec![], json!({"q": "rust", "cou": 3})), Ok(json!({"query": "rust", "count": 3})));
        assert_eq!(
            bound(vec![], json!({"count": 1, "countr": "de"})),
            Ok(json!({"count": 1, "country": "de"}))
        );
    }

    #[test]
    fn run_3_3_a_wrong_argument_shows_the_signature() {
        assert_eq!(
            bound(vec![], json!({"limit": 5})).unwrap_err(),
            "brave.search has no parameter 'limit'; signature: brave.search(query: str, count: int = ..., \
             country: str = ...)"
        );
        let open = ToolSpec::new("a.b", "");
        assert_eq!(bind(&open, vec![], object(json!({"x": 1}))), Ok(object(json!({"x": 1}))));
    }
}
