//! The interface between running code and the program that runs it.

use futures::future::BoxFuture;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// Handles the calls of one run.
///
/// The sandbox has no privileges: a call is data sent to the host, which decides.
pub trait Host: Send + Sync {
    /// Returns the kind of each name, in the same order. Called at most once per run, before the code starts.
    fn names(&self, names: Vec<String>) -> BoxFuture<'_, Vec<NameKind>>;

    /// Executes one call. Several can be in flight at the same time. A call is dropped if the run ends before it does.
    fn call(&self, call: HostCall) -> BoxFuture<'_, Result<HostReply, HostError>>;
}

/// The result of a call.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct HostReply {
    /// The value.
    pub value: Value,
    /// Content in addition to the value. Objects and lists expose it as `text` and `blocks`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub extra: Option<ExtraContent>,
}

/// Content in addition to a value.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ExtraContent {
    /// All text.
    pub text: String,
    /// All content blocks that are not text.
    pub blocks: Vec<Value>,
}

impl From<Value> for HostReply {
    fn from(value: Value) -> Self {
        Self { value, extra: None }
    }
}

/// The kind of a name that the code uses but does not define.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NameKind {
    /// An object whose attributes are tools: `brave` in `brave.search(…)`.
    Pack,
    /// A tool that is called by this name: a flat name or an alias.
    Tool,
    /// A name that the host does not know.
    Unknown {
        /// A hint that is added to the `NameError`.
        hint: Option<String>,
    },
}

/// A call made by the code.
#[derive(Clone, Debug, PartialEq)]
pub struct HostCall {
    /// The name as written: `pack.tool`, or the flat name.
    pub name: String,
    /// Positional arguments.
    pub args: Vec<Value>,
    /// Keyword arguments, in source order.
    pub kwargs: Map<String, Value>,
}

/// A failed call, raised as an exception in the code.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[error("{kind}: {message}")]
pub struct HostError {
    /// The Python exception type: `ToolError`, `ValueError`, `TypeError`, … Unknown types become `ToolError`.
    pub kind: String,
    /// The message for the author of the code.
    pub message: String,
}

impl HostError {
    /// Creates the error of a failed tool.
    pub fn tool(message: impl Into<String>) -> Self {
        Self { kind: "ToolError".to_owned(), message: message.into() }
    }
}
