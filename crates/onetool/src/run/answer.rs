//! What a run answers: the value in the format the code asked for, after what it printed.

use onetool_sandbox::{Completion, Outcome, RunError};
use serde_json::Value;

use crate::render::yaml_flow;

const NO_VALUE: &str = "(no value: the last statement is no expression)";

/// How a value is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Format {
    Json,
    JsonForHumans,
    Yaml,
    YamlForHumans,
    Raw,
}

/// A format that there is not.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("unknown __format__ '{0}'; use one of json, json_h, yml, yml_h, raw")]
pub(crate) struct UnknownFormat(String);

impl Format {
    fn named(name: &str) -> Result<Self, UnknownFormat> {
        match name {
            "json" => Ok(Self::Json),
            "json_h" => Ok(Self::JsonForHumans),
            "yml" => Ok(Self::Yaml),
            "yml_h" => Ok(Self::YamlForHumans),
            "raw" => Ok(Self::Raw),
            other => Err(UnknownFormat(other.to_owned())),
        }
    }

    fn write(self, value: &Value) -> String {
        match self {
            Self::Json => value.to_string(),
            Self::JsonForHumans => format!("{value:#}"),
            Self::Yaml => yaml_flow::to_text(value),
            Self::YamlForHumans => yaml_flow::to_block(value),
            Self::Raw => plain(value),
        }
    }
}

/// Writes the answer of a run that came to its end. `ot_answers` are values that have a text of their own.
pub(crate) fn of_outcome(outcome: &Outcome, ot_answers: &[(Value, String)]) -> Result<String, UnknownFormat> {
    let format = outcome.format.as_deref().map(Format::named).transpose()?;
    let value = match (&outcome.value, format) {
        (Completion::NoValue, _) => NO_VALUE.to_owned(),
        (Completion::Value(value), Some(format)) => format.write(value),
        (Completion::Value(value), None) => {
            let own = ot_answers.iter().find(|(answer, _)| answer == value && !value.is_null());
            own.map_or_else(|| plain(value), |(_, text)| text.clone())
        }
    };
    Ok(after_printed(&outcome.printed, &value))
}

/// Writes a string as it is, other data as compact JSON, and single values as Python writes them.
pub(super) fn plain(value: &Value) -> String {
    match value {
        Value::Null => "None".into(),
        Value::Bool(true) => "True".into(),
        Value::Bool(false) => "False".into(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

fn after_printed(printed: &str, text: &str) -> String {
    match (printed.trim_end_matches('\n'), text) {
        ("", text) => text.to_owned(),
        (printed, text) => format!("{printed}\n{text}"),
    }
}

/// Writes the answer of a run that did not come to its end.
pub(crate) fn of_error(error: &RunError) -> String {
    match error {
        RunError::Exception { kind, message, line, printed, .. } => {
            after_printed(printed, &exception(kind, message, *line))
        }
        RunError::Limit { printed, .. } | RunError::Died { printed, .. } => {
            after_printed(printed, &error.to_string())
        }
        _ => error.to_string(),
    }
}

/// Writes an exception with the line of the user's code.
pub(crate) fn exception(kind: &str, message: &str, line: Option<u32>) -> String {
    let place = line.map_or_else(String::new, |line| format!(" (line {line})"));
    format!("{kind}: {message}{place}")
}
