//! What a run answers: the value in the format the code asked for, after what it printed.

use std::collections::VecDeque;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use onetool_core::{ContentBlock, abbreviate, json_weight};
use onetool_sandbox::{Completion, Outcome, RunError};
use serde_json::Value;

use super::attachments::Attachments;
use crate::yaml;

const NO_VALUE: &str = "(no value: the last statement is not an expression)";

/// How a value is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Format {
    Json,
    JsonForHumans,
    Yaml,
    YamlForHumans,
    Raw,
}

/// A value that cannot be written in the format that the code asked for.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum FormatError {
    #[error("unknown __format__ '{0}'; use one of json, json_h, yml, yml_h, raw")]
    Unknown(String),
    #[error("the result is too large for this __format__; use json or raw")]
    TooLarge,
}

/// Formats that need the value as a tree write no larger one: a tree takes many times the memory of its text.
const MAX_TREE: usize = 256 << 20;

impl Format {
    fn named(name: &str) -> Result<Self, FormatError> {
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

/// What a run that came to its end answers.
pub(crate) struct Answer {
    pub(crate) text: String,
    /// What the text speaks of and cannot say.
    pub(crate) attached: Vec<ContentBlock>,
    /// Whether the whole result is an error that the `ot` pack returned as text.
    pub(crate) is_error: bool,
    /// Whether the whole result is a page of a stored result.
    pub(crate) is_page: bool,
}

/// Writes the answer of a run that came to its end.
pub(crate) fn of_outcome(
    outcome: Outcome,
    ot_answers: &OtAnswers,
    attachments: &Attachments,
) -> Result<Answer, FormatError> {
    let format = outcome.format.as_deref().map(Format::named).transpose()?;
    let Completion::Value(json) = outcome.value else {
        let (text, attached) = attachments.in_text(after_printed(&outcome.printed, NO_VALUE.to_owned()));
        return Ok(Answer { text, attached, is_error: false, is_page: false });
    };
    let own = ot_answers.find(&json);
    let json = attachments.in_value(json, MAX_TREE);
    let is_error = own.is_some_and(|answer| answer.text.starts_with("Error: "));
    let is_page = outcome.printed.is_empty() && own.is_some_and(|answer| answer.is_page);
    let text = match (format, own) {
        (Some(format), _) => format.write(json)?,
        (None, Some(answer)) => answer.text.clone(),
        (None, None) => plain(json),
    };
    let (text, attached) = attachments.in_text(after_printed(&outcome.printed, text));
    Ok(Answer { text, attached, is_error, is_page })
}

/// Writes a string as it is, other data as compact JSON, and single values as Python writes them.
pub(super) fn plain(json: String) -> String {
    match json.as_str() {
        "null" => "None".into(),
        "true" => "True".into(),
        "false" => "False".into(),
        text if text.starts_with('"') => serde_json::from_str(text).unwrap_or(json),
        _ => json,
    }
}

/// Answers of the `ot` pack in one run: values that have a text of their own.
///
/// Values are remembered by their hash and only so much text is kept; what a program does not return as it is needs
/// neither.
#[derive(Default)]
pub(crate) struct OtAnswers {
    answers: VecDeque<OtAnswer>,
    bytes: usize,
}

struct OtAnswer {
    hash: u64,
    text: String,
    /// Whether it is a page of a stored result.
    is_page: bool,
}

impl OtAnswers {
    /// Most bytes of text that are kept, the latest first.
    const MAX: usize = 4 << 20;

    pub(super) fn push(&mut self, value: &Value, text: String, is_page: bool) {
        if value.is_null() || text.len() > Self::MAX {
            return;
        }
        self.bytes += text.len();
        self.answers.push_back(OtAnswer { hash: hash(&value.to_string()), text, is_page });
        while self.bytes > Self::MAX
            && let Some(oldest) = self.answers.pop_front()
        {
            self.bytes -= oldest.text.len();
        }
    }

    fn find(&self, json: &str) -> Option<&OtAnswer> {
        let wanted = hash(json);
        self.answers.iter().rev().find(|answer| answer.hash == wanted)
    }
}

/// Hashes code or a value, to recognise it again in this process.
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

/// Writes the answer of a run that did not come to its end.
pub(crate) fn of_error(error: &RunError) -> String {
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

/// Writes an exception with the line of the user's code.
pub(crate) fn exception(kind: &str, message: &str, line: Option<u32>) -> String {
    let place = line.map_or_else(String::new, |line| format!(" (line {line})"));
    format!("{kind}: {message}{place}")
}
