//! `cargo xtask bench proxy`: a call through the gateway, compared with a direct call and FastMCP's proxy.

use std::fs;
use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use anyhow::{Result, bail};
use serde_json::{Value, json};
use xtask::cargo::{self, Profile};
use xtask::tools::{self, Venv};

use super::stdio::StdioClient;
use super::{Samples, micros};

const WARM_UP: u64 = 50;
const CALLS: u64 = 500;
/// The sides take turns, so that a busy moment of the machine affects all of them.
const ROUNDS: usize = 4;

/// The most time that the gateway may add to a call.
const MAX_ADDED_MICROS: f64 = 300.0;
/// How many times more the Python proxy must add.
const MIN_RATIO: f64 = 10.0;

pub(super) fn run() -> Result<()> {
    tools::require_programs()?;
    let python = tools::venv(Venv::Fastmcp)?;
    let upstreams = tools::upstreams()?;
    cargo::build_release(&["onetool", "examples/echo_bare"])?;
    let bench = Bench {
        onetool: cargo::binary(Profile::Release, "onetool")?,
        python,
        // An empty home and working directory, so that no configuration is found.
        directory: tools::scratch("bench-proxy")?,
    };
    let bare = Upstream {
        name: "bare rmcp server",
        command: vec![cargo::binary(Profile::Release, "examples/echo_bare")?, "stdio".into()],
        argument: "text",
    };
    let everything = Upstream {
        name: "server-everything",
        command: vec![upstreams.packages.join("node_modules/.bin/mcp-server-everything")],
        argument: "message",
    };
    println!("{:<52}{:>12}{:>12}{:>12}", "tools/call over stdio", "median µs", "p99 µs", "added µs");
    let mut missed = Vec::new();
    for upstream in [&bare, &everything] {
        missed.extend(bench.compare(upstream)?);
    }
    if !missed.is_empty() {
        bail!("{}", missed.join("; "));
    }
    Ok(())
}

/// A server with an echo tool.
struct Upstream {
    name: &'static str,
    command: Vec<PathBuf>,
    argument: &'static str,
}

impl Upstream {
    fn command(&self) -> Command {
        let mut command = Command::new(&self.command[0]);
        command.args(&self.command[1..]);
        command
    }
}

struct Bench {
    onetool: PathBuf,
    python: PathBuf,
    directory: PathBuf,
}

impl Bench {
    /// Measures all three in turns and prints the times; returns the missed targets.
    fn compare(&self, upstream: &Upstream) -> Result<Vec<String>> {
        let (mut direct, mut ours, mut peer) = (vec![], vec![], vec![]);
        for _ in 0..ROUNDS {
            direct.extend(calls(&mut upstream.command(), "echo", upstream.argument)?);
            ours.extend(calls(&mut self.gateway(upstream)?, "up_echo", upstream.argument)?);
            peer.extend(calls(&mut self.peer(upstream), "echo", upstream.argument)?);
        }
        let [direct, ours, peer] = [direct, ours, peer].map(Samples::new);
        let (direct, ours, peer) = (direct?, ours?, peer?);
        let added = |times: &Samples| micros(times.median()) - micros(direct.median());
        let rows = [("directly", &direct), ("through onetool", &ours), ("through FastMCP's proxy", &peer)];
        for (way, times) in rows {
            println!(
                "{:<52}{:>12.1}{:>12.1}{:>12.1}",
                format!("{}, {way}", upstream.name),
                micros(times.median()),
                micros(times.percentile(99)),
                added(times)
            );
        }
        let (ours, peer) = (added(&ours), added(&peer));
        println!(
            "{:<52}{:>12.0}   (at least {MIN_RATIO}, and at most {MAX_ADDED_MICROS} µs added)",
            format!("{}, ratio of added times", upstream.name),
            peer / ours
        );
        Ok(missed(upstream.name, ours, peer))
    }

    fn gateway(&self, upstream: &Upstream) -> Result<Command> {
        let config = self.directory.join("onetool.yaml");
        // JSON is YAML, and needs no quoting rules.
        let server = json!({"command": upstream.command[0], "args": upstream.command[1..]});
        fs::write(&config, json!({"version": 1, "servers": {"up": server}}).to_string())?;
        let mut command = Command::new(&self.onetool);
        command.arg("serve").arg("--config").arg(config).current_dir(&self.directory);
        command.env("HOME", &self.directory).env_remove("ONETOOL_CONFIG");
        Ok(command)
    }

    fn peer(&self, upstream: &Upstream) -> Command {
        let mut command = Command::new(&self.python);
        command.arg(tools::outside().join("fastmcp_proxy.py")).args(&upstream.command);
        command.current_dir(&self.directory);
        command
    }
}

fn calls(server: &mut Command, tool: &str, argument: &str) -> Result<Vec<Duration>> {
    let mut client = StdioClient::start(server)?;
    client.initialized()?;
    for id in 1..=WARM_UP {
        client.request(&call(id, tool, argument), id)?;
    }
    (WARM_UP + 1..=WARM_UP + CALLS).map(|id| client.request(&call(id, tool, argument), id)).collect()
}

fn call(id: u64, tool: &str, argument: &str) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "method": "tools/call",
        "params": {"name": tool, "arguments": {argument: "hello"}}})
}

fn missed(upstream: &str, ours: f64, peer: f64) -> Vec<String> {
    let mut missed = Vec::new();
    if ours > MAX_ADDED_MICROS {
        missed.push(format!("{upstream}: the gateway adds {ours:.0} µs, the limit is {MAX_ADDED_MICROS}"));
    }
    if peer < MIN_RATIO * ours {
        missed.push(format!("{upstream}: FastMCP's proxy adds only {:.1} times as much", peer / ours));
    }
    missed
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn o4_both_targets_for_the_added_time_are_checked() {
        assert_eq!(missed("x", 100.0, 10_000.0), Vec::<String>::new());
        assert_eq!(missed("x", 400.0, 10_000.0).len(), 1);
        assert_eq!(missed("x", 200.0, 300.0).len(), 1);
        assert_eq!(missed("x", 400.0, 500.0).len(), 2);
    }
}
