//! A program and everything it starts: begun under a guard, ended as a whole.

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

use crate::Guard;
use crate::guard::TERMINATE;

/// How long the kernel may take over a process that was killed.
const KILL_GRACE: Duration = Duration::from_secs(5);

/// A program that is about to be started.
pub struct TreeCommand {
    command: std::process::Command,
    lifeline: Option<(PipeReader, PipeWriter)>,
}

impl TreeCommand {
    /// Prepares a program, which [`find_program`] has found.
    ///
    /// # Errors
    /// When the system has no pipe left for the guard.
    pub fn new(program: &Path, guard: Option<&Guard>) -> io::Result<Self> {
        let Some(guard) = guard else {
            return Ok(Self { command: std::process::Command::new(program), lifeline: None });
        };
        let (read, write) = io::pipe()?;
        // The guard has to inherit this end. Another child that is started at the same moment may inherit it too,
        // which does no harm: only the end that we keep holds the guard back.
        fcntl_setfd(&read, FdFlags::empty())?;
        let command = guard.watch(read.as_raw_fd(), program.as_os_str());
        Ok(Self { command, lifeline: Some((read, write)) })
    }

    /// Returns the command, for its arguments, environment, directory and streams.
    pub fn command(&mut self) -> &mut std::process::Command {
        &mut self.command
    }

    /// Starts the program in a process group of its own.
    ///
    /// # Errors
    /// When the system refuses.
    pub fn spawn(self) -> io::Result<ProcessTree> {
        let mut command = tokio::process::Command::from(self.command);
        command.process_group(0).kill_on_drop(self.lifeline.is_none());
        let child = command.spawn()?;
        let leash = match self.lifeline {
            Some((_, write)) => Some(Leash::Guard(write)),
            None => child.id().and_then(|id| Pid::from_raw(id.cast_signed())).map(Leash::Group),
        };
        Ok(ProcessTree { child, leash })
    }
}

/// A running program and everything that it has started, all of which ends when this is dropped.
///
/// Without a guard, "everything" is what stays in the program's process group.
pub struct ProcessTree {
    child: Child,
    leash: Option<Leash>,
}

/// What the processes are held by.
enum Leash {
    /// The pipe to the guard; its end ends them all.
    Guard(PipeWriter),
    /// Their group, where there is no guard.
    Group(Pid),
}

impl ProcessTree {
    /// Takes our ends of the streams that were piped.
    pub fn take_streams(&mut self) -> (Option<ChildStdin>, Option<ChildStdout>, Option<ChildStderr>) {
        (self.child.stdin.take(), self.child.stdout.take(), self.child.stderr.take())
    }

    /// Waits until the program ends by itself.
    ///
    /// # Errors
    /// When the system does not say how it ended.
    pub async fn wait(&mut self) -> io::Result<ExitStatus> {
        self.child.wait().await
    }

    /// Ends the program, whose standard input is closed by now, and returns how it ended.
    ///
    /// It may end by itself within `grace`, then within `grace` after SIGTERM; then all of it is killed.
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

    /// Kills everything: what was left behind, if the program itself has ended.
    pub(crate) fn kill(&mut self) {
        if let Some(Leash::Group(group)) = self.leash.take() {
            let _ = kill_process_group(group, Signal::KILL);
        }
    }
}

impl Drop for ProcessTree {
    fn drop(&mut self) {
        self.kill();
    }
}

/// Says how a program ended, in words.
pub fn ending(status: ExitStatus) -> String {
    // The guard passes a signal on as a shell does.
    let signal =
        status.signal().or_else(|| status.code().filter(|code| (129..160).contains(code)).map(|it| it - 128));
    match (signal, status.code()) {
        (Some(signal), _) => format!("was ended by signal {signal}"),
        (None, Some(0)) => "ended by itself".to_owned(),
        (None, code) => format!("ended with exit code {}", code.unwrap_or_default()),
    }
}

/// Finds a program as its process would: by its path, or in the `PATH` that the process gets.
///
/// # Errors
/// When there is no such program, in words.
pub fn find_program(
    command: &str,
    path: Option<&OsStr>,
    directory: Option<&Path>,
) -> Result<PathBuf, String> {
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
