//! Programs that tests start, as the workspace builds them: the worker of a gateway, and an MCP server.

#![expect(clippy::expect_used, reason = "a test that cannot go on has failed")]

use std::path::PathBuf;

use onetool::WorkerCommand;

/// Returns how to start the worker of a gateway: the binary that comes with the library.
pub fn worker() -> WorkerCommand {
    WorkerCommand { program: built("onetool-worker", "onetool"), args: Vec::new() }
}

/// Returns how to start a worker on a system without a layer of the cage: a system call fails with `errno`.
pub fn worker_without(system_call: &str, errno: i32) -> WorkerCommand {
    let program = built("onetool-cage-probe", "onetool-cage");
    let worker = worker().program.into_os_string();
    WorkerCommand {
        program,
        args: vec!["without".into(), system_call.into(), errno.to_string().into(), worker],
    }
}

/// Returns the scripted MCP server of `onetool-proxy`: with the argument `server` it speaks over stdio, and further
/// arguments say how it behaves.
pub fn scripted_upstream() -> PathBuf {
    built("onetool-proxy-fixture", "onetool-proxy")
}

fn built(program: &str, package: &str) -> PathBuf {
    let test = std::env::current_exe().expect("a test knows its own path");
    let folder = test.ancestors().nth(2).expect("tests are in target/<profile>/deps");
    let path = folder.join(program);
    assert!(path.exists(), "build it first: cargo build --ignore-rust-version -p {package} --bins");
    path
}
