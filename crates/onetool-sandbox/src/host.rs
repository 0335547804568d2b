//! What running code may ask of the program that runs it.

use futures::future::BoxFuture;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// Answers the calls of one run.
///
/// The sandbox has no authority of its own: a call is data that is handed to the host, which decides.
pub trait Host: Send + Sync {
    /// Says what each of `names` is; asked at most once a run, before the code starts.
    ///
    /// The answer has as many elements as `names`, in the same order.
    fn names(&self, names: Vec<String>) -> BoxFuture<'_, Vec<NameKind>>;

    /// Runs one call. Several may be in flight at once; each is dropped when the run ends before it.
    fn call(&self, call: HostCall) -> BoxFuture<'_, Result<HostAnswer, HostError>>;
}

/// What a call evaluates to.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct HostAnswer {
    /// The value.
    pub value: Value,
    /// Text and other content next to the data. Objects and lists expose it as `text` and `blocks`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub beside: Option<Beside>,
}

/// Text and other content next to a value.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Beside {
    /// All text.
    pub text: String,
    /// Everything that is not text.
    pub blocks: Vec<Value>,
}

impl From<Value> for HostAnswer {
    fn from(value: Value) -> Self {
        Self { value, beside: None }
    }
}

/// What a name that the code uses but does not bind stands for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NameKind {
    /// An object whose attributes are tools: `brave` in `brave.search(…)`.
    Pack,
    /// Something that can be called by this very name: a flat name or an alias.
    Tool,
    /// Nothing the host knows.
    Unknown {
        /// A sentence that helps: it is added to the `NameError`.
        hint: Option<String>,
    },
}

/// A call that the code makes.
#[derive(Clone, Debug, PartialEq)]
pub struct HostCall {
    /// The name as written: `pack.tool`, or the flat name.
    pub name: String,
    /// Positional arguments.
    pub args: Vec<Value>,
    /// Keyword arguments, in the order in which they were written.
    pub kwargs: Map<String, Value>,
}

/// A call that failed; it is raised inside the code.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[error("{kind}: {message}")]
pub struct HostError {
    /// The Python exception type: `ToolError`, `ValueError`, `TypeError`, … An unknown one becomes `ToolError`.
    pub kind: String,
    /// What happened, in words for the author of the code.
    pub message: String,
}

impl HostError {
    /// Makes the error of a tool that failed.
    pub fn tool(message: impl Into<String>) -> Self {
        Self { kind: "ToolError".to_owned(), message: message.into() }
    }
}
