//! How to start a process that puts itself into a cage.

use std::ffi::OsString;
use std::path::PathBuf;

/// How to start a process that puts itself into a cage.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WorkerCommand {
    /// The program.
    pub program: PathBuf,
    /// Its arguments; what the process is to do is added to them.
    pub args: Vec<OsString>,
}
