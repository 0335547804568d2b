//! The cage from inside: this binary runs itself, enters the cage and tries one thing.

use std::io;
use std::net::TcpStream;
use std::os::unix::process::ExitStatusExt as _;
use std::process::{Command, ExitStatus};
use std::thread;

use super::Cage;

const ATTEMPT: &str = "ONETOOL_CAGE_ATTEMPT";
const IS_REFUSED: i32 = 10;
const IS_DONE: i32 = 11;

/// Not a test by itself: does nothing unless [`attempt`] started it.
#[test]
#[expect(clippy::disallowed_methods, clippy::exit, reason = "the child half of the tests below")]
fn inside() {
    let Ok(attempt) = std::env::var(ATTEMPT) else { return };
    let report = Cage::around_zygote().close(u64::MAX);
    if !report.is_complete() {
        std::process::exit(0);
    }
    let done = match attempt.as_str() {
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
        _ => Err(io::Error::other("no such attempt")),
    };
    crate::process::exit_now(if done.is_ok() { IS_DONE } else { IS_REFUSED });
}

fn attempt(what: &str) -> ExitStatus {
    let test = std::env::current_exe().unwrap();
    let arguments = ["--exact", "cage::tests::inside", "--test-threads=1", "--nocapture"];
    Command::new(test).args(arguments).env(ATTEMPT, what).output().unwrap().status
}

#[test]
fn computing_and_threads_pass() {
    for what in ["nothing", "thread"] {
        let status = attempt(what);
        assert!(matches!(status.code(), Some(IS_DONE | 0)), "{what}: {status}");
    }
}

#[test]
fn abort_ends_the_process_as_usual() {
    let status = attempt("abort");
    assert!(status.signal() == Some(libc::SIGABRT) || status.code() == Some(0), "{status}");
}

#[test]
fn s3_files_are_refused() {
    for what in ["open", "write", "list"] {
        let status = attempt(what);
        assert!(matches!(status.code(), Some(IS_REFUSED | 0)), "{what}: {status}");
    }
}

#[test]
fn s3_network_processes_and_signals_end_the_process() {
    for what in ["connect", "spawn", "unlink", "signal"] {
        let status = attempt(what);
        assert!(status.signal() == Some(libc::SIGSYS) || status.code() == Some(0), "{what}: {status}");
    }
}
