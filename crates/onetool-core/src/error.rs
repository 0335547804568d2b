//! Errors of handlers, providers and names.

use std::borrow::Cow;

use serde_json::Value;

use crate::{InputRequired, error_chain};

/// Any error that a handler can return.
pub type BoxError = Box<dyn std::error::Error + Send + Sync>;

/// A tool call that did not produce an output.
///
/// Use it if the handler itself fails. An error that the tool reports as its result (a page that does not exist, a command
/// with exit code 1) is an output: [`ToolOutput::error`](crate::ToolOutput::error).
///
/// ```
/// use onetool_core::{CallContext, ToolError, tool_fn};
///
/// let tool = tool_fn("disk.free", "Returns the free space.", |(): (), _: CallContext| async {
///     Err::<String, _>(ToolError::failed("the disk is not mounted"))
/// });
/// let error = ToolError::from_any(std::io::Error::other("disk full"));
/// assert_eq!(error.to_string(), "disk full");
/// ```
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ToolError {
    /// The handler failed.
    #[error("{message}")]
    Failed {
        /// The message for the caller.
        message: String,
        /// The cause.
        #[source]
        source: Option<BoxError>,
    },
    /// The handler raises a Python exception that code can catch, such as `ValueError`.
    #[error("{message}")]
    Raised {
        /// The name of the Python exception.
        kind: Cow<'static, str>,
        /// The message for the caller.
        message: String,
    },
    /// The arguments match the schema but not the handler's argument type.
    #[error("invalid arguments: {reason}")]
    Arguments {
        /// What is wrong with them.
        reason: String,
    },
    /// The handler needs input from the client to continue.
    #[error("input from the client is required")]
    InputRequired(Box<InputRequired>),
    /// The user has to open URLs first. Clients that support URL elicitation get them as MCP error -32042.
    #[error("{message}; the user must open: {}", urls(.data))]
    UrlRequired {
        /// The server's message.
        message: String,
        /// The URLs, as MCP defines them.
        data: Value,
    },
    /// A request to the client failed.
    #[error(transparent)]
    Input(#[from] InputError),
}

impl ToolError {
    /// Creates the error of a handler that failed with `message`.
    pub fn failed(message: impl Into<String>) -> Self {
        Self::Failed { message: message.into(), source: None }
    }

    /// Converts any error; a [`ToolError`] is returned unchanged.
    pub fn from_any(error: impl Into<BoxError>) -> Self {
        match error.into().downcast::<Self>() {
            Ok(error) => *error,
            Err(source) => {
                Self::Failed { message: source.to_string(), source: source.source().map(boxed_text) }
            }
        }
    }
}

/// Copies the text of a source, which is borrowed from its parent.
fn boxed_text(source: &(dyn std::error::Error + 'static)) -> BoxError {
    error_chain(source).into()
}

/// A request to the client that failed.
///
/// ```
/// use onetool_core::InputError;
///
/// let error = InputError::Unsupported { capability: "sampling" };
/// assert_eq!(error.to_string(), "the client does not support sampling");
/// ```
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum InputError {
    /// The client did not declare the capability that the request needs.
    #[error("the client does not support {capability}")]
    Unsupported {
        /// The capability, as MCP names it: `sampling`, `elicitation` or `roots`.
        capability: &'static str,
    },
    /// The client refused the request or failed.
    #[error("the request to the client failed: {reason}")]
    Refused {
        /// The reason given by the client or the transport.
        reason: String,
    },
    /// The state that the client sent back was modified, or belongs to another request.
    #[error("invalid request state: it was modified or belongs to another request")]
    State,
}

/// Returns the URLs in the data of [`ToolError::UrlRequired`].
fn urls(data: &Value) -> String {
    let elicitations = data["elicitations"].as_array().into_iter().flatten();
    elicitations.filter_map(|it| it["url"].as_str()).collect::<Vec<_>>().join(", ")
}

/// A resource that could not be read.
///
/// ```
/// use onetool_core::{CallContext, ReadRequest, ResourceContents, ResourceError, resource_fn};
///
/// let users = resource_fn("users://{id}", "user", |request: ReadRequest, _: CallContext| async move {
///     match request.values["id"].as_str() {
///         "1" => Ok(ResourceContents::text("Ada", "text/plain")),
///         _ => Err(ResourceError::NotFound { uri: request.uri, hint: String::new() }),
///     }
/// });
/// ```
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ResourceError {
    /// No resource has this URI.
    #[error("resource not found: {uri}{hint}")]
    NotFound {
        /// The requested URI.
        uri: String,
        /// What to try instead, starting with a separator; may be empty.
        hint: String,
    },
    /// The handler failed.
    #[error("{message}")]
    Failed {
        /// The message for the caller.
        message: String,
    },
    /// The handler needs input from the client to continue.
    #[error("input from the client is required")]
    InputRequired(Box<InputRequired>),
    /// A request to the client failed.
    #[error(transparent)]
    Input(#[from] InputError),
}

impl ResourceError {
    /// Converts any error; a [`ResourceError`] is returned unchanged.
    pub fn from_any(error: impl Into<BoxError>) -> Self {
        let error = match error.into().downcast::<Self>() {
            Ok(error) => return *error,
            Err(error) => error,
        };
        match error.downcast::<ToolError>().map(|error| *error) {
            Ok(ToolError::InputRequired(required)) => Self::InputRequired(required),
            Ok(ToolError::Input(error)) => Self::Input(error),
            Ok(other) => Self::Failed { message: other.to_string() },
            Err(error) => Self::Failed { message: error.to_string() },
        }
    }
}

/// A prompt that could not be rendered.
///
/// ```
/// use onetool_core::PromptError;
///
/// let error = PromptError::Missing { names: vec!["topic".into()] };
/// assert_eq!(error.to_string(), "missing required argument: topic");
/// ```
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PromptError {
    /// Required arguments are missing.
    #[error("missing required argument{}: {}", if names.len() == 1 { "" } else { "s" }, names.join(", "))]
    Missing {
        /// All missing arguments.
        names: Vec<String>,
    },
    /// An argument cannot be converted to its type.
    #[error("argument '{name}': {reason}")]
    Argument {
        /// The argument.
        name: String,
        /// What is wrong with it.
        reason: String,
    },
    /// The arguments do not match the handler's argument type.
    #[error("invalid arguments: {reason}")]
    Arguments {
        /// What is wrong with them.
        reason: String,
    },
    /// The handler failed.
    #[error("{message}")]
    Failed {
        /// The message for the caller.
        message: String,
    },
    /// The handler needs input from the client to continue.
    #[error("input from the client is required")]
    InputRequired(Box<InputRequired>),
    /// A request to the client failed.
    #[error(transparent)]
    Input(#[from] InputError),
}

impl PromptError {
    /// Converts any error; a [`PromptError`] is returned unchanged.
    pub fn from_any(error: impl Into<BoxError>) -> Self {
        let error = match error.into().downcast::<Self>() {
            Ok(error) => return *error,
            Err(error) => error,
        };
        match error.downcast::<ToolError>().map(|error| *error) {
            Ok(ToolError::InputRequired(required)) => Self::InputRequired(required),
            Ok(ToolError::Input(error)) => Self::Input(error),
            Ok(other) => Self::Failed { message: other.to_string() },
            Err(error) => Self::Failed { message: error.to_string() },
        }
    }
}

/// A provider that could not list its tools.
///
/// ```
/// use onetool_core::ProviderError;
///
/// let error = ProviderError::new("the registry is offline");
/// assert_eq!(error.to_string(), "cannot list tools: the registry is offline");
/// ```
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
#[error("cannot list tools: {reason}")]
pub struct ProviderError {
    /// The reason.
    pub reason: String,
}

impl ProviderError {
    /// Creates the error.
    pub fn new(reason: impl Into<String>) -> Self {
        Self { reason: reason.into() }
    }
}

/// A tool name that cannot be registered.
///
/// ```
/// use onetool_core::ToolName;
///
/// let error = ToolName::new("web search").check().unwrap_err();
/// assert!(error.to_string().contains("whitespace"));
/// ```
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NameError {
    /// The name, or the part before or after its first dot, is empty.
    #[error("tool name '{name}' is empty or has an empty part")]
    Empty {
        /// The name.
        name: String,
    },
    /// The name is too long.
    #[error("tool name is too long: {length} bytes (limit {max})")]
    TooLong {
        /// Its length in bytes.
        length: usize,
        /// The limit.
        max: usize,
    },
    /// The name contains whitespace or a control character.
    #[error("tool name '{}' contains {character:?}; whitespace and control characters are not allowed", name.escape_debug())]
    Character {
        /// The name.
        name: String,
        /// The first such character.
        character: char,
    },
}
