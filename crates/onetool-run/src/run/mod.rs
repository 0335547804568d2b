//! The `run` tool: Python code in which every tool is a function.
//!
//! `source` and the snippets turn the command into code. A single literal call (`literal`) goes directly to dispatch;
//! other code runs in the sandbox, which calls back (`host_calls`). `response` turns the outcome into text, which is
//! stored if it is large. Tools written in Python (`python_tool`) run in the same sandbox.

mod arguments;
mod attachments;
mod host_calls;
mod literal;
mod python_names;
mod python_tool;
mod response;
mod source;
mod tool;

#[cfg(fuzzing)]
pub(crate) use literal::parse_call as parse_literal_call;
pub(crate) use python_names::NamesCache;
pub(crate) use python_tool::{PythonBody, PythonTool};
#[cfg(fuzzing)]
pub(crate) use source::extract_code;
pub(crate) use tool::{Runner, code, run_tool};
