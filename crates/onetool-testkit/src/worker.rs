//! The process that Python is forked from, as the workspace builds it.

#![expect(clippy::missing_panics_doc, reason = "a test that cannot go on has failed")]
#![expect(clippy::expect_used, reason = "a test that cannot go on has failed")]

use onetool::WorkerCommand;

/// Returns how to start it: the binary of `onetool-sandbox` beside the test that runs.
pub fn python_worker() -> WorkerCommand {
    let test = std::env::current_exe().expect("a test knows its own path");
    let folder = test.ancestors().nth(2).expect("tests are in target/<profile>/deps");
    let program = folder.join("onetool-sandbox-worker");
    assert!(program.exists(), "build it first: cargo build --ignore-rust-version -p onetool-sandbox --bins");
    WorkerCommand { program, args: Vec::new() }
}
