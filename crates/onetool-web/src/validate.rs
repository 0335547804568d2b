//! Checks arguments against a tool's JSON Schema and says where they break it.

use jsonschema::ValidationError;
use jsonschema::error::ValidationErrorKind;
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
    let mut found = Vec::new();
    for error in validator.iter_errors(&args).take(MAX_ERRORS) {
        describe(&error, &mut found);
    }
    found.truncate(MAX_ERRORS);
    found
}

fn compile(schema: &Value) -> Result<jsonschema::Validator, String> {
    if let Err(error) = jsonschema::meta::validate(schema) {
        return Err(format!("at '{}': {error}", error.instance_path()));
    }
    jsonschema::validator_for(schema).map_err(|error| error.to_string())
}

/// Adds what an error says. Where one variant of several was clearly meant, its own errors say more than that none fits.
fn describe(error: &ValidationError<'_>, found: &mut Vec<ArgumentError>) {
    let variants = match error.kind() {
        ValidationErrorKind::AnyOf { context } | ValidationErrorKind::OneOfNotValid { context } => {
            context.as_slice()
        }
        _ => &[],
    };
    if let Some(inner) = meant(error, variants) {
        for error in inner {
            describe(error, found);
        }
        return;
    }
    let mut message = error.to_string();
    if message.len() > MAX_MESSAGE {
        // The text quotes the value; a large one would drown what is wrong with it.
        message = error.masked().to_string();
    }
    let keyword = Some(error.kind().keyword().to_owned());
    found.push(ArgumentError { path: error.instance_path().to_string(), message, keyword });
}

/// Returns the errors of the only variant whose type and constants fit.
fn meant<'a>(
    error: &ValidationError<'_>,
    variants: &'a [Vec<ValidationError<'static>>],
) -> Option<&'a [ValidationError<'static>]> {
    let place = error.instance_path().to_string();
    let is_other = |inner: &ValidationError<'_>| match inner.kind() {
        ValidationErrorKind::Constant { .. } | ValidationErrorKind::Enum { .. } => true,
        ValidationErrorKind::Type { .. } => inner.instance_path().to_string() == place,
        _ => false,
    };
    let mut fitting = variants.iter().filter(|errors| !errors.is_empty() && !errors.iter().any(is_other));
    match (fitting.next(), fitting.next()) {
        (Some(errors), None) => Some(errors),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn paths(schema: Value, args: Value) -> Vec<String> {
        let object = |value: Value| value.as_object().cloned().unwrap();
        check(&object(schema), &object(args)).into_iter().map(|error| error.path).collect()
    }

    #[test]
    fn an_error_in_the_variant_that_was_meant_names_its_field() {
        let schema = json!({"properties": {"list": {"items": {"oneOf": [
            {"type": "object", "required": ["kind"], "properties": {"kind": {"const": "file"}, "size": {"type": "integer"}}},
            {"type": "object", "required": ["kind"], "properties": {"kind": {"const": "link"}, "size": {"type": "string"}}},
            {"type": "string", "minLength": 3}
        ]}}}});
        let of = |item: Value| paths(schema.clone(), json!({"list": [item]}));
        assert_eq!(of(json!({"kind": "file", "size": "x"})), ["/list/0/size"]);
        assert_eq!(of(json!("ab")), ["/list/0"]);
        // None of the variants is meant, so the error is that of the whole.
        assert_eq!(of(json!({"kind": "other"})), ["/list/0"]);
        assert!(of(json!({"kind": "link", "size": "x"})).is_empty());
    }

    #[test]
    fn n3_a_schema_that_does_not_compile_lets_nothing_pass() {
        for schema in
            [json!({"type": "strin"}), json!({"properties": {"a": 5}}), json!({"$ref": "#/nowhere"})]
        {
            let errors = check(&schema.as_object().cloned().unwrap(), &JsonObject::new());
            assert_eq!(errors.len(), 1, "{schema}");
            assert!(errors[0].message.starts_with("Invalid schema: "), "{schema}: {errors:?}");
        }
    }
}
