//! Child processes: exit codes as errors, captured output, servers that are killed with the value that holds them.

use std::ffi::OsStr;
use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};

use anyhow::{Context, Result, bail};

/// Runs a command that inherits stdin, stdout and stderr.
pub fn run(command: &mut Command) -> Result<()> {
    let shown = show(command);
    let status = command.status().with_context(|| format!("cannot start `{shown}`"))?;
    if !status.success() {
        bail!("`{shown}` failed: {status}");
    }
    Ok(())
}

/// Runs a command and returns its stdout.
pub fn output(command: &mut Command) -> Result<String> {
    let shown = show(command);
    let output =
        command.stderr(Stdio::inherit()).output().with_context(|| format!("cannot start `{shown}`"))?;
    if !output.status.success() {
        bail!("`{shown}` failed: {}", output.status);
    }
    String::from_utf8(output.stdout).with_context(|| format!("the output of `{shown}` is not UTF-8"))
}

/// Returns whether a command such as `program --version` succeeds.
pub fn works(program: impl AsRef<OsStr>, arguments: &[&str]) -> bool {
    Command::new(program)
        .args(arguments)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|status| status.success())
}

/// Formats a command as you would type it.
pub fn show(command: &Command) -> String {
    std::iter::once(command.get_program())
        .chain(command.get_args())
        .map(|word| {
            let word = word.to_string_lossy();
            if word.contains(char::is_whitespace) { format!("'{word}'") } else { word.into_owned() }
        })
        .collect::<Vec<_>>()
        .join(" ")
}

/// A child process that is killed on drop.
pub struct Running(pub Child);

impl Running {
    /// Starts a command.
    pub fn spawn(command: &mut Command) -> Result<Self> {
        let shown = show(command);
        Ok(Self(command.spawn().with_context(|| format!("cannot start `{shown}`"))?))
    }

    /// Starts a test server and waits for its line `listening on URL` on stdout.
    pub fn listening(command: &mut Command) -> Result<(Self, String)> {
        let shown = show(command);
        let mut running = Self::spawn(command.stdin(Stdio::null()).stdout(Stdio::piped()))?;
        let stdout = running.0.stdout.take().context("invariant: stdout is piped")?;
        let mut lines = BufReader::new(stdout).lines();
        for line in lines.by_ref() {
            let line = line.with_context(|| format!("cannot read from `{shown}`"))?;
            if let Some(url) = line.strip_prefix("listening on ") {
                let url = url.trim().to_owned();
                // Keep reading, or later output would fill the pipe.
                std::thread::spawn(move || lines.for_each(drop));
                return Ok((running, url));
            }
        }
        bail!("`{shown}` exited without printing `listening on URL`")
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // Fails only if the process has exited; waiting avoids a zombie.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
