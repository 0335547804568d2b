//! The `onetool` binary as users run it: on the command line, as a child of an MCP client, as an HTTP server.

#![expect(clippy::unwrap_used, reason = "a test that cannot continue has failed")]

mod commands;
mod import;
mod large_results;
mod logs;
mod packs;
mod processes;
mod run;
mod serve_http;
mod serve_stdio;
mod sqlite;
mod trust;

use std::path::Path;
use std::process::{Command, Output};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;

/// How long to wait for a condition before a test fails.
const WAIT_LIMIT: Duration = Duration::from_secs(20);

/// How long to wait before checking a condition again.
const POLL_INTERVAL: Duration = Duration::from_millis(5);

/// Waits until `check` returns a value.
fn wait_for<T>(what: &str, mut check: impl FnMut() -> Option<T>) -> T {
    let start = Instant::now();
    loop {
        if let Some(value) = check() {
            return value;
        }
        assert!(start.elapsed() < WAIT_LIMIT, "timed out waiting for {what}");
        std::thread::sleep(POLL_INTERVAL);
    }
}

/// Waits until `check` returns a value, without blocking the thread.
async fn wait_for_async<T>(what: &str, mut check: impl FnMut() -> Option<T>) -> T {
    let start = Instant::now();
    loop {
        if let Some(value) = check() {
            return value;
        }
        assert!(start.elapsed() < WAIT_LIMIT, "timed out waiting for {what}");
        tokio::time::sleep(POLL_INTERVAL).await;
    }
}

/// Returns whether a process exists and is not a zombie.
fn is_running(process: u32) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{process}/stat"));
    // The state follows the program's name, which is in parentheses.
    stat.is_ok_and(|stat| !stat.rsplit(") ").next().unwrap().starts_with(['Z', 'X']))
}

fn send_signal(process: u32, signal: Signal) {
    kill_process(Pid::from_raw(process.try_into().unwrap()).unwrap(), signal).unwrap();
}

/// A directory with a configuration, and the binary that runs in it.
struct Sandbox {
    directory: TempDir,
}

impl Sandbox {
    fn empty() -> Self {
        Self { directory: TempDir::new().unwrap() }
    }

    fn with_config(yaml: &str) -> Self {
        let sandbox = Self::empty();
        std::fs::create_dir(sandbox.path().join(".onetool")).unwrap();
        sandbox.write_config(yaml);
        sandbox
    }

    fn path(&self) -> &Path {
        self.directory.path()
    }

    fn write_config(&self, yaml: &str) {
        std::fs::write(self.path().join(".onetool/onetool.yaml"), yaml).unwrap();
    }

    /// Returns a command that runs the binary without the developer's environment.
    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_onetool"));
        command.args(arguments).current_dir(self.path()).env_clear();
        command.env("HOME", self.path()).env("PATH", "/usr/local/bin:/usr/bin:/bin");
        command
    }

    /// Runs the binary until it exits; returns stdout, stderr and the exit code, with `[directory]` for the directory.
    fn run(&self, arguments: &[&str]) -> (String, String, i32) {
        self.normalize(&self.command(arguments).output().unwrap())
    }

    fn normalize(&self, output: &Output) -> (String, String, i32) {
        let directory = self.path().to_string_lossy().into_owned();
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).replace(&directory, "[directory]");
        (text(&output.stdout), text(&output.stderr), output.status.code().unwrap_or(-1))
    }
}

const ECHO: &str = r#"
tools:
  - name: demo.echo
    description: Prints text.
    params: {text: {type: string, description: Text to print}, n: {type: integer, default: 1}}
    command: [echo, "{{ text }}"]
"#;
