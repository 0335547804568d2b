//! What can go wrong in a handler, and in naming things.

use std::borrow::Cow;

use serde_json::Value;

use crate::InputRequired;

/// Any error a handler may end with.
pub type BoxError = Box<dyn std::error::Error + Send + Sync>;

/// A tool call that did not produce an output.
///
/// This is for a handler that failed. A tool's own bad news (a page that does not exist, a command that ended
/// with 1) is an output with [`ToolOutput::error`](crate::ToolOutput::error).
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ToolError {
    /// The handler failed.
    #[error("{message}")]
    Failed {
        /// What happened, in words for the caller.
        message: String,
        /// What caused it.
        #[source]
        source: Option<BoxError>,
    },
    /// The handler raises an exception of a kind that code can catch, such as `ValueError`.
    #[error("{message}")]
    Raised {
        /// The name of the Python exception.
        kind: Cow<'static, str>,
        /// What happened, in words for the caller.
        message: String,
    },
    /// The arguments passed the schema but not the handler's own type.
    #[error("cannot read the arguments: {reason}")]
    Arguments {
        /// What does not fit.
        reason: String,
    },
    /// The handler needs an answer from the client before it can go on.
    #[error("the client has to answer first")]
    InputRequired(Box<InputRequired>),
    /// The person has to open addresses first, which a client that can show them gets as they are (error -32042 of MCP).
    #[error("{message}; the person has to open: {}", urls(.data))]
    UrlRequired {
        /// What the server says.
        message: String,
        /// The addresses, as MCP writes them.
        data: Value,
    },
    /// Asking the client did not work.
    #[error(transparent)]
    Input(#[from] InputError),
}

impl ToolError {
    /// Makes the error of a handler that failed with `message`.
    pub fn failed(message: impl Into<String>) -> Self {
        Self::Failed { message: message.into(), source: None }
    }

    /// Takes any error; one that is a [`ToolError`] already stays what it is.
    pub fn from_any(error: impl Into<BoxError>) -> Self {
        match error.into().downcast::<Self>() {
            Ok(error) => *error,
            Err(source) => {
                Self::Failed { message: source.to_string(), source: source.source().map(boxed_text) }
            }
        }
    }
}

/// Keeps the text of a cause whose lifetime ends with its parent.
fn boxed_text(cause: &(dyn std::error::Error + 'static)) -> BoxError {
    let mut text = cause.to_string();
    let mut next = cause.source();
    while let Some(cause) = next {
        text = format!("{text}: {cause}");
        next = cause.source();
    }
    text.into()
}

/// A question to the client that got no usable answer.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum InputError {
    /// The client did not declare the capability that the question needs.
    #[error("the client does not support {capability}")]
    Unsupported {
        /// The capability, as MCP names it: `sampling`, `elicitation` or `roots`.
        capability: &'static str,
    },
    /// The client was asked and refused or failed.
    #[error("the client did not answer: {reason}")]
    Refused {
        /// What the client or the transport said.
        reason: String,
    },
    /// State that came back from the client was changed or belongs to another request.
    #[error("the request state is not valid for this request")]
    State,
}

/// Returns the addresses in the data of [`ToolError::UrlRequired`].
fn urls(data: &Value) -> String {
    let elicitations = data["elicitations"].as_array().into_iter().flatten();
    elicitations.filter_map(|it| it["url"].as_str()).collect::<Vec<_>>().join(", ")
}

/// A resource that could not be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ResourceError {
    /// Nothing is there under this URI.
    #[error("resource not found: {uri}{hint}")]
    NotFound {
        /// The URI that was asked for.
        uri: String,
        /// What to try instead, starting with a separator; may be empty.
        hint: String,
    },
    /// The handler failed.
    #[error("{message}")]
    Failed {
        /// What happened, in words for the caller.
        message: String,
    },
    /// The handler needs an answer from the client before it can go on.
    #[error("the client has to answer first")]
    InputRequired(Box<InputRequired>),
    /// Asking the client did not work.
    #[error(transparent)]
    Input(#[from] InputError),
}

impl ResourceError {
    /// Takes any error; one that is a [`ResourceError`] already stays what it is.
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

/// A prompt that could not be made.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PromptError {
    /// Required arguments are not there.
    #[error("missing required argument{}: {}", if names.len() == 1 { "" } else { "s" }, names.join(", "))]
    Missing {
        /// Every missing argument.
        names: Vec<String>,
    },
    /// An argument cannot be read as what it has to be.
    #[error("argument '{name}': {reason}")]
    Argument {
        /// The argument.
        name: String,
        /// What does not fit.
        reason: String,
    },
    /// The arguments do not fit the handler's own type.
    #[error("cannot read the arguments: {reason}")]
    Arguments {
        /// What does not fit.
        reason: String,
    },
    /// The handler failed.
    #[error("{message}")]
    Failed {
        /// What happened, in words for the caller.
        message: String,
    },
    /// The handler needs an answer from the client before it can go on.
    #[error("the client has to answer first")]
    InputRequired(Box<InputRequired>),
    /// Asking the client did not work.
    #[error(transparent)]
    Input(#[from] InputError),
}

impl PromptError {
    /// Takes any error; one that is a [`PromptError`] already stays what it is.
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
#[derive(Debug, thiserror::Error)]
#[error("cannot list the tools: {reason}")]
pub struct ProviderError {
    /// What happened.
    pub reason: String,
}

/// A tool name that cannot be registered.
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
    #[error("tool name has {length} bytes, at most {max} are allowed")]
    TooLong {
        /// Its length in bytes.
        length: usize,
        /// The limit.
        max: usize,
    },
    /// The name holds a character that no caller could type.
    #[error("tool name '{}' holds {character:?}; white space and control characters are not allowed", name.escape_debug())]
    Character {
        /// The name.
        name: String,
        /// The first such character.
        character: char,
    },
}
