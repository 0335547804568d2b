//! The guard: a small process that ends a program and everything it started when we are gone.
//!
//! It runs in two stages, both in `guard_main`. The first, `watch`, starts the second in a new process group and waits
//! for two events: the child exits, or a pipe closes whose other end only we hold. The second, `exec`, asks the kernel
//! to be killed with its parent and then becomes the actual program. The program's standard streams are the ones we
//! created: the guard passes them on and keeps none.
//!
//! On Linux the guard adopts orphaned descendants of the program, including those in another session, so it can end
//! all of them. Elsewhere it ends the program's process group.

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Read as _};
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::path::PathBuf;
use std::process::{Child, Command, ExitCode, ExitStatus};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use onetool_core::sync::Unpoisoned as _;
use rustix::io::Errno;
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process, kill_process_group, waitid};

/// Sent over the pipe: asks all processes to exit, with a chance to clean up.
pub(crate) const TERMINATE: u8 = b't';

/// The exit code that a shell returns for a program that cannot be started.
const CANNOT_START: u8 = 127;

/// How long to wait for killed processes before checking again.
const KILL_INTERVAL: Duration = Duration::from_millis(2);

/// The out-of-memory score adjustment of the program (-1000 to 1000): the kernel kills it before the gateway.
#[cfg(target_os = "linux")]
const OOM_SCORE: &str = "500";

/// How to start a guard: a program, and the arguments that make it call [`guard_main`] with the remaining ones.
#[derive(Debug, Clone)]
pub struct Guard {
    /// The program, usually our own binary.
    pub program: PathBuf,
    /// The arguments that precede the guard's own.
    pub args: Vec<OsString>,
}

impl Guard {
    /// Returns the command that guards `program` and watches the pipe with the descriptor `lifeline`.
    pub(crate) fn watch(&self, lifeline: i32, program: &std::ffi::OsStr) -> Command {
        let mut command = Command::new(&self.program);
        command.args(&self.args).arg("watch").arg(lifeline.to_string()).arg(program);
        command
    }

    fn exec(&self, rest: &[OsString]) -> Command {
        let mut command = Command::new(&self.program);
        command.args(&self.args).arg("exec").arg(std::process::id().to_string()).args(rest);
        command
    }
}

/// Runs a guard. `own` is how this process was started, `args` are the arguments after [`Guard::args`].
///
/// Call this before anything else, without a runtime, logging or threads.
pub fn guard_main(own: &Guard, args: impl IntoIterator<Item = OsString>) -> ExitCode {
    let args: Vec<OsString> = args.into_iter().collect();
    let (stage, number, rest) = match args.as_slice() {
        [stage, number, rest @ ..] if !rest.is_empty() => (stage.to_str(), number.to_str(), rest),
        _ => (None, None, &args[..]),
    };
    let result = match (stage, number.and_then(|it| it.parse().ok())) {
        (Some("watch"), Some(lifeline)) => watch(own, lifeline, rest),
        (Some("exec"), Some(parent)) => Err(exec(parent, rest)),
        _ => Err(io::Error::other("onetool starts the guard; do not run it yourself")),
    };
    result.unwrap_or_else(|error| {
        print_error(&error);
        ExitCode::from(CANNOT_START)
    })
}

#[expect(clippy::print_stderr, reason = "standard error is the child's, which we read and log")]
fn print_error(error: &io::Error) {
    eprintln!("onetool guard: {error}");
}

fn watch(own: &Guard, lifeline: i32, rest: &[OsString]) -> io::Result<ExitCode> {
    // Opened by path, because safe code cannot own a descriptor that is only a number.
    let mut lifeline = File::open(format!("/dev/fd/{lifeline}"))?;
    #[cfg(target_os = "linux")]
    rustix::process::set_child_subreaper(Some(rustix::process::getpid()))?;
    let child = own.exec(rest).process_group(0).spawn()?;
    let Some(group) = Pid::from_raw(child.id().cast_signed()) else {
        return Err(io::Error::other("the child has no process id"));
    };
    let null = File::options().read(true).write(true).open("/dev/null")?;
    rustix::stdio::dup2_stdin(&null)?;
    rustix::stdio::dup2_stdout(&null)?;
    rustix::stdio::dup2_stderr(&null)?;
    let program = Arc::new(GuardedProgram { group, reaping: Mutex::new(()) });
    let signaled = program.clone();
    std::thread::spawn(move || {
        let mut byte = [0];
        while matches!(lifeline.read(&mut byte), Ok(1)) {
            if byte[0] == TERMINATE {
                signaled.signal(Signal::TERM);
            }
        }
        // The pipe is closed: the gateway no longer needs the program, or is gone.
        signaled.signal(Signal::KILL);
    });
    let status = program.wait(child)?;
    program.kill_remaining();
    Ok(ExitCode::from(exit_code(status)))
}

