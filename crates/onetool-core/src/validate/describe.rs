//! What is wrong with a value, in words.

use jsonschema::ValidationError;
use jsonschema::error::ValidationErrorKind;
use serde_json::Value;

use super::ArgumentError;
use crate::shorten;

const MAX_ERRORS: usize = 20;
const MAX_MESSAGE: usize = 300;
const MAX_PATH: usize = 1000;

/// Returns where a value breaks a schema.
pub(super) fn errors(validator: &jsonschema::Validator, value: &Value) -> Vec<ArgumentError> {
    let mut found = Vec::new();
    for error in validator.iter_errors(value).take(MAX_ERRORS) {
        describe(&error, &mut found);
    }
    found.truncate(MAX_ERRORS);
    found
}

/// Adds what an error says. Where one variant of several was clearly meant, its own errors say more than that none
/// matches.
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
    if message.len() > MAX_MESSAGE {
        message.truncate(message.floor_char_boundary(MAX_MESSAGE));
        message.push('…');
    }
    let keyword = Some(error.kind().keyword().to_owned());
    // A path has the names of properties in it, which may have any length.
    let path = shorten(&error.instance_path().to_string(), MAX_PATH).into_owned();
    found.push(ArgumentError { path, message, keyword });
}

/// Returns the errors of the only variant whose type and constants match.
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
