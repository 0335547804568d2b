//! The guard: a small process of our own that ends a child's process group when we are gone.
//!
//! It runs in two stages, both `guard_main`. The first, `watch`, starts the second in a new process group and waits
//! for two things: the end of the child, and the end of a pipe whose other end only we hold. The second, `exec`, asks
//! the kernel to be killed with its parent and then becomes the real program. The program's three standard streams
//! are those that we made: the guard passes them on and keeps none.

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Read as _};
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::path::PathBuf;
use std::process::{Child, Command, ExitCode, ExitStatus};

use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};

/// Sent over the pipe: end the group, with the chance to clean up.
pub(crate) const TERMINATE: u8 = b't';

/// What a shell answers for a program that cannot be started.
const CANNOT_START: u8 = 127;

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
    let mut child = own.exec(rest).process_group(0).spawn()?;
    let Some(group) = Pid::from_raw(child.id().cast_signed()) else {
        return Err(io::Error::other("the child has no process id"));
    };
    let null = File::options().read(true).write(true).open("/dev/null")?;
    rustix::stdio::dup2_stdin(&null)?;
    rustix::stdio::dup2_stdout(&null)?;
    rustix::stdio::dup2_stderr(&null)?;
    std::thread::spawn(move || {
        let mut byte = [0];
        while matches!(lifeline.read(&mut byte), Ok(1)) {
            if byte[0] == TERMINATE {
                let _ = kill_process_group(group, Signal::TERM);
            }
        }
        // The end of the pipe: nobody needs the group any more, or nobody is left who could.
        let _ = kill_process_group(group, Signal::KILL);
    });
    let status = wait_and_clear(&mut child, group)?;
    Ok(ExitCode::from(exit_code(status)))
}

/// Waits for the child and ends what it leaves behind in its group.
fn wait_and_clear(child: &mut Child, group: Pid) -> io::Result<ExitStatus> {
    // Its id stays taken until it is reaped, so the signal cannot reach a stranger that got the same number.
    while let Err(error) = waitid(WaitId::Pid(group), WaitIdOptions::EXITED | WaitIdOptions::NOWAIT) {
        if error != rustix::io::Errno::INTR {
            return Err(error.into());
        }
    }
    let _ = kill_process_group(group, Signal::KILL);
    child.wait()
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
    }
    #[cfg(not(target_os = "linux"))]
    let _ = parent;
    let Some((program, args)) = rest.split_first() else { return io::Error::other("there is no command") };
    let error = Command::new(program).args(args).exec();
    io::Error::new(error.kind(), format!("cannot start '{}': {error}", program.to_string_lossy()))
}
