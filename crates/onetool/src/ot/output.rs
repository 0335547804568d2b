//! Results of the functions: data, or text.

use onetool_core::{IntoToolOutput, ToolError, ToolOutput};
use serde_json::Value;

use onetool_core::json_size;
use onetool_run::yaml;

/// Maximum size of data that is written as YAML. Larger data is written as JSON, which is valid YAML and much faster.
const MAX_YAML: usize = 1 << 20;

/// The result of a function of the pack.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Output {
    /// Data, whose text is YAML in flow style.
    Data(Value),
    /// A page of a stored result, whose text has one line per line of the page.
    Page(Value),
    /// Text, also in code.
    Text(String),
    /// An error. Code receives it as text.
    Error(String),
}

impl Output {
    /// Returns a list as data.
    pub(super) fn list<T: Into<Value>>(items: impl IntoIterator<Item = T>) -> Self {
        Self::Data(Value::Array(items.into_iter().map(Into::into).collect()))
    }
}

impl IntoToolOutput for Output {
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
