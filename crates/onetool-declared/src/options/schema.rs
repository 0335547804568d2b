//! The JSON Schema of a tool's parameters, from `params` or `input_schema`.

use indexmap::IndexMap;
use onetool_config::{ConfigError, Section};
use onetool_core::JsonObject;
use onetool_core::validate::check_schema;
use serde_json::{Value, json};

/// Returns the schema of a tool; without either key, the tool has no parameters.
pub(super) fn input_schema(
    params: Option<IndexMap<String, JsonObject>>,
    schema: Option<JsonObject>,
    section: &Section<'_>,
) -> Result<JsonObject, ConfigError> {
    match (params, schema) {
        (Some(_), Some(_)) => Err(section.invalid("use either 'params' or 'input_schema', not both")),
        (None, Some(schema)) => whole(schema, &section.field("input_schema")),
        (params, None) => from_params(params.unwrap_or_default(), &section.field("params")),
    }
}

fn whole(mut schema: JsonObject, section: &Section<'_>) -> Result<JsonObject, ConfigError> {
    if schema.get("type").is_some_and(|it| it != "object") {
        return Err(section.field("type").invalid("the type of all parameters together is 'object'"));
    }
    schema.entry("type").or_insert("object".into());
    check(&Value::Object(schema.clone()), section)?;
    Ok(schema)
}

fn from_params(
    params: IndexMap<String, JsonObject>,
    section: &Section<'_>,
) -> Result<JsonObject, ConfigError> {
    let mut properties = JsonObject::new();
    let mut required = Vec::new();
    for (name, mut schema) in params {
        let section = section.field(&name);
        // A list under `required` is JSON Schema: the required properties of an object.
        let is_required = match schema.get("required") {
            None | Some(Value::Array(_)) => !schema.contains_key("default"),
            Some(Value::Bool(flag)) => *flag,
            Some(_) => {
                return Err(section.field("required").invalid("must be true or false"));
            }
        };
        if schema.get("required").is_some_and(Value::is_boolean) {
            schema.shift_remove("required");
        }
        let schema = Value::Object(schema);
        check(&schema, &section)?;
        if is_required {
            required.push(Value::from(name.as_str()));
        }
        properties.insert(name, schema);
    }
    let mut schema = JsonObject::new();
    schema.insert("type".into(), "object".into());
    schema.insert("properties".into(), properties.into());
    if !required.is_empty() {
        schema.insert("required".into(), required.into());
    }
    schema.insert("additionalProperties".into(), json!(false));
    Ok(schema)
}

fn check(schema: &Value, section: &Section<'_>) -> Result<(), ConfigError> {
    let Err(error) = check_schema(schema) else { return Ok(()) };
    let reason = if error.path.ends_with("/type") {
        "the types are string, integer, number, boolean, array, object and null".to_owned()
    } else {
        error.message
    };
    let keyword = if error.path.is_empty() { String::new() } else { format!(" at {}", error.path) };
    Err(section.invalid(format!("invalid JSON Schema{keyword}: {reason}")))
}
