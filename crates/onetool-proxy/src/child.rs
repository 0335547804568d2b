//! The child process of an upstream server, with a minimal environment and piped standard streams.

use std::ffi::{OsStr, OsString};
use std::io;
use std::path::Path;
use std::process::Stdio;

use indexmap::IndexMap;
use tokio::process::{ChildStderr, ChildStdin, ChildStdout};

use crate::context::ChildContext;
use crate::process::{ProcessTree, TreeCommand, find_program};

/// What to start.
pub(crate) struct ChildCommand<'a> {
    pub(crate) command: &'a str,
    pub(crate) args: &'a [String],
    pub(crate) env: &'a IndexMap<String, String>,
    pub(crate) directory: Option<&'a Path>,
}

/// Our ends of a child's standard streams.
pub(crate) struct Streams {
    pub(crate) stdin: ChildStdin,
    pub(crate) stdout: ChildStdout,
    pub(crate) stderr: ChildStderr,
}

/// A child that could not be started.
pub(crate) enum SpawnError {
    /// The program does not exist, so retrying does not help.
    Missing(String),
    /// The system could not start it.
    System(io::Error),
}

/// Starts a child with the inherited variables and its own, and nothing else.
pub(crate) fn spawn(
    command: &ChildCommand<'_>,
    context: &ChildContext,
) -> Result<(ProcessTree, Streams), SpawnError> {
    let environment = context.environment.with_own(command.env);
    let path = environment.get(OsStr::new("PATH")).map(OsString::as_os_str);
    let program = find_program(command.command, path, command.directory).map_err(SpawnError::Missing)?;
    spawn_program(&program, command, &environment, context).map_err(SpawnError::System)
}

fn spawn_program(
    program: &Path,
    command: &ChildCommand<'_>,
    environment: &IndexMap<OsString, OsString>,
    context: &ChildContext,
) -> io::Result<(ProcessTree, Streams)> {
    let mut tree = TreeCommand::new(program, context.guard.as_ref())?;
    tree.command()
        .args(command.args)
        .env_clear()
        .envs(environment)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    if let Some(directory) = command.directory {
        tree.command().current_dir(directory);
    }
    let mut child = tree.spawn()?;
    match child.take_streams() {
        (Some(stdin), Some(stdout), Some(stderr)) => Ok((child, Streams { stdin, stdout, stderr })),
        _ => Err(io::Error::other("the child has no standard streams")),
    }
}
