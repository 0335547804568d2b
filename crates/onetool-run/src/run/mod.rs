//! The `run` tool: Python in which every tool is a function.
//!
//! Command → code (`source`, snippets) → one literal call straight to dispatch (`literal`), everything else in the
//! sandbox, which calls back (`host_calls`) → text (`response`), stored if it is large. Tools written in Python
//! (`python_tool`) run in the same sandbox.

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
pub(crate) use literal::call as literal_call;
pub(crate) use literal::{check_syntax, value as literal_value};
pub(crate) use python_names::NamesCache;
pub(crate) use python_tool::{PythonBody, PythonTool};
#[cfg(fuzzing)]
pub(crate) use source::code_of;
pub(crate) use tool::code;
pub(crate) use tool::{Runner, run_tool};
