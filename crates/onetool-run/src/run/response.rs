//! The text of a run's response: the printed output, then the value in the requested format.

use std::collections::VecDeque;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use onetool_core::{ContentBlock, abbreviate, json_weight};
use onetool_sandbox::{Completion, Outcome, RunError};
use serde_json::Value;

use super::attachments::Attachments;
use crate::yaml;

const NO_VALUE: &str = "(no value: the last statement is not an expression)";

/// The output format of a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Format {
    Json,
    JsonForHumans,
    Yaml,
    YamlForHumans,
    Raw,
}

/// A value that cannot be written in the requested format.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum FormatError {
    #[error("unknown __format__ '{0}'; use one of json, json_h, yml, yml_h, raw")]
    Unknown(String),
    #[error("the result is too large for this __format__; use json or raw")]
    TooLarge,
}

/// Maximum size in memory of a value that a format needs as a tree; a tree takes many times the memory of its text.
const MAX_TREE: usize = 256 << 20;

impl Format {
    fn from_name(name: &str) -> Result<Self, FormatError> {
        match name {
            "json" => Ok(Self::Json),
            "json_h" => Ok(Self::JsonForHumans),
            "yml" => Ok(Self::Yaml),
            "yml_h" => Ok(Self::YamlForHumans),
            "raw" => Ok(Self::Raw),
            other => Err(FormatError::Unknown(abbreviate(other).into_owned())),
        }
    }

    fn write(self, json: String) -> Result<String, FormatError> {
        let write: fn(&Value) -> String = match self {
            Self::Json => return Ok(json),
            Self::Raw => return Ok(plain(json)),
            Self::JsonForHumans => |value| format!("{value:#}"),
            Self::Yaml => yaml::to_text,
            Self::YamlForHumans => yaml::to_block,
        };
        if json_weight(json.as_bytes()) > MAX_TREE {
            return Err(FormatError::TooLarge);
        }
        Ok(write(&serde_json::from_str(&json).unwrap_or(Value::String(json))))
    }
}

/// The response of a run that completed.
pub(crate) struct Response {
    pub(crate) text: String,
    /// Images and other content that the text refers to.
    pub(crate) attached: Vec<ContentBlock>,
    /// Whether the whole result is an error that the `ot` pack returned as text.
    pub(crate) is_error: bool,
    /// Whether the whole result is a page of a stored result.
    pub(crate) is_page: bool,
}

/// Returns the response of a run that completed.
pub(crate) fn from_outcome(
    outcome: Outcome,
    ot_results: &OtResults,
    attachments: &Attachments,
) -> Result<Response, FormatError> {
    let format = outcome.format.as_deref().map(Format::from_name).transpose()?;
    let Completion::Value(json) = outcome.value else {
        let text = after_printed(&outcome.printed, NO_VALUE.to_owned());
        let (text, attached) = attachments.extract_from_text(text);
        return Ok(Response { text, attached, is_error: false, is_page: false });
    };
    let ot_result = ot_results.find(&json);
    let json = attachments.replace_in_json(json, MAX_TREE);
    let is_error = ot_result.is_some_and(|result| result.text.starts_with("Error: "));
    let is_page = outcome.printed.is_empty() && ot_result.is_some_and(|result| result.is_page);
    let text = match (format, ot_result) {
        (Some(format), _) => format.write(json)?,
        (None, Some(result)) => result.text.clone(),
        (None, None) => plain(json),
    };
    let (text, attached) = attachments.extract_from_text(after_printed(&outcome.printed, text));
    Ok(Response { text, attached, is_error, is_page })
}

/// Returns strings unquoted, constants in Python's spelling, and other data as compact JSON.
pub(super) fn plain(json: String) -> String {
    match json.as_str() {
        "null" => "None".into(),
        "true" => "True".into(),
        "false" => "False".into(),
        text if text.starts_with('"') => serde_json::from_str(text).unwrap_or(json),
        _ => json,
    }
}

/// Results of the `ot` pack in one run, whose values have their own text form.
///
/// A run that returns such a value unchanged returns its text. Values are recognized by hash, and the amount of text
/// is limited.
#[derive(Default)]
pub(crate) struct OtResults {
    results: VecDeque<OtResult>,
    bytes: usize,
}

struct OtResult {
    hash: u64,
    text: String,
    /// Whether it is a page of a stored result.
    is_page: bool,
}

impl OtResults {
    /// Maximum total length of the text; the oldest results are dropped first.
    const MAX_BYTES: usize = 4 << 20;

    pub(super) fn push(&mut self, value: &Value, text: String, is_page: bool) {
        if value.is_null() || text.len() > Self::MAX_BYTES {
            return;
        }
        self.bytes += text.len();
        self.results.push_back(OtResult { hash: hash(&value.to_string()), text, is_page });
        while self.bytes > Self::MAX_BYTES
            && let Some(oldest) = self.results.pop_front()
        {
            self.bytes -= oldest.text.len();
        }
    }

    fn find(&self, json: &str) -> Option<&OtResult> {
        let hash = hash(json);
        self.results.iter().rev().find(|result| result.hash == hash)
    }
}

/// Hashes code or a value, to recognize it within this process.
pub(super) fn hash(text: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    text.hash(&mut hasher);
    hasher.finish()
}

fn after_printed(printed: &str, text: String) -> String {
    match printed.trim_end_matches('\n') {
        "" => text,
        printed => format!("{printed}\n{text}"),
    }
}

/// Returns the response of a run that failed.
pub(crate) fn from_error(error: &RunError) -> String {
    match error {
        RunError::Exception { kind, message, line, printed, .. } => {
            after_printed(printed, exception(kind, message, *line))
        }
        RunError::Limit { printed, .. } | RunError::Died { printed, .. } => {
            after_printed(printed, error.to_string())
        }
        _ => error.to_string(),
    }
}

/// Formats an exception with the line of the user's code.
pub(crate) fn exception(kind: &str, message: &str, line: Option<u32>) -> String {
    let place = line.map_or_else(String::new, |line| format!(" (line {line})"));
    format!("{kind}: {message}{place}")
}
