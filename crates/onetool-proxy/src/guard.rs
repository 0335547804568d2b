//! The guard: a small process of our own that ends a program and everything it started when we are gone.
//!
//! It runs in two stages, both `guard_main`. The first, `watch`, starts the second in a new process group and waits
//! for two things: the end of the child, and the end of a pipe whose other end only we hold. The second, `exec`, asks
//! the kernel to be killed with its parent and then becomes the real program. The program's three standard streams
//! are those that we made: the guard passes them on and keeps none.
//!
//! On Linux the guard adopts what the program leaves behind, also what went into a session of its own, so that it can
//! end every process down from the program. Elsewhere it ends the program's process group.

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

/// Sent over the pipe: end the group, with the chance to clean up.
pub(crate) const TERMINATE: u8 = b't';

/// What a shell answers for a program that cannot be started.
const CANNOT_START: u8 = 127;

/// How long what was killed may take to end before it is looked at again.
const BETWEEN_KILLS: Duration = Duration::from_millis(2);

/// How eagerly the kernel ends the program when memory runs out, from -1000 to 1000: before the gateway.
#[cfg(target_os = "linux")]
const OOM_SCORE: &str = "500";

/// How to start a guard: a program, and the arguments that make it call [`guard_main`] with all that follow them.
#[derive(Debug, Clone)]
pub struct Guard {
    /// The program, usually our own binary.
    pub program: PathBuf,
    /// The arguments before those of the guard.
    pub args: Vec<OsString>,
}

impl Guard {
    /// Makes the command that guards `program` and watches the pipe at the descriptor `lifeline`.
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

/// Runs a guard; `own` says how the process that calls this was started, `args` is what followed [`Guard::args`].
///
/// The binary calls this before it does anything else: no runtime, no logging, no threads.
pub fn guard_main(own: &Guard, args: impl IntoIterator<Item = OsString>) -> ExitCode {
    let args: Vec<OsString> = args.into_iter().collect();
    let (stage, number, rest) = match args.as_slice() {
        [stage, number, rest @ ..] if !rest.is_empty() => (stage.to_str(), number.to_str(), rest),
        _ => (None, None, &args[..]),
    };
    let done = match (stage, number.and_then(|it| it.parse().ok())) {
        (Some("watch"), Some(lifeline)) => watch(own, lifeline, rest),
        (Some("exec"), Some(parent)) => Err(exec(parent, rest)),
        _ => Err(io::Error::other("the guard is started by onetool itself, not by hand")),
    };
    done.unwrap_or_else(|error| {
        complain(&error);
        ExitCode::from(CANNOT_START)
    })
}

#[expect(clippy::print_stderr, reason = "standard error is the child's, which is drained into our log")]
fn complain(error: &io::Error) {
    eprintln!("onetool guard: {error}");
}

fn watch(own: &Guard, lifeline: i32, rest: &[OsString]) -> io::Result<ExitCode> {
    // Opened by its name, since a bare number is not a descriptor that safe code can own.
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
    let ward = Arc::new(Ward { group, reaping: Mutex::new(()) });
    let watched = ward.clone();
    std::thread::spawn(move || {
        let mut byte = [0];
        while matches!(lifeline.read(&mut byte), Ok(1)) {
            if byte[0] == TERMINATE {
                watched.signal(Signal::TERM);
            }
        }
        // The end of the pipe: nobody needs the program any more, or nobody is left who could. What it leaves behind
        // ends with it.
        watched.signal(Signal::KILL);
    });
    let status = ward.wait(child)?;
    ward.end_the_rest();
    Ok(ExitCode::from(exit_code(status)))
}

/// The program, and what it has started.
struct Ward {
    /// The program's process id, which is also that of its group.
    group: Pid,
    /// Held while a child is reaped or signalled: the id of a child that is not reaped cannot be a stranger's.
    reaping: Mutex<()>,
}

impl Ward {
    /// Sends a signal to the group and to every process that the guard has adopted.
    fn signal(&self, signal: Signal) {
        let _reaping = self.reaping.lock().unpoisoned();
        let _ = kill_process_group(self.group, signal);
        for child in children() {
            let _ = kill_process(child, signal);
        }
    }

    /// Waits for the program, and reaps the adopted processes that end before it.
    fn wait(&self, mut program: Child) -> io::Result<ExitStatus> {
        let seen = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
        loop {
            match waitid(WaitId::All, seen) {
                Err(Errno::INTR) => continue,
                ended => ended?,
            };
            let _reaping = self.reaping.lock().unpoisoned();
            if waitid(WaitId::Pid(self.group), seen | WaitIdOptions::NOHANG)?.is_some() {
                let _ = kill_process_group(self.group, Signal::KILL);
                return program.wait();
            }
            for adopted in children().into_iter().filter(|it| *it != self.group) {
                let _ = waitid(WaitId::Pid(adopted), WaitIdOptions::EXITED | WaitIdOptions::NOHANG);
            }
        }
    }

    /// Kills what the program has left behind until nothing is: what loses its parent becomes ours.
    fn end_the_rest(&self) {
        let _reaping = self.reaping.lock().unpoisoned();
        loop {
            match waitid(WaitId::All, WaitIdOptions::EXITED | WaitIdOptions::NOHANG) {
                Ok(Some(_)) | Err(Errno::INTR) => continue,
                Ok(None) => {}
                Err(_) => return,
            }
            let children = children();
            let killed = children.iter().filter(|it| kill_process(**it, Signal::KILL).is_ok()).count();
            if killed == 0 && !children.is_empty() {
                // They have become another user's, and are out of reach.
                return;
            }
            std::thread::sleep(BETWEEN_KILLS);
        }
    }
}

/// Returns the guard's own children: the program, and what was adopted.
#[cfg(target_os = "linux")]
fn children() -> Vec<Pid> {
    let own = std::process::id().to_string();
    let is_own = |stat: &str| stat.rsplit(") ").next().and_then(|it| it.split(' ').nth(1)) == Some(&own);
    let processes = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    let ids = processes.filter_map(|it| it.file_name().to_str()?.parse::<i32>().ok());
    ids.filter(|id| std::fs::read_to_string(format!("/proc/{id}/stat")).is_ok_and(|stat| is_own(&stat)))
        .filter_map(Pid::from_raw)
        .collect()
}

/// Elsewhere nothing is adopted.
#[cfg(not(target_os = "linux"))]
fn children() -> Vec<Pid> {
    Vec::new()
}

/// Passes an exit on as a shell does: a signal is 128 and its number.
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
        // Asked for too late if the parent is gone already.
        if rustix::process::getppid() != Pid::from_raw(parent) {
            return io::Error::other("the process that started the guard is gone");
        }
        // Not worth failing for, where the system does not allow it.
        let _ = std::fs::write("/proc/self/oom_score_adj", OOM_SCORE);
    }
    #[cfg(not(target_os = "linux"))]
    let _ = parent;
    let Some((program, args)) = rest.split_first() else { return io::Error::other("there is no command") };
    let error = Command::new(program).args(args).exec();
    io::Error::new(error.kind(), format!("cannot start '{}': {error}", program.to_string_lossy()))
}
