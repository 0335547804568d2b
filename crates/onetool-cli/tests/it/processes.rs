//! LOW-3: processes that declared commands and upstream servers start end with them, or with the gateway.

use std::path::Path;
use std::process::{Child, Stdio};

use rustix::process::Signal;

use crate::{Sandbox, is_running, send_signal, wait_for};

/// Returns a script that starts a daemon in its own session, and then runs `then`.
fn with_daemon(then: &str) -> String {
    format!(
        "setsid sh -c 'echo $$ > daemon.new; mv daemon.new daemon; exec sleep 600' & echo $$ > program; {then}"
    )
}

fn tools(then: &str, timeout: &str) -> String {
    let script = with_daemon(then);
    format!(
        "tools:\n  - name: demo.daemon\n    description: Leaves a daemon.\n    timeout: {timeout}\n    \
         command: [sh, -c, \"{script}\"]\n    cwd: ..\n"
    )
}

fn read_process_id(path: &Path) -> u32 {
    wait_for("a process id", || std::fs::read_to_string(path).ok()?.trim().parse().ok())
}

fn wait_for_end(process: u32) {
    wait_for("the end of a process", || (!is_running(process)).then_some(()));
}

/// Waits until both processes run, kills the gateway with SIGKILL, and waits until both have ended.
fn kill_gateway_and_wait(sandbox: &Sandbox, mut gateway: Child) {
    let program = read_process_id(&sandbox.path().join("program"));
    let daemon = read_process_id(&sandbox.path().join("daemon"));
    assert!(is_running(program) && is_running(daemon));
    send_signal(gateway.id(), Signal::KILL);
    gateway.wait().unwrap();
    wait_for_end(program);
    wait_for_end(daemon);
}

#[test]
fn low_3_killing_the_gateway_ends_a_declared_command_and_its_daemon() {
    let sandbox = Sandbox::with_config(&tools("exec sleep 600", "600"));
    let mut command = sandbox.command(&["call", "demo.daemon"]);
    kill_gateway_and_wait(&sandbox, command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap());
}

#[test]
fn low_3_killing_the_gateway_ends_the_daemon_of_an_upstream_server() {
    let script = with_daemon("exec sleep 600");
    let sandbox = Sandbox::with_config(&format!(
        "servers:\n  demo: {{command: sh, args: [-c, \"{script}\"], cwd: ..}}\n"
    ));
    let mut command = sandbox.command(&["serve", "--http", "127.0.0.1:0"]);
    kill_gateway_and_wait(&sandbox, command.stdin(Stdio::null()).stderr(Stdio::null()).spawn().unwrap());
}

#[test]
fn low_3_a_command_that_is_over_leaves_no_daemon() {
    for (then, timeout, expected) in
        [("exec sleep 600", "1", 1), ("exit 3", "600", 1), ("echo done", "600", 0)]
    {
        // The daemon has to run before the command ends. The timeout of the first command is under test.
        let then = format!("while [ ! -e daemon ]; do sleep 0.01; done; {then}");
        let sandbox = Sandbox::with_config(&tools(&then, timeout));
        let (stdout, stderr, code) = sandbox.run(&["call", "demo.daemon"]);
        assert_eq!(code, expected, "{then}: {stdout}{stderr}");
        wait_for_end(read_process_id(&sandbox.path().join("program")));
        wait_for_end(read_process_id(&sandbox.path().join("daemon")));
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
    let server = |path: &Path| format!("{{command: {onetool}, args: [serve, --config, {}]}}", path.display());
    // Directly, and through another gateway.
    sandbox.write_config(&format!("servers: {{self: {}, other: {}}}\n", server(&config), server(&other)));
    std::fs::write(&other, format!("servers: {{back: {}}}\n", server(&config))).unwrap();
    let (stdout, _, code) = sandbox.run(&["check", "--config", ".onetool/onetool.yaml"]);
    assert!(
        stdout.contains(
            "this gateway would start itself: a parent process already serves [directory]/.onetool/onetool.yaml"
        ),
        "{stdout}"
    );
    assert_eq!(code, 1, "{stdout}");
    assert!(stdout.lines().any(|line| line.starts_with("ok") && line.contains("proxy:other")), "{stdout}");
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