/// The program and everything it started.
struct GuardedProgram {
    /// The program's process id, which is also the id of its group.
    group: Pid,
    /// Held while children are reaped or signaled: the id of a child cannot be reused before the child is reaped.
    reaping: Mutex<()>,
}

impl GuardedProgram {
    /// Sends a signal to the group and to every adopted process.
    fn signal(&self, signal: Signal) {
        let _reaping = self.reaping.lock().unpoisoned();
        let _ = kill_process_group(self.group, signal);
        for child in children() {
            let _ = kill_process(child, signal);
        }
    }

    /// Waits for the program, and reaps adopted processes that exit before it.
    fn wait(&self, mut program: Child) -> io::Result<ExitStatus> {
        let without_reaping = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
        loop {
            match waitid(WaitId::All, without_reaping) {
                Err(Errno::INTR) => continue,
                exited => exited?,
            };
            let _reaping = self.reaping.lock().unpoisoned();
            if waitid(WaitId::Pid(self.group), without_reaping | WaitIdOptions::NOHANG)?.is_some() {
                let _ = kill_process_group(self.group, Signal::KILL);
                return program.wait();
            }
            for adopted in children().into_iter().filter(|child| *child != self.group) {
                let _ = waitid(WaitId::Pid(adopted), WaitIdOptions::EXITED | WaitIdOptions::NOHANG);
            }
        }
    }

    /// Kills the remaining processes until there are none. The guard adopts those whose parent exits.
    fn kill_remaining(&self) {
        let _reaping = self.reaping.lock().unpoisoned();
        loop {
            match waitid(WaitId::All, WaitIdOptions::EXITED | WaitIdOptions::NOHANG) {
                Ok(Some(_)) | Err(Errno::INTR) => continue,
                Ok(None) => {}
                Err(_) => return,
            }
            let children = children();
            let killed = children.iter().filter(|child| kill_process(**child, Signal::KILL).is_ok()).count();
            if killed == 0 && !children.is_empty() {
                // They run as another user now, so they cannot be killed.
                return;
            }
            std::thread::sleep(KILL_INTERVAL);
        }
    }
}

/// Returns the guard's children: the program and adopted processes.
#[cfg(target_os = "linux")]
fn children() -> Vec<Pid> {
    let own = std::process::id().to_string();
    let is_child = |stat: &str| stat.rsplit(") ").next().and_then(|it| it.split(' ').nth(1)) == Some(&own);
    let processes = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    let ids = processes.filter_map(|it| it.file_name().to_str()?.parse::<i32>().ok());
    ids.filter(|id| std::fs::read_to_string(format!("/proc/{id}/stat")).is_ok_and(|stat| is_child(&stat)))
        .filter_map(Pid::from_raw)
        .collect()
}

/// Only Linux adopts processes.
#[cfg(not(target_os = "linux"))]
fn children() -> Vec<Pid> {
    Vec::new()
}

/// Returns the exit code as a shell does: 128 + signal for a program that was killed.
fn exit_code(status: ExitStatus) -> u8 {
    let code = status.code().or_else(|| status.signal().map(|signal| 128 + signal)).unwrap_or(1);
    u8::try_from(code & 0xff).unwrap_or(1)
}

/// Becomes the program. Returns only if that fails.
fn exec(parent: i32, rest: &[OsString]) -> io::Error {
    #[cfg(target_os = "linux")]
    {
        if let Err(error) = rustix::process::set_parent_process_death_signal(Some(Signal::KILL)) {
            return error.into();
        }
        // The parent may have exited before the request.
        if rustix::process::getppid() != Pid::from_raw(parent) {
            return io::Error::other("the guard exited before the program started");
        }
        // Best effort: some systems do not allow it.
        let _ = std::fs::write("/proc/self/oom_score_adj", OOM_SCORE);
    }
    #[cfg(not(target_os = "linux"))]
    let _ = parent;
    let Some((program, args)) = rest.split_first() else { return io::Error::other("missing command") };
    let error = Command::new(program).args(args).exec();
    io::Error::new(error.kind(), format!("cannot start '{}': {error}", program.to_string_lossy()))
}
