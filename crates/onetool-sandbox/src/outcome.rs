//! Programs to run, and the outcome of a run.

use onetool_cage::SlotError;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::LimitKind;

/// Code to run.
#[derive(Clone, Debug, PartialEq)]
pub struct Program {
    /// Python source.
    pub source: String,
    /// The file name in tracebacks, such as `main.py`.
    pub file_name: String,
    /// The input of the code.
    pub input: Input,
    /// The number of programs that called this one, one inside the other.
    pub depth: usize,
}

/// The input of a program, and how it is passed.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Input {
    /// No input.
    #[default]
    Nothing,
    /// Values of global variables.
    Globals(Map<String, Value>),
    /// The code is a module. A function of it is called, and its return value is the value of the run.
    Call {
        /// The module's `__name__`.
        module: String,
        /// The function.
        function: String,
        /// Its keyword arguments.
        arguments: Map<String, Value>,
    },
}

/// The outcome of a completed run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// What the code printed.
    pub printed: String,
    /// The value of the run.
    pub value: Completion,
    /// `__format__`, if the code set it to a string.
    pub format: Option<String>,
    /// Whether the code set `__sanitize__` to a true value.
    pub sanitize: bool,
    /// The number of calls that the code made.
    pub calls: u32,
}

/// The value of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Completion {
    /// The last statement is not an expression, and no `return` was executed.
    NoValue,
    /// The value of the last expression or of a top-level `return`, as compact JSON; Python's `None` is `null`.
    Value(String),
}

/// A run that did not complete.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum RunError {
    /// The code raised an exception and did not catch it.
    #[error("{kind}: {message}")]
    Exception {
        /// The type of the exception.
        kind: String,
        /// The message of the exception.
        message: String,
        /// The line of the code that raised it, starting at 1.
        line: Option<u32>,
        /// Python's traceback, with only the lines of the code.
        traceback: String,
        /// What the code had printed.
        printed: String,
        /// The number of calls that the code had made.
        calls: u32,
    },
    /// The code is not valid Python.
    #[error("SyntaxError: {message} (line {line})")]
    Syntax {
        /// What is wrong.
        message: String,
        /// The line, starting at 1.
        line: u32,
        /// The column in characters, starting at 1.
        column: u32,
        /// The text of the line.
        text: String,
    },
    /// The code exceeded a limit.
    #[error("{limit}: {message}")]
    Limit {
        /// The limit.
        limit: LimitKind,
        /// What the code did, with the value of the limit.
        message: String,
        /// What the code had printed.
        printed: String,
        /// The number of calls that the code had made.
        calls: u32,
    },
    /// The process that ran the code ended without a result: it was killed, crashed, or violated the cage.
    #[error("the process that ran the code died: {reason}")]
    Died {
        /// How it died.
        reason: String,
        /// What the code had printed.
        printed: String,
    },
    /// Too many programs are running.
    #[error(transparent)]
    Busy(#[from] SlotError),
    /// The process that runs code could not be started.
    #[error("cannot start the Python worker: {reason}")]
    Unavailable {
        /// Why not.
        reason: String,
    },
}
