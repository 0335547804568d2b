//! Agents' programs: the `run` tool, tools and packs written in Python, and the shortcuts that code can use.
//!
//! [`Interpreter`] is the entry point. Without the feature `python` it exists too, and reports that Python is missing.

#[cfg(feature = "_run")]
mod interpreter;
#[cfg(not(feature = "_run"))]
#[path = "no_interpreter.rs"]
mod interpreter;
mod options;
mod python_pack;
#[cfg(feature = "_run")]
mod python_packs;
#[cfg(feature = "_run")]
mod run;
pub mod shortcuts;
pub mod yaml;

pub use interpreter::{Interpreter, LANGUAGE_VERSION};
pub use options::RunOptions;
pub use python_pack::PythonPack;
#[cfg(all(feature = "_run", fuzzing))]
pub use run::{code_of, literal_call};
