//! The `run` tool, tools and packs written in Python, and the aliases and snippets that code can use.
//!
//! [`Interpreter`] is the entry point. Builds without the feature `python` have it too; there it only reports errors.

#[cfg(all(feature = "_run", fuzzing))]
#[doc(hidden)]
pub mod fuzzing;
#[cfg(feature = "_run")]
mod interpreter;
#[cfg(not(feature = "_run"))]
#[path = "no_interpreter.rs"]
mod interpreter;
mod options;
mod python_name;
mod python_pack;
#[cfg(feature = "_run")]
mod python_packs;
#[cfg(feature = "_run")]
mod run;
pub mod shortcuts;
#[cfg(feature = "_run")]
mod syntax;
pub mod yaml;

pub use interpreter::{Interpreter, LANGUAGE_VERSION};
pub use options::RunOptions;
pub use python_name::python_name;
pub use python_pack::PythonPack;
