//! The command that starts a caged process.

use std::ffi::OsString;
use std::path::PathBuf;

/// The command that starts a process that cages itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WorkerCommand {
    /// The program.
    pub program: PathBuf,
    /// Its first arguments; the arguments that describe its work are appended.
    pub args: Vec<OsString>,
}
