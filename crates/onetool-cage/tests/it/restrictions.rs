//! What a caged process can and cannot do.

use std::process::Command;

const PROBE: &str = env!("CARGO_BIN_EXE_onetool-cage-probe");
const REFUSED: i32 = 10;
const DONE: i32 = 11;

/// Makes a caged process try an action and returns its exit code. A process without a complete cage exits with 1, which
/// fails every test.
fn attempt(action: &str) -> i32 {
    probe(&[action])
}

fn probe(arguments: &[&str]) -> i32 {
    let status = Command::new(PROBE).args(arguments).status().unwrap();
    status.code().expect("the parent of the caged process is never killed")
}

#[test]
fn computing_and_threads_are_allowed() {
    for action in ["nothing", "thread"] {
        assert_eq!(attempt(action), DONE, "{action}");
    }
}

#[test]
fn abort_ends_the_process() {
    // The first process of a namespace ignores signals that it sends to itself; `abort` then executes a privileged
    // instruction.
    assert_eq!(attempt("abort"), 128 + libc::SIGSEGV);
}

#[test]
fn s3_files_are_refused() {
    for action in ["open", "write", "list"] {
        assert_eq!(attempt(action), REFUSED, "{action}");
    }
}

#[test]
fn s3_network_processes_and_signals_end_the_process() {
    for action in ["connect", "spawn", "unlink", "signal"] {
        assert_eq!(attempt(action), 128 + libc::SIGSYS, "{action}");
    }
}

#[test]
fn cage_1_a_process_that_cannot_apply_a_layer_that_the_kernel_has_ends() {
    for call in
        ["seccomp", "capset", "prctl", "prlimit64", "landlock_create_ruleset", "landlock_restrict_self"]
    {
        let code = probe(&["without", call, &libc::EPERM.to_string(), PROBE, "nothing"]);
        assert_eq!(code, 1, "it continued without {call}");
    }
}

#[test]
fn cage_2_a_layer_that_the_kernel_lacks_is_reported_as_missing() {
    for (call, errno, layer) in [
        ("landlock_create_ruleset", libc::ENOSYS, "landlock: Missing"),
        ("landlock_create_ruleset", libc::EOPNOTSUPP, "landlock: Missing"),
        ("unshare", libc::EPERM, "namespaces: Missing"),
    ] {
        let output = Command::new(PROBE)
            .args(["without", call, &errno.to_string(), PROBE, "wait"])
            .stdin(std::process::Stdio::null())
            .output()
            .unwrap();
        let report = String::from_utf8(output.stdout).unwrap();
        assert!(report.contains(layer), "{report}");
    }
}
