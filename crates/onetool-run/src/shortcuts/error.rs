//! Errors of snippets.

/// Maximum number of known names in an error.
const NAMES_LISTED: usize = 50;

/// A snippet that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
#[expect(missing_docs, reason = "the messages explain the variants and their fields")]
pub enum SnippetError {
    #[error("unknown snippet '${name}'{}", suggestions("snippets", near, known))]
    Unknown { name: String, near: Vec<String>, known: Vec<String> },
    #[error("invalid call of snippet '${name}': {reason}")]
    Call { name: String, reason: String },
    #[error("snippet '${name}' requires {}{}", missing.join(", "), with_defaults(defaults))]
    Missing { name: String, missing: Vec<String>, defaults: Vec<String> },
    #[error("snippet '${name}' has no parameter '{parameter}'{}", suggestions("parameters", near, known))]
    Parameter { name: String, parameter: String, near: Vec<String>, known: Vec<String> },
    #[error("parameter '{parameter}' of snippet '${name}' must be {expected}, got '{given}'")]
    Value { name: String, parameter: String, expected: String, given: String },
    #[error("cannot expand snippet '${name}': {reason}")]
    Template { name: String, reason: String },
}

fn suggestions(kind: &str, near: &[String], known: &[String]) -> String {
    let near = match near {
        [] => String::new(),
        near => {
            let near: Vec<String> = near.iter().map(|name| format!("'{name}'")).collect();
            format!("; did you mean {}?", near.join(" or "))
        }
    };
    match known {
        [] => format!("; there are no {kind}"),
        known => {
            let listed = known.iter().take(NAMES_LISTED).map(String::as_str).collect::<Vec<_>>().join(", ");
            let more = if known.len() > NAMES_LISTED { ", …" } else { "" };
            format!("{near} ({kind}: {listed}{more})")
        }
    }
}

fn with_defaults(defaults: &[String]) -> String {
    if defaults.is_empty() { String::new() } else { format!("; optional: {}", defaults.join(", ")) }
}
