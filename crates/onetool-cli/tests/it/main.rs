//! The `onetool` binary as its users meet it: a command line, a child of an MCP client, an HTTP server.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod commands;
mod import;
mod large_answers;
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

use tempfile::TempDir;

/// A folder with a configuration, and the binary that runs in it.
struct Sandbox {
    folder: TempDir,
}

impl Sandbox {
    fn empty() -> Self {
        Self { folder: TempDir::new().unwrap() }
    }

    fn with_config(yaml: &str) -> Self {
        let sandbox = Self::empty();
        std::fs::create_dir(sandbox.path().join(".onetool")).unwrap();
        sandbox.write_config(yaml);
        sandbox
    }

    fn path(&self) -> &Path {
        self.folder.path()
    }

    fn write_config(&self, yaml: &str) {
        std::fs::write(self.path().join(".onetool/onetool.yaml"), yaml).unwrap();
    }

    /// Prepares the binary, with an environment that has nothing of the developer's.
    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_onetool"));
        command.args(arguments).current_dir(self.path()).env_clear();
        command.env("HOME", self.path()).env("PATH", "/usr/local/bin:/usr/bin:/bin");
        command
    }

    /// Runs the binary to its end; returns stdout, stderr and the exit code, with the folder's path taken out.
    fn run(&self, arguments: &[&str]) -> (String, String, i32) {
        self.finish(&self.command(arguments).output().unwrap())
    }

    fn finish(&self, output: &Output) -> (String, String, i32) {
        let folder = self.path().to_string_lossy().into_owned();
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).replace(&folder, "[folder]");
        (text(&output.stdout), text(&output.stderr), output.status.code().unwrap_or(-1))
    }
}

const ECHO: &str = r#"
tools:
  - name: demo.echo
    description: Gives back a text.
    params: {text: {type: string, description: What to give back}, n: {type: integer, default: 1}}
    command: [echo, "{{ text }}"]
"#;
