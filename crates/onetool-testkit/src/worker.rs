//! Programs that tests start, as the workspace builds them: the one that Python is forked from, and an MCP server.

#![expect(clippy::expect_used, reason = "a test that cannot go on has failed")]

use std::path::PathBuf;

use onetool::WorkerCommand;

/// Returns how to start it: the binary of `onetool-sandbox` beside the test that runs.
pub fn python_worker() -> WorkerCommand {
    WorkerCommand { program: built("onetool-sandbox-worker", "onetool-sandbox"), args: Vec::new() }
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
