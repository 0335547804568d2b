//! A client that speaks JSON lines with a child process and does nothing else.

use std::io::{BufRead, BufReader, Write};
use std::process::{ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use serde_json::Value;

use super::{expect_answer, initialize, initialized};
use crate::process::Running;

pub(super) struct StdioClient {
    stdin: ChildStdin,
    stdout: BufReader<ChildStdout>,
    running: Running,
}

impl StdioClient {
    /// Starts the server and returns once it has answered `initialize`.
    pub(super) fn start(command: &mut Command) -> Result<Self> {
        // Quiet: a FastMCP server, for one, logs its start.
        Self::start_logged(command, Stdio::null())
    }

    /// The same, with a place for what the server logs.
    pub(super) fn start_logged(command: &mut Command, log: Stdio) -> Result<Self> {
        let mut running = Running::spawn(command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(log))?;
        let stdin = running.0.stdin.take().context("stdin is piped")?;
        let stdout = BufReader::new(running.0.stdout.take().context("stdout is piped")?);
        let mut client = Self { stdin, stdout, running };
        client.request(&initialize(), 0)?;
        Ok(client)
    }

    pub(super) fn initialized(&mut self) -> Result<()> {
        self.send(&line(&initialized()))
    }

    /// Sends a request and returns how long its answer took.
    ///
    /// Writing and reading JSON is outside the time: xtask is not optimized, and both servers would carry its weight.
    pub(super) fn request(&mut self, message: &Value, id: u64) -> Result<Duration> {
        Ok(self.ask(message, id)?.0)
    }

    /// The same, with the answer.
    pub(super) fn ask(&mut self, message: &Value, id: u64) -> Result<(Duration, Value)> {
        let request = line(message);
        let mut answer = String::new();
        let start = Instant::now();
        self.send(&request)?;
        loop {
            if self.stdout.read_line(&mut answer).context("cannot read from the server")? == 0 {
                bail!("the server ended instead of answering request {id}");
            }
            let time = start.elapsed();
            let message: Value =
                serde_json::from_str(&answer).with_context(|| format!("not JSON: {answer}"))?;
            // Notifications may come in between.
            if message.get("method").is_none() {
                expect_answer(&message, id)?;
                return Ok((time, message));
            }
            answer.clear();
        }
    }

    /// Sends all requests before it reads an answer; returns how long it took until the last was there.
    pub(super) fn burst(&mut self, requests: impl Iterator<Item = (Value, u64)>) -> Result<Duration> {
        let (messages, mut waiting): (Vec<Value>, Vec<u64>) = requests.unzip();
        let lines: String = messages.iter().map(line).collect();
        let start = Instant::now();
        self.send(&lines)?;
        let mut took = start.elapsed();
        while !waiting.is_empty() {
            let mut answer = String::new();
            if self.stdout.read_line(&mut answer).context("cannot read from the server")? == 0 {
                bail!("the server ended instead of answering requests {waiting:?}");
            }
            took = start.elapsed();
            let message: Value =
                serde_json::from_str(&answer).with_context(|| format!("not JSON: {answer}"))?;
            if let Some(at) = waiting.iter().position(|id| message["id"] == *id) {
                expect_answer(&message, waiting.swap_remove(at))?;
            }
        }
        Ok(took)
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

fn line(message: &Value) -> String {
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
    fn resident_memory_is_read() {
        assert_eq!(resident("Name:\tx\nVmRSS:\t    7212 kB\nThreads:\t1\n"), Some(7212));
    }
}
