//! The child process of an upstream server: started with little, spoken to over its standard streams.

use std::ffi::{OsStr, OsString};
use std::io;
use std::path::Path;
use std::process::Stdio;

use indexmap::IndexMap;
use tokio::process::{ChildStderr, ChildStdin, ChildStdout};

use crate::Surroundings;
use crate::process::{ProcessTree, TreeCommand, find_program};

/// What to start.
pub(crate) struct ChildCommand<'a> {
    pub(crate) command: &'a str,
    pub(crate) args: &'a [String],
    pub(crate) env: &'a IndexMap<String, String>,
    pub(crate) directory: Option<&'a Path>,
}

/// The three ends of a child's streams that are ours.
pub(crate) struct Streams {
    pub(crate) stdin: ChildStdin,
    pub(crate) stdout: ChildStdout,
    pub(crate) stderr: ChildStderr,
}

/// A child that could not be started.
pub(crate) enum SpawnError {
    /// There is no such program: trying again does not help.
    Missing(String),
    /// The system refused.
    System(io::Error),
}

/// Starts a child with the few variables it may have and nothing else.
pub(crate) fn spawn(
    what: &ChildCommand<'_>,
    around: &Surroundings,
) -> Result<(ProcessTree, Streams), SpawnError> {
    let environment = environment(what.env, &around.environment);
    let path = environment.get(OsStr::new("PATH")).map(OsString::as_os_str);
    let program = find_program(what.command, path, what.directory).map_err(SpawnError::Missing)?;
    start(what, &program, &environment, around).map_err(SpawnError::System)
}

fn start(
    what: &ChildCommand<'_>,
    program: &Path,
    environment: &IndexMap<OsString, OsString>,
    around: &Surroundings,
) -> io::Result<(ProcessTree, Streams)> {
    let mut child = TreeCommand::new(program, around.guard.as_ref())?;
    let command = child.command();
    command
        .args(what.args)
        .env_clear()
        .envs(environment)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    if let Some(directory) = what.directory {
        command.current_dir(directory);
    }
    let mut child = child.spawn()?;
    match child.take_streams() {
        (Some(stdin), Some(stdout), Some(stderr)) => Ok((child, Streams { stdin, stdout, stderr })),
        _ => Err(io::Error::other("the child has no standard streams")),
    }
}

/// Makes the environment of a child: the inherited variables that every program needs, and its own.
fn environment(
    own: &IndexMap<String, String>,
    inherited: &[(OsString, OsString)],
) -> IndexMap<OsString, OsString> {
    let inherited = inherited.iter().filter(|(name, _)| name.to_str().is_some_and(may_be_inherited));
    let own = own.iter().map(|(name, value)| (name.into(), value.into()));
    inherited.cloned().chain(own).collect()
}

fn may_be_inherited(name: &str) -> bool {
    // The last one keeps a gateway from starting itself through its own servers.
    matches!(name, "PATH" | "HOME" | "LANG" | "LANGUAGE" | "ONETOOL_GATEWAYS") || name.starts_with("LC_")
}
