//! A program and everything it starts: started under a guard, ended together.

use std::ffi::OsStr;
use std::io::{self, PipeReader, PipeWriter, Write as _};
use std::os::fd::AsRawFd as _;
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::process::ExitStatus;
use std::time::Duration;

use rustix::io::{FdFlags, fcntl_setfd};
use rustix::process::{Pid, Signal, kill_process_group};
use tokio::process::{Child, ChildStderr, ChildStdin, ChildStdout};
use tokio::time::timeout;

use crate::guard::{Guard, TERMINATE};

/// How long to wait for a killed process.
const KILL_TIMEOUT: Duration = Duration::from_secs(5);

/// A program to be started.
pub struct TreeCommand {
    command: std::process::Command,
    lifeline: Option<(PipeReader, PipeWriter)>,
}

impl TreeCommand {
    /// Prepares a program, usually one that [`find_program`] has found.
    ///
    /// # Errors
    /// If the pipe for the guard cannot be created.
    pub fn new(program: &Path, guard: Option<&Guard>) -> io::Result<Self> {
        let Some(guard) = guard else {
            return Ok(Self { command: std::process::Command::new(program), lifeline: None });
        };
        let (read, write) = io::pipe()?;
        // The guard has to inherit this end. Another child that starts at the same moment may inherit it too, which is
        // harmless: only the end that we keep matters to the guard.
        fcntl_setfd(&read, FdFlags::empty())?;
        let command = guard.watch(read.as_raw_fd(), program.as_os_str());
        Ok(Self { command, lifeline: Some((read, write)) })
    }

    /// Returns the command, to set its arguments, environment, directory and streams.
    pub fn command(&mut self) -> &mut std::process::Command {
        &mut self.command
    }

    /// Starts the program in a new process group.
    ///
    /// # Errors
    /// If the system cannot start it.
    pub fn spawn(self) -> io::Result<ProcessTree> {
        let mut command = tokio::process::Command::from(self.command);
        command.process_group(0).kill_on_drop(self.lifeline.is_none());
        let child = command.spawn()?;
        let kill_switch = match self.lifeline {
            Some((_, write)) => Some(KillSwitch::Guard(write)),
            None => child.id().and_then(|id| Pid::from_raw(id.cast_signed())).map(KillSwitch::Group),
        };
        Ok(ProcessTree { child, kill_switch })
    }
}

/// A running program and everything it started, all of which is ended when this is dropped.
///
/// Without a guard, only the processes in the program's process group are ended.
pub struct ProcessTree {
    child: Child,
    kill_switch: Option<KillSwitch>,
}

/// How to end all processes.
enum KillSwitch {
    /// The pipe to the guard, which kills them when the pipe closes.
    Guard(PipeWriter),
    /// Their process group, without a guard.
    Group(Pid),
}

impl ProcessTree {
    /// Takes our ends of the piped streams.
    pub fn take_streams(&mut self) -> (Option<ChildStdin>, Option<ChildStdout>, Option<ChildStderr>) {
        (self.child.stdin.take(), self.child.stdout.take(), self.child.stderr.take())
    }

    /// Waits until the program exits.
    ///
    /// # Errors
    /// If the system does not return the exit status.
    pub async fn wait(&mut self) -> io::Result<ExitStatus> {
        self.child.wait().await
    }

    /// Ends the program, whose standard input is already closed, and returns its exit status.
    ///
    /// It may exit on its own within `grace`, then within `grace` after SIGTERM. After that everything is killed.
    pub(crate) async fn stop(mut self, grace: Duration) -> Option<ExitStatus> {
        if timeout(grace, self.child.wait()).await.is_err() {
            self.terminate();
            let _ = timeout(grace, self.child.wait()).await;
        }
        self.kill();
        match timeout(KILL_TIMEOUT, self.child.wait()).await {
            Ok(status) => status.ok(),
            Err(_) => None,
        }
    }

    fn terminate(&mut self) {
        match &mut self.kill_switch {
            // Errors mean that the processes have already exited.
            Some(KillSwitch::Guard(pipe)) => drop(pipe.write_all(&[TERMINATE])),
            Some(KillSwitch::Group(group)) => drop(kill_process_group(*group, Signal::TERM)),
            None => {}
        }
    }

    /// Kills everything, including processes that the program left behind.
    pub(crate) fn kill(&mut self) {
        // Taking the guard's pipe closes it.
        if let Some(KillSwitch::Group(group)) = self.kill_switch.take() {
            let _ = kill_process_group(group, Signal::KILL);
        }
    }
}

impl Drop for ProcessTree {
    fn drop(&mut self) {
        self.kill();
    }
}

/// Describes how a program ended, as the predicate of a sentence.
pub fn describe_exit(status: ExitStatus) -> String {
    // The guard reports a signal as a shell does: as exit code 128 + signal.
    let signal =
        status.signal().or_else(|| status.code().filter(|code| (129..160).contains(code)).map(|it| it - 128));
    match signal {
        Some(signal) => format!("was terminated by signal {signal}"),
        None => format!("exited with code {}", status.code().unwrap_or_default()),
    }
}

/// Finds a program by its path, or in the `PATH` of the child's environment.
///
/// # Errors
/// If there is no such program; the message says how to fix it.
pub fn find_program(
    command: &str,
    path: Option<&OsStr>,
    directory: Option<&Path>,
) -> Result<PathBuf, String> {
    if command.contains('/') {
        let program = directory.unwrap_or(Path::new("")).join(command);
        return if is_executable(&program) {
            Ok(program)
        } else {
            Err(format!("'{command}' is not an executable file; check `command`"))
        };
    }
    let mut candidates = path.into_iter().flat_map(std::env::split_paths).map(|folder| folder.join(command));
    candidates.find(|path| is_executable(path)).ok_or_else(|| {
        format!("'{command}' was not found in PATH; install it, or use its full path in `command`")
    })
}

fn is_executable(path: &Path) -> bool {
    path.metadata().is_ok_and(|metadata| metadata.is_file() && metadata.permissions().mode() & 0o111 != 0)
}
