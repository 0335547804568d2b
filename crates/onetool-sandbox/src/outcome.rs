//! How a run ends.

use onetool_cage::SlotError;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::LimitKind;

/// Code to run.
#[derive(Clone, Debug, PartialEq)]
pub struct Program {
    /// Python source.
    pub source: String,
    /// The name that tracebacks give the source, such as `main.py`.
    pub file_name: String,
    /// What the code is given, and how.
    pub input: Input,
    /// How many programs called this one, one inside the other.
    pub depth: usize,
}

/// What a program is given, and how.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Input {
    /// Nothing: the code is run as it stands.
    #[default]
    Nothing,
    /// Values under global names.
    Globals(Map<String, Value>),
    /// The code is a module whose function is called; what that returns is the value of the run.
    Call {
        /// The module's `__name__`.
        module: String,
        /// The function.
        function: String,
        /// Its keyword arguments.
        arguments: Map<String, Value>,
    },
}

/// A run that came to its end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// What the code printed.
    pub printed: String,
    /// The value it ended with.
    pub value: Completion,
    /// `__format__`, if the code set it to a string.
    pub format: Option<String>,
    /// Whether the code set `__sanitize__` to something true.
    pub sanitize: bool,
    /// How many calls it made.
    pub calls: u32,
}

/// The value of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Completion {
    /// The last statement is not an expression, and there was no `return`.
    NoValue,
    /// The value of the last expression or of a top-level `return`, as compact JSON; Python's `None` is `null`.
    Value(String),
}

/// A run that did not come to its end.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum RunError {
    /// The code raised and did not catch.
    #[error("{kind}: {message}")]
    Exception {
        /// The exception's type.
        kind: String,
        /// The exception's text.
        message: String,
        /// The line of the code that raised it, counted from 1.
        line: Option<u32>,
        /// Python's traceback, with the lines of the code only.
        traceback: String,
        /// What the code had printed.
        printed: String,
        /// How many calls it had made.
        calls: u32,
    },
    /// The code is no Python.
    #[error("SyntaxError: {message} (line {line})")]
    Syntax {
        /// What is wrong.
        message: String,
        /// The line, counted from 1.
        line: u32,
        /// The column in characters, counted from 1.
        column: u32,
        /// The line's text.
        text: String,
    },
    /// The code used more than it may.
    #[error("{limit}: {message}")]
    Limit {
        /// Which limit.
        limit: LimitKind,
        /// What the code did, with the limit's figure.
        message: String,
        /// What the code had printed.
        printed: String,
        /// How many calls it had made.
        calls: u32,
    },
    /// The process that ran the code ended without an answer: killed, crashed, or caught at the cage.
    #[error("the process that ran the code died: {reason}")]
    Died {
        /// How it ended.
        reason: String,
        /// What the code had printed.
        printed: String,
    },
    /// Too many programs run already.
    #[error(transparent)]
    Busy(#[from] SlotError),
    /// No process to run code in could be started.
    #[error("cannot start the Python worker: {reason}")]
    Unavailable {
        /// Why not.
        reason: String,
    },
}
