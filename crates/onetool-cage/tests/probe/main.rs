//! A process for the tests: enters the cage and tries one action, runs a job, or disables a system call for a command.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io::{self, Write as _};
use std::net::TcpStream;
use std::os::unix::process::CommandExt as _;
use std::path::PathBuf;
use std::process::{Command, ExitCode};
use std::thread;

use onetool_cage::{Cage, Job, isolate, job_main, process};
use seccompiler::{BpfProgram, SeccompAction, SeccompFilter};

const REFUSED: i32 = 10;
const DONE: i32 = 11;

const JOBS: [(&str, Job); 8] = [
    ("echo", Job::Pure(|input| input)),
    (
        "hang",
        Job::Pure(|_| {
            loop {
                std::hint::spin_loop();
            }
        }),
    ),
    ("fill", Job::Pure(|_| vec![1; 1 << 30])),
    ("nest", Job::Pure(|_| vec![u8::try_from(recurse(0) % 256).unwrap_or_default()])),
    ("open", Job::Pure(|_| read_or_error("/etc/passwd"))),
    ("panic", Job::Pure(|_| panic!("a bug"))),
    ("files", Job::Files { directories: directory, run: work_on_files }),
    (
        "connect",
        Job::Files {
            directories: directory,
            run: |_| TcpStream::connect("127.0.0.1:1").is_ok().to_string().into(),
        },
    ),
];

fn read_or_error(path: &str) -> Vec<u8> {
    std::fs::read(path).unwrap_or_else(|error| error.to_string().into())
}

/// Returns the directory that the input names.
fn directory(input: &[u8]) -> Vec<PathBuf> {
    vec![PathBuf::from(String::from_utf8_lossy(input).into_owned())]
}

/// Writes and reads a file in the directory, and tries to read a file outside.
fn work_on_files(input: Vec<u8>) -> Vec<u8> {
    let inside = directory(&input)[0].join("inside");
    let written = std::fs::write(&inside, "mine").and_then(|()| std::fs::read(&inside));
    let mut output = written.unwrap_or_else(|error| error.to_string().into());
    output.push(b' ');
    output.extend(read_or_error("/etc/passwd"));
    output
}

/// Recurses until the stack overflows.
fn recurse(level: u64) -> u64 {
    let frame = std::hint::black_box([level; 64]);
    if std::hint::black_box(level) == u64::MAX { 0 } else { recurse(level + 1) + frame[0] }
}

fn main() -> ExitCode {
    let mut arguments = std::env::args_os().skip(1);
    let action = arguments.next().unwrap_or_default();
    match action.to_str() {
        Some("job") => job_main(&JOBS, arguments),
        Some("wait") => wait(),
        Some("without") => without(arguments),
        Some(action) => enter_and(action),
        None => ExitCode::FAILURE,
    }
}

/// Runs another command in which a system call fails: `without NAME ERRNO COMMAND…`.
fn without(mut arguments: impl Iterator<Item = OsString>) -> ExitCode {
    let mut next = || arguments.next().and_then(|argument| argument.into_string().ok()).unwrap_or_default();
    let call = match next().as_str() {
        "seccomp" => libc::SYS_seccomp,
        "capset" => libc::SYS_capset,
        "prctl" => libc::SYS_prctl,
        "prlimit64" => libc::SYS_prlimit64,
        "landlock_create_ruleset" => libc::SYS_landlock_create_ruleset,
        "landlock_restrict_self" => libc::SYS_landlock_restrict_self,
        "unshare" => libc::SYS_unshare,
        _ => return ExitCode::FAILURE,
    };
    let (Ok(errno), Ok(arch)) = (next().parse(), std::env::consts::ARCH.try_into()) else {
        return ExitCode::FAILURE;
    };
    let rules = BTreeMap::from([(call, Vec::new())]);
    let filter = SeccompFilter::new(rules, SeccompAction::Allow, SeccompAction::Errno(errno), arch);
    let Some(program) = filter.ok().and_then(|filter| BpfProgram::try_from(filter).ok()) else {
        return ExitCode::FAILURE;
    };
    if seccompiler::apply_filter(&program).is_err() {
        return ExitCode::FAILURE;
    }
    let program = next();
    let error = Command::new(program).args(arguments).exec();
    let _ = writeln!(io::stderr(), "{error}");
    ExitCode::FAILURE
}

/// Prints the state of the layers, then waits until its input ends, so that a test can inspect the process.
fn wait() -> ExitCode {
    let entered = isolate().and_then(Cage::enter).and_then(|cage| cage.close(u64::MAX));
    let Ok(report) = entered else { return ExitCode::FAILURE };
    let printed = writeln!(io::stdout(), "{report:?}");
    let ended = io::stdin().read_line(&mut String::new());
    if printed.is_ok() && ended.is_ok() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Enters the cage and tries `action`; the exit code says whether it worked.
fn enter_and(action: &str) -> ExitCode {
    let entered = isolate().and_then(Cage::enter).and_then(|cage| cage.close(u64::MAX));
    if !entered.is_ok_and(|report| report.is_complete()) {
        return ExitCode::FAILURE;
    }
    let result = match action {
        "nothing" => Ok(()),
        "open" => std::fs::File::open("/etc/passwd").map(drop),
        "write" => std::fs::write("/tmp/onetool-cage", "x"),
        "list" => std::fs::read_dir("/").map(drop),
        "connect" => TcpStream::connect("127.0.0.1:1").map(drop),
        "spawn" => Command::new("/bin/true").spawn().map(drop),
        "thread" => thread::Builder::new().spawn(|| 1).map(|thread| drop(thread.join())),
        "abort" => std::process::abort(),
        "unlink" => std::fs::remove_file("/tmp/onetool-cage-none"),
        "signal" => rustix::process::kill_process(rustix::process::getpid(), rustix::process::Signal::TERM)
            .map_err(io::Error::from),
        _ => return ExitCode::FAILURE,
    };
    process::exit_immediately(if result.is_ok() { DONE } else { REFUSED })
}
