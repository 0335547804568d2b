//! Tests of pack files, type hints and docstrings.

use serde_json::{Value, json};

use super::docstring::Docstring;
use super::module::{Module, ModuleError};

fn parse(source: &str) -> Module {
    Module::parse(source, "weather").unwrap()
}

/// Returns the schema of the parameter in `def f(x: HINT)`.
fn schema_of(hint: &str) -> Value {
    let module = parse(&format!("def f(x: {hint}): ..."));
    module.functions[0].schema["properties"]["x"].clone()
}

#[test]
fn the_public_functions_of_a_file_become_tools() {
    let module = parse(
        r#"
"""Weather for cities.

Ask for one city at a time.
"""
import json

pack = "sky"

def _helper(x): return x

async def now(city: str, *, days: int = 1, units="metric", tags: list[str] | None = None, **more) -> dict:
    """Fetch current weather.

    More details.

    Args:
        city (str): Name of the city,
            in English.
        days: Number of days.

    Returns:
        One line per day.
    """

class NotATool: ...

def ping():
    return "pong"
"#,
    );
    assert_eq!(module.pack, "sky");
    assert_eq!(module.description.as_deref(), Some("Weather for cities.\n\nAsk for one city at a time."));
    let names: Vec<&str> = module.functions.iter().map(|it| it.name.as_str()).collect();
    assert_eq!(names, ["now", "ping"]);
    let now = &module.functions[0];
    let description = "Fetch current weather.\n\nMore details.\n\nReturns:\n    One line per day.";
    assert_eq!(now.description, description);
    let schema = json!({
        "type": "object",
        "properties": {
            "city": {"type": "string", "description": "Name of the city, in English."},
            "days": {"type": "integer", "description": "Number of days.", "default": 1},
            "units": {"type": "string", "default": "metric"},
            "tags": {"anyOf": [{"type": "array", "items": {"type": "string"}}, {"type": "null"}]},
        },
        "required": ["city"],
        "additionalProperties": true,
    });
    assert_eq!(Value::Object(now.schema.clone()), schema);
    let empty = json!({"type": "object", "properties": {}, "additionalProperties": false});
    assert_eq!(Value::Object(module.functions[1].schema.clone()), empty);
}

#[test]
fn type_hints_become_schemas() {
    let table = [
        ("str", json!({"type": "string"})),
        ("float", json!({"type": "number"})),
        ("bool", json!({"type": "boolean"})),
        ("int | None", json!({"type": ["integer", "null"]})),
        ("int | str | None", json!({"type": ["integer", "string", "null"]})),
        ("Optional[str]", json!({"type": ["string", "null"]})),
        (
            "typing.Union[int, list[int]]",
            json!({"anyOf": [{"type": "integer"}, {"type": "array", "items": {"type": "integer"}}]}),
        ),
        (
            "list[int] | dict[str, int] | None",
            json!({"anyOf": [
                {"type": "array", "items": {"type": "integer"}},
                {"type": "object", "additionalProperties": {"type": "integer"}},
                {"type": "null"},
            ]}),
        ),
        ("list", json!({"type": "array"})),
        ("tuple[int, ...]", json!({"type": "array", "items": {"type": "integer"}})),
        ("tuple[int, str]", json!({"type": "array"})),
        ("dict[str, Any]", json!({"type": "object"})),
        ("Literal['a', 'b', 3]", json!({"enum": ["a", "b", 3]})),
        ("Annotated[int, 'Count.']", json!({"type": "integer", "description": "Count."})),
        ("'list[str]'", json!({"type": "array", "items": {"type": "string"}})),
        ("Any", json!({})),
        ("Unknown[int]", json!({})),
        ("str | Unknown", json!({})),
    ];
    for (hint, schema) in table {
        assert_eq!(schema_of(hint), schema, "{hint}");
    }
}

#[test]
fn parameters_are_described_in_a_section_or_in_sphinx_fields() {
    let text = "Does it.\n\n    :param str city: The city,\n        in English.\n    :param days: Days.\n    :returns: text\n    ";
    let docstring = Docstring::parse(text);
    assert_eq!(docstring.description, "Does it.\n\n:returns: text");
    let parameters: Vec<(&str, &str)> =
        docstring.parameters.iter().map(|(name, text)| (name.as_str(), text.as_str())).collect();
    assert_eq!(parameters, [("city", "The city, in English."), ("days", "Days.")]);
    assert_eq!(Docstring::parse("Args:\n"), Docstring::default());
    assert_eq!(Docstring::parse(""), Docstring::default());
}

#[test]
fn errors_have_a_line() {
    let wrong = |source: &str| Module::parse(source, "weather").unwrap_err();
    let at = |line, reason: &str| ModuleError { line: Some(line), reason: reason.to_owned() };
    assert_eq!(wrong("x = 1\npack = 1 + 1\n"), at(2, "'pack' must be a string literal"));
    assert_eq!(
        wrong("\ndef f(*items): ..."),
        at(2, "function 'f': '*items' is not supported; arguments are passed by name")
    );
    assert_eq!(
        wrong("def f(a, /): ..."),
        at(1, "function 'f': 'a' cannot be positional-only; arguments are passed by name")
    );
    assert_eq!(wrong("def f(:\n").line, Some(1));
    assert_eq!(wrong(&"(".repeat(200)).reason, "brackets are nested more than 100 deep");
}
