//! LOW-3: what declared commands and upstream servers start is gone when they, or the gateway, are.

use std::path::Path;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

use crate::Sandbox;

/// How long something may take that happens sooner or later.
const PATIENCE: Duration = Duration::from_secs(20);

/// A script that leaves a daemon in a session of its own, and then does something else.
fn with_daemon(then: &str) -> String {
    format!(
        "setsid sh -c 'echo $$ > daemon.new; mv daemon.new daemon; exec sleep 600' & echo $$ > own; {then}"
    )
}

fn tools(then: &str, timeout: &str) -> String {
    let script = with_daemon(then);
    format!(
        "tools:\n  - name: demo.daemon\n    description: Leaves a daemon.\n    timeout: {timeout}\n    \
         command: [sh, -c, \"{script}\"]\n    cwd: ..\n"
    )
}

fn wait_for<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let start = Instant::now();
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(start.elapsed() < PATIENCE, "never: {what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

fn pid_in(path: &Path) -> i32 {
    wait_for("a process id", || std::fs::read_to_string(path).ok()?.trim().parse().ok())
}

fn is_alive(pid: i32) -> bool {
    let status = std::fs::read_to_string(format!("/proc/{pid}/stat"));
    status.is_ok_and(|status| !status.rsplit(") ").next().unwrap().starts_with(['Z', 'X']))
}

fn gone(pid: i32) {
    wait_for("the end of a process", || (!is_alive(pid)).then_some(()));
}

/// Kills the gateway with no chance to clean up, once both processes run; both have to end.
fn kill_and_look(sandbox: &Sandbox, mut gateway: Child) {
    let (own, daemon) = (pid_in(&sandbox.path().join("own")), pid_in(&sandbox.path().join("daemon")));
    assert!(is_alive(own) && is_alive(daemon));
    let id = Pid::from_raw(i32::try_from(gateway.id()).unwrap()).unwrap();
    kill_process(id, Signal::KILL).unwrap();
    gateway.wait().unwrap();
    gone(own);
    gone(daemon);
}

#[test]
fn low_3_killing_the_gateway_ends_a_declared_command_and_its_daemon() {
    let sandbox = Sandbox::with_config(&tools("exec sleep 600", "600"));
    let mut command = sandbox.command(&["call", "demo.daemon"]);
    kill_and_look(&sandbox, command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap());
}

#[test]
fn low_3_killing_the_gateway_ends_the_daemon_of_an_upstream_server() {
    let script = with_daemon("exec sleep 600");
    let sandbox = Sandbox::with_config(&format!(
        "servers:\n  demo: {{command: sh, args: [-c, \"{script}\"], cwd: ..}}\n"
    ));
    let mut command = sandbox.command(&["serve", "--http", "127.0.0.1:0"]);
    kill_and_look(&sandbox, command.stdin(Stdio::null()).stderr(Stdio::null()).spawn().unwrap());
}

#[test]
fn low_3_a_command_that_is_over_leaves_no_daemon() {
    for (then, timeout, expected) in
        [("exec sleep 600", "0.5", 1), ("exit 3", "600", 1), ("echo done", "600", 0)]
    {
        // The daemon has to be there before the command ends.
        let then = format!("while [ ! -e daemon ]; do sleep 0.01; done; {then}");
        let sandbox = Sandbox::with_config(&tools(&then, timeout));
        let (stdout, stderr, code) = sandbox.run(&["call", "demo.daemon"]);
        assert_eq!(code, expected, "{then}: {stdout}{stderr}");
        gone(pid_in(&sandbox.path().join("own")));
        gone(pid_in(&sandbox.path().join("daemon")));
    }
}

#[test]
fn low_3_the_kernel_takes_a_command_before_the_gateway() {
    let sandbox = Sandbox::with_config(
        "tools: [{name: demo.score, description: Shows it., command: [cat, /proc/self/oom_score_adj]}]",
    );
    assert_eq!(sandbox.run(&["call", "demo.score"]).0, "500\n");
}

#[test]
fn seam_12_a_gateway_that_would_start_itself_refuses_and_says_so() {
    let onetool = env!("CARGO_BIN_EXE_onetool");
    let sandbox = Sandbox::with_config("");
    let config = sandbox.path().join(".onetool/onetool.yaml");
    let other = sandbox.path().join("other.yaml");
    let served = |path: &Path| format!("{{command: {onetool}, args: [serve, --config, {}]}}", path.display());
    // Directly, and through another gateway.
    sandbox.write_config(&format!("servers: {{self: {}, other: {}}}\n", served(&config), served(&other)));
    std::fs::write(&other, format!("servers: {{back: {}}}\n", served(&config))).unwrap();
    let (said, _, code) = sandbox.run(&["check", "--config", ".onetool/onetool.yaml"]);
    assert!(
        said.contains(
            "this gateway would start itself: a parent process already serves [folder]/.onetool/onetool.yaml"
        ),
        "{said}"
    );
    assert_eq!(code, 1, "{said}");
    assert!(said.lines().any(|line| line.starts_with("ok") && line.contains("proxy:other")), "{said}");
}

#[test]
fn seam_16_a_worker_whose_gateway_is_gone_before_it_is_ready_says_nothing() {
    let (gateway, worker) = std::os::unix::net::UnixStream::pair().unwrap();
    let sandbox = Sandbox::with_config("");
    let mut command = sandbox.command(&["__worker", "python"]);
    let worker =
        command.stdin(std::os::fd::OwnedFd::from(worker)).stdout(Stdio::piped()).stderr(Stdio::piped());
    let worker = worker.spawn().unwrap();
    drop(gateway);
    let ended = worker.wait_with_output().unwrap();
    assert_eq!(String::from_utf8_lossy(&ended.stderr), "");
    assert_eq!(ended.status.code(), Some(0));
}
