//! Error messages for values that do not match a schema.

use jsonschema::ValidationError;
use jsonschema::error::ValidationErrorKind;
use serde_json::Value;

use super::ArgumentError;
use crate::shorten;

const MAX_ERRORS: usize = 20;
const MAX_MESSAGE: usize = 300;
const MAX_PATH: usize = 1000;

/// Returns the errors of a value that does not match a schema.
pub(super) fn errors(validator: &jsonschema::Validator, value: &Value) -> Vec<ArgumentError> {
    let mut found = Vec::new();
    for error in validator.iter_errors(value).take(MAX_ERRORS) {
        describe(&error, &mut found);
    }
    found.truncate(MAX_ERRORS);
    found
}

/// Adds an error. If the value was clearly meant for one variant of several, adds the errors of that variant, which are
/// more helpful than "no variant matches".
fn describe(error: &ValidationError<'_>, found: &mut Vec<ArgumentError>) {
    let variants = match error.kind() {
        ValidationErrorKind::AnyOf { context } | ValidationErrorKind::OneOfNotValid { context } => {
            context.as_slice()
        }
        _ => &[],
    };
    if let Some(inner) = intended_variant(error, variants) {
        for error in inner {
            describe(error, found);
        }
        return;
    }
    let mut message = error.to_string();
    if message.len() > MAX_MESSAGE {
        // The message quotes the value; without a large value, the problem is easier to see.
        message = error.masked().to_string();
    }
    if message.len() > MAX_MESSAGE {
        message.truncate(message.floor_char_boundary(MAX_MESSAGE));
        message.push('…');
    }
    let keyword = Some(error.kind().keyword().to_owned());
    // A path contains property names, which can have any length.
    let path = shorten(&error.instance_path().to_string(), MAX_PATH).into_owned();
    found.push(ArgumentError { path, message, keyword });
}

/// Returns the errors of the only variant whose type and constants match.
fn intended_variant<'a>(
    error: &ValidationError<'_>,
    variants: &'a [Vec<ValidationError<'static>>],
) -> Option<&'a [ValidationError<'static>]> {
    let path = error.instance_path().to_string();
    let is_mismatch = |inner: &ValidationError<'_>| match inner.kind() {
        ValidationErrorKind::Constant { .. } | ValidationErrorKind::Enum { .. } => true,
        ValidationErrorKind::Type { .. } => inner.instance_path().to_string() == path,
        _ => false,
    };
    let mut candidates =
        variants.iter().filter(|errors| !errors.is_empty() && !errors.iter().any(is_mismatch));
    match (candidates.next(), candidates.next()) {
        (Some(errors), None) => Some(errors),
        _ => None,
    }
}
