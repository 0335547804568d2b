//! What the functions answer: data, or text where the answer is text by nature.

use onetool_core::{IntoToolOutput, ToolError, ToolOutput};
use serde_json::Value;

use onetool_core::json_size;
use onetool_run::yaml;

/// Larger data is written as JSON, which is YAML as well and takes a fraction of the time.
const MAX_YAML: usize = 1 << 20;

/// The answer of a function of the pack.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Answer {
    /// Data; as text it is YAML in flow style.
    Data(Value),
    /// A page of lines; as text, each has a line of its own.
    Page(Value),
    /// Text, also inside code.
    Text(String),
    /// An error that code gets as text, and everybody else as an error.
    Error(String),
}

impl Answer {
    /// Makes data of a list.
    pub(super) fn list<T: Into<Value>>(items: impl IntoIterator<Item = T>) -> Self {
        Self::Data(Value::Array(items.into_iter().map(Into::into).collect()))
    }
}

impl IntoToolOutput for Answer {
    fn into_tool_output(self) -> Result<ToolOutput, ToolError> {
        let (text, data) = match self {
            Self::Text(text) => (text, None),
            Self::Error(text) => return Ok(ToolOutput::error(text)),
            Self::Data(Value::String(text)) => (text.clone(), Some(text.into())),
            Self::Data(data) if json_size(&data) > MAX_YAML => (data.to_string(), Some(data)),
            Self::Data(data) => (yaml::to_text(&data), Some(data)),
            Self::Page(data) => (yaml::to_text_with_lines(&data, "lines"), Some(data)),
        };
        Ok(ToolOutput { structured_content: data, ..ToolOutput::text(text) })
    }
}
