//! A child process and its process group: started with little, ended with everything that belongs to it.

use std::ffi::{OsStr, OsString};
use std::io::{self, PipeWriter, Write as _};
use std::os::fd::AsRawFd as _;
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use indexmap::IndexMap;
use rustix::io::{FdFlags, fcntl_setfd};
use rustix::process::{Pid, Signal, kill_process_group};
use tokio::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command};
use tokio::time::timeout;

use crate::Surroundings;
use crate::guard::TERMINATE;

/// How long the kernel may take over a process that was killed.
const KILL_GRACE: Duration = Duration::from_secs(5);

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

/// A running child, or the guard that runs it. Dropping it kills the whole group.
pub(crate) struct ChildProcess {
    child: Child,
    leash: Option<Leash>,
}

/// What the group is held by.
enum Leash {
    /// The pipe to the guard; its end ends the group.
    Guard(PipeWriter),
    /// The group itself, where there is no guard.
    Group(Pid),
}

/// A child that could not be started.
pub(crate) enum SpawnError {
    /// There is no such program: trying again does not help.
    Missing(String),
    /// The system refused.
    System(io::Error),
}

impl ChildProcess {
    /// Starts a child in a process group of its own, with the few variables it may have and nothing else.
    pub(crate) fn spawn(
        what: &ChildCommand<'_>,
        around: &Surroundings,
    ) -> Result<(Self, Streams), SpawnError> {
        let environment = environment(what.env, &around.environment);
        let path = environment.get(OsStr::new("PATH")).map(OsString::as_os_str);
        let program = find_program(what.command, path, what.directory).map_err(SpawnError::Missing)?;
        Self::start(what, &program, &environment, around).map_err(SpawnError::System)
    }

    fn start(
        what: &ChildCommand<'_>,
        program: &Path,
        environment: &IndexMap<OsString, OsString>,
        around: &Surroundings,
    ) -> io::Result<(Self, Streams)> {
        let (mut command, pipe) = match &around.guard {
            Some(guard) => {
                let (read, write) = io::pipe()?;
                // The guard has to inherit this end. Another child that is started at the same moment may inherit
                // it too, which does no harm: only the end that we keep holds the guard back.
                fcntl_setfd(&read, FdFlags::empty())?;
                (guard.watch(read.as_raw_fd(), program.as_os_str()), Some((read, write)))
            }
            None => (std::process::Command::new(program), None),
        };
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
        let mut command = Command::from(command);
        command.process_group(0).kill_on_drop(pipe.is_none());
        let mut child = command.spawn()?;
        let leash = match pipe {
            Some((_, write)) => Some(Leash::Guard(write)),
            None => child.id().and_then(|id| Pid::from_raw(id.cast_signed())).map(Leash::Group),
        };
        let streams = child.stdin.take().zip(child.stdout.take()).zip(child.stderr.take());
        let child = Self { child, leash };
        match streams {
            Some(((stdin, stdout), stderr)) => Ok((child, Streams { stdin, stdout, stderr })),
            None => Err(io::Error::other("the child has no standard streams")),
        }
    }

    /// Waits until the child ends by itself.
    pub(crate) async fn exited(&mut self) {
        // What cannot be waited for is not there any more.
        let _ = self.child.wait().await;
    }

    /// Ends the child, whose standard input is closed by now, and returns how it ended.
    ///
    /// It may end by itself within `grace`, then within `grace` after SIGTERM; then it and its group are killed.
    pub(crate) async fn stop(mut self, grace: Duration) -> Option<ExitStatus> {
        if timeout(grace, self.child.wait()).await.is_err() {
            self.terminate();
            // Told to end, it or its group have had their chance.
            let _ = timeout(grace, self.child.wait()).await;
        }
        self.kill();
        match timeout(KILL_GRACE, self.child.wait()).await {
            Ok(status) => status.ok(),
            Err(_) => None,
        }
    }

    fn terminate(&mut self) {
        match &mut self.leash {
            // What has ended already cannot be told to, which is fine.
            Some(Leash::Guard(pipe)) => drop(pipe.write_all(&[TERMINATE])),
            Some(Leash::Group(group)) => drop(kill_process_group(*group, Signal::TERM)),
            None => {}
        }
    }

    /// Kills the group: what was left behind in it, if the child itself has ended.
    pub(crate) fn kill(&mut self) {
        if let Some(Leash::Group(group)) = self.leash.take() {
            let _ = kill_process_group(group, Signal::KILL);
        }
    }
}

impl Drop for ChildProcess {
    fn drop(&mut self) {
        self.kill();
    }
}

/// Says how a child ended, in words.
pub(crate) fn ending(status: ExitStatus) -> String {
    // The guard passes a signal on as a shell does.
    let signal =
        status.signal().or_else(|| status.code().filter(|code| (129..160).contains(code)).map(|it| it - 128));
    match (signal, status.code()) {
        (Some(signal), _) => format!("was ended by signal {signal}"),
        (None, Some(0)) => "ended by itself".to_owned(),
        (None, code) => format!("ended with exit code {}", code.unwrap_or_default()),
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
    matches!(name, "PATH" | "HOME" | "LANG" | "LANGUAGE") || name.starts_with("LC_")
}

/// Finds a program as the child would: by its path, or in the child's own `PATH`.
fn find_program(command: &str, path: Option<&OsStr>, directory: Option<&Path>) -> Result<PathBuf, String> {
    if command.contains('/') {
        let program = directory.unwrap_or(Path::new("")).join(command);
        return if is_program(&program) {
            Ok(program)
        } else {
            Err(format!("'{command}' is not a program that can be started; check `command`"))
        };
    }
    let found = path
        .and_then(|path| std::env::split_paths(path).map(|it| it.join(command)).find(|it| is_program(it)));
    found
        .ok_or_else(|| format!("'{command}' is not in PATH; install it, or give the whole path in `command`"))
}

fn is_program(path: &Path) -> bool {
    path.metadata().is_ok_and(|it| it.is_file() && it.permissions().mode() & 0o111 != 0)
}
