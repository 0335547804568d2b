//! Errors of registering and finding tools, resources and prompts.

use onetool_core::{NameError, ToolName};

/// A tool, resource or prompt that cannot be registered. Existing registrations do not change.
///
/// ```
/// use onetool_server::{CallContext, RegisterError, Server, tool_fn};
///
/// let hello = || tool_fn("demo.hello", "Says hello.", |(): (), _: CallContext| async { "hello" });
/// let server = Server::builder().extra_tools([hello()]).build()?;
/// assert!(matches!(server.register_tool(hello()), Err(RegisterError::DuplicateTool { .. })));
/// # Ok::<(), RegisterError>(())
/// ```
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RegisterError {
    /// The name is invalid.
    #[error(transparent)]
    Name(#[from] NameError),
    /// Another tool has the name.
    #[error("duplicate tool name '{name}': already registered; the first registration is kept")]
    DuplicateTool {
        /// The name.
        name: ToolName,
    },
    /// Another tool already has the flat spelling of the name.
    #[error(
        "duplicate tool name '{name}': clients already see tool '{holder}' as '{flat}'; choose another name"
    )]
    DuplicateFlatName {
        /// The name.
        name: ToolName,
        /// Its flat spelling.
        flat: String,
        /// The tool that already has it.
        holder: ToolName,
    },
    /// The name is reserved for the gateway.
    #[error("tool name '{name}' is reserved for onetool itself; choose another name or pack")]
    ReservedTool {
        /// The name.
        name: ToolName,
    },
    /// The input schema is invalid.
    #[error("invalid input schema of tool '{name}': {reason}")]
    InvalidSchema {
        /// The tool.
        name: ToolName,
        /// What is wrong with it.
        reason: String,
    },
    /// The output schema is invalid.
    #[error("invalid output schema of tool '{name}': {reason}")]
    InvalidOutputSchema {
        /// The tool.
        name: ToolName,
        /// What is wrong with it.
        reason: String,
    },
    /// Another resource has the URI.
    #[error("duplicate resource URI '{uri}': already registered; the first registration is kept")]
    DuplicateResource {
        /// The URI.
        uri: String,
    },
    /// The URI is invalid.
    #[error("resource URI '{uri}' has no scheme; use a URI like 'docs://{uri}'")]
    InvalidUri {
        /// The URI.
        uri: String,
    },
    /// Another prompt has the name.
    #[error("duplicate prompt name '{name}': already registered; the first registration is kept")]
    DuplicatePrompt {
        /// The name.
        name: String,
    },
    /// The name of a prompt is empty.
    #[error("the prompt name is empty")]
    EmptyPromptName,
}

/// The name of a tool that does not exist, with suggestions.
///
/// ```
/// use onetool_server::UnknownName;
///
/// let mut unknown = UnknownName::plain("demo.helo");
/// unknown.similar.push("demo.hello".into());
/// assert_eq!(unknown.to_string(), "tool not found: 'demo.helo'; did you mean 'demo.hello'?");
/// ```
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
#[error("tool not found: '{name}'{}", self.hint())]
pub struct UnknownName {
    /// The requested name.
    pub name: String,
    /// The new name, if the tool was renamed.
    pub renamed_to: Option<String>,
    /// Whether no tool has the new name, either.
    pub is_gone: bool,
    /// Similar names, best first.
    pub similar: Vec<String>,
}

impl UnknownName {
    /// Returns the suggestions as text that starts with a separator, or an empty string.
    pub fn hint(&self) -> String {
        let renamed = match &self.renamed_to {
            Some(new) if self.is_gone => {
                format!("; it was renamed to '{new}', which this server does not have")
            }
            Some(new) => format!("; it was renamed to '{new}'"),
            None => String::new(),
        };
        match self.similar.as_slice() {
            [] => renamed,
            similar => format!("{renamed}; did you mean {}?", quoted_list(similar)),
        }
    }
}

fn quoted_list(names: &[String]) -> String {
    names.iter().map(|name| format!("'{name}'")).collect::<Vec<_>>().join(" or ")
}
