//! A minimal MCP client for a child process, over stdio.

use std::io::{BufRead, BufReader, Write};
use std::process::{ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use serde_json::Value;
use xtask::process::Running;

use super::{expect_response, initialize, initialized};

pub(super) struct StdioClient {
    stdin: ChildStdin,
    stdout: BufReader<ChildStdout>,
    running: Running,
}

impl StdioClient {
    /// Starts the server and waits for its response to `initialize`.
    pub(super) fn start(command: &mut Command) -> Result<Self> {
        // FastMCP servers log their start.
        Self::start_logged(command, Stdio::null())
    }

    /// Starts the server with its log going to `log`.
    pub(super) fn start_logged(command: &mut Command, log: Stdio) -> Result<Self> {
        let mut running = Running::spawn(command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(log))?;
        let stdin = running.0.stdin.take().context("invariant: stdin is piped")?;
        let stdout = BufReader::new(running.0.stdout.take().context("invariant: stdout is piped")?);
        let mut client = Self { stdin, stdout, running };
        client.request(&initialize(), 0)?;
        Ok(client)
    }

    pub(super) fn initialized(&mut self) -> Result<()> {
        self.send(&to_line(&initialized()))
    }

    /// Sends a request and returns how long the response took.
    ///
    /// The time excludes writing and reading JSON here, because this program is not optimized.
    pub(super) fn request(&mut self, message: &Value, id: u64) -> Result<Duration> {
        Ok(self.call(message, id)?.0)
    }

    /// Sends a request and returns the time and the response.
    pub(super) fn call(&mut self, message: &Value, id: u64) -> Result<(Duration, Value)> {
        let request = to_line(message);
        let mut line = String::new();
        let start = Instant::now();
        self.send(&request)?;
        loop {
            if self.stdout.read_line(&mut line).context("cannot read from the server")? == 0 {
                bail!("the server exited without responding to request {id}");
            }
            let time = start.elapsed();
            let message: Value = serde_json::from_str(&line).with_context(|| format!("not JSON: {line}"))?;
            // Skip notifications.
            if message.get("method").is_none() {
                expect_response(&message, id)?;
                return Ok((time, message));
            }
            line.clear();
        }
    }

    /// Sends all requests before it reads a response; returns the time until the last response.
    pub(super) fn burst(&mut self, requests: impl Iterator<Item = (Value, u64)>) -> Result<Duration> {
        let (messages, mut waiting): (Vec<Value>, Vec<u64>) = requests.unzip();
        let lines: String = messages.iter().map(to_line).collect();
        let start = Instant::now();
        self.send(&lines)?;
        let mut elapsed = start.elapsed();
        while !waiting.is_empty() {
            let mut line = String::new();
            if self.stdout.read_line(&mut line).context("cannot read from the server")? == 0 {
                bail!("the server exited without responding to requests {waiting:?}");
            }
            elapsed = start.elapsed();
            let message: Value = serde_json::from_str(&line).with_context(|| format!("not JSON: {line}"))?;
            if let Some(at) = waiting.iter().position(|id| message["id"] == *id) {
                expect_response(&message, waiting.swap_remove(at))?;
            }
        }
        Ok(elapsed)
    }

    /// Returns the id of the server's process.
    pub(super) fn id(&self) -> u32 {
        self.running.0.id()
    }

    /// Returns the resident memory of the server in kB.
    pub(super) fn resident_kb(&self) -> Result<u64> {
        let path = format!("/proc/{}/status", self.id());
        let status = std::fs::read_to_string(&path).with_context(|| format!("cannot read {path}"))?;
        resident(&status).with_context(|| format!("{path} has no VmRSS"))
    }

    fn send(&mut self, line: &str) -> Result<()> {
        self.stdin.write_all(line.as_bytes()).context("cannot write to the server")
    }
}

fn to_line(message: &Value) -> String {
    let mut line = message.to_string();
    line.push('\n');
    line
}

fn resident(status: &str) -> Option<u64> {
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    line.trim().strip_suffix(" kB")?.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_resident_memory() {
        assert_eq!(resident("Name:\tx\nVmRSS:\t    7212 kB\nThreads:\t1\n"), Some(7212));
    }
}
