//! Binaries from this workspace that tests start: the worker of a gateway, and an MCP server.

#![expect(clippy::expect_used, reason = "a test that cannot continue has failed")]

use std::path::PathBuf;

use onetool::WorkerCommand;

/// Returns the command for a gateway's worker: the library's own binary.
pub fn worker() -> WorkerCommand {
    WorkerCommand { program: built_program("onetool-worker", "onetool"), args: Vec::new() }
}

/// Returns the command for a worker in which `system_call` fails with `errno`, as if the system lacked a layer of the
/// cage.
pub fn worker_without(system_call: &str, errno: i32) -> WorkerCommand {
    let program = built_program("onetool-cage-probe", "onetool-cage");
    let worker = worker().program.into_os_string();
    WorkerCommand {
        program,
        args: vec!["without".into(), system_call.into(), errno.to_string().into(), worker],
    }
}

/// Returns the path of the scripted MCP server of `onetool-proxy`. With the argument `server` it serves over stdio;
/// further arguments control its behavior.
pub fn scripted_upstream() -> PathBuf {
    built_program("onetool-proxy-fixture", "onetool-proxy")
}

fn built_program(program: &str, package: &str) -> PathBuf {
    let test = std::env::current_exe().expect("a test knows its own path");
    let directory = test.ancestors().nth(2).expect("tests are in target/<profile>/deps");
    let path = directory.join(program);
    assert!(path.exists(), "build it first: cargo build --ignore-rust-version -p {package} --bins");
    path
}
