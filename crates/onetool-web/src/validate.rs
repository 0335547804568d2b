//! Checks arguments against a tool's JSON Schema and says where they break it.

use onetool_core::JsonObject;
use serde::Serialize;
use serde_json::Value;

const MAX_ERRORS: usize = 50;
const MAX_MESSAGE: usize = 300;

/// One way in which arguments break a schema.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ArgumentError {
    /// Where, as a JSON Pointer; empty for the arguments as a whole.
    pub path: String,
    /// Why, in words.
    pub message: String,
    /// The keyword of the schema that was broken.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub keyword: Option<String>,
}

impl ArgumentError {
    /// Makes an error of the arguments as a whole.
    pub(crate) fn whole(message: String, keyword: &str) -> Self {
        Self { path: String::new(), message, keyword: Some(keyword.to_owned()) }
    }
}

/// Returns what is wrong with the arguments; nothing passes a schema that is broken.
///
/// The schema is compiled each time, as the provider may list another one under the same name next time. References
/// to other documents are never followed.
pub(crate) fn check(schema: &JsonObject, args: &JsonObject) -> Vec<ArgumentError> {
    if schema.is_empty() {
        return Vec::new();
    }
    let schema = Value::Object(schema.clone());
    let validator = match compile(&schema) {
        Ok(validator) => validator,
        Err(reason) => return vec![ArgumentError::whole(format!("Invalid schema: {reason}"), "schema")],
    };
    let args = Value::Object(args.clone());
    validator.iter_errors(&args).take(MAX_ERRORS).map(|error| describe(&error)).collect()
}

fn compile(schema: &Value) -> Result<jsonschema::Validator, String> {
    if let Err(error) = jsonschema::meta::validate(schema) {
        return Err(format!("at '{}': {error}", error.instance_path()));
    }
    jsonschema::validator_for(schema).map_err(|error| error.to_string())
}

fn describe(error: &jsonschema::ValidationError<'_>) -> ArgumentError {
    let mut message = error.to_string();
    if message.len() > MAX_MESSAGE {
        // The text quotes the value; a large one would drown what is wrong with it.
        message = error.masked().to_string();
    }
    ArgumentError {
        path: error.instance_path().to_string(),
        message,
        keyword: Some(error.kind().keyword().to_owned()),
    }
}
