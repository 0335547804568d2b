//! Why something cannot be registered, or found.

use onetool_core::{NameError, ToolName};

/// Why a tool, resource or prompt was not registered. What was there before stays.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RegisterError {
    /// The name cannot be used.
    #[error(transparent)]
    Name(#[from] NameError),
    /// Another tool has the name.
    #[error("duplicate tool name '{name}': it is registered already, and the first one stays")]
    DuplicateTool {
        /// The name.
        name: ToolName,
    },
    /// Clients see another tool under the flat spelling of the name.
    #[error(
        "duplicate tool name '{name}': clients already see tool '{holder}' as '{flat}'; choose another name"
    )]
    DuplicateFlatName {
        /// The name.
        name: ToolName,
        /// Its flat spelling.
        flat: String,
        /// The tool that has it, which stays.
        holder: ToolName,
    },
    /// The name belongs to the gateway.
    #[error("tool name '{name}' is reserved for onetool itself; choose another name or pack")]
    ReservedTool {
        /// The name.
        name: ToolName,
    },
    /// The input schema is none.
    #[error("the input schema of tool '{name}' is not valid: {reason}")]
    InvalidSchema {
        /// The tool.
        name: ToolName,
        /// What is wrong with it.
        reason: String,
    },
    /// The output schema is not a JSON Schema.
    #[error("the output schema of tool '{name}' is not valid: {reason}")]
    InvalidOutputSchema {
        /// The tool.
        name: ToolName,
        /// What is wrong with it.
        reason: String,
    },
    /// Another resource has the URI.
    #[error("duplicate resource URI '{uri}': it is registered already, and the first one stays")]
    DuplicateResource {
        /// The URI.
        uri: String,
    },
    /// The URI is none.
    #[error("resource URI '{uri}' has no scheme; write it like 'docs://{uri}'")]
    InvalidUri {
        /// The text.
        uri: String,
    },
    /// Another prompt has the name.
    #[error("duplicate prompt name '{name}': it is registered already, and the first one stays")]
    DuplicatePrompt {
        /// The name.
        name: String,
    },
    /// A prompt needs a name.
    #[error("a prompt has an empty name")]
    EmptyPromptName,
}

/// A name that no tool has, with what may have been meant.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("tool not found: '{name}'{}", self.hint())]
pub struct UnknownName {
    /// The name that was asked for.
    pub name: String,
    /// The name it has now, if it was renamed.
    pub renamed_to: Option<String>,
    /// Whether there is no tool of the new name either.
    pub is_gone: bool,
    /// Names that look alike, best first.
    pub near: Vec<String>,
}

impl UnknownName {
    /// Returns what may have been meant, beginning with a separator; may be empty.
    pub fn hint(&self) -> String {
        let renamed = match &self.renamed_to {
            Some(new) if self.is_gone => {
                format!("; it is called '{new}' now, which this server does not have")
            }
            Some(new) => format!("; it is called '{new}' now"),
            None => String::new(),
        };
        match self.near.as_slice() {
            [] => renamed,
            near => format!("{renamed}; did you mean {}?", quoted_list(near)),
        }
    }
}

fn quoted_list(names: &[String]) -> String {
    names.iter().map(|name| format!("'{name}'")).collect::<Vec<_>>().join(" or ")
}
