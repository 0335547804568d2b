//! `cargo xtask bench herd`: forty real servers, started by one gateway concurrently, and one by one without it.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use serde_json::{Value, json};
use xtask::cargo::{self, Profile};
use xtask::tools::{self, Upstreams};

use super::megabytes;
use super::stdio::StdioClient;

const SERVERS: usize = 40;

pub(super) fn run() -> Result<()> {
    tools::require_programs()?;
    let upstreams = tools::upstreams()?;
    cargo::build_release(&["onetool"])?;
    let onetool = cargo::binary(Profile::Release, "onetool")?;
    let directory = tools::scratch("bench-herd")?;
    let servers = servers(&upstreams, &directory)?;

    let one_by_one = start_one_by_one(&servers)?;
    let gateway = start_through_gateway(&onetool, &servers, &directory)?;

    let ratio = one_by_one.as_secs_f64() / gateway.time.as_secs_f64();
    println!("{SERVERS} servers until all are listed");
    println!("one by one              {:>8.1} s", one_by_one.as_secs_f64());
    println!("through the gateway     {:>8.1} s, {ratio:.2} times as fast", gateway.time.as_secs_f64());
    println!("failed attempts         {:>8}", gateway.failures);
    println!("memory of the gateway   {:>8.1} MB", megabytes(gateway.memory_kb));
    if gateway.failures > 0 {
        bail!("{} attempts to connect failed; see {}", gateway.failures, directory.join("log").display());
    }
    Ok(())
}

/// Returns the command lines: half Node, half Python.
fn servers(upstreams: &Upstreams, directory: &Path) -> Result<Vec<Vec<String>>> {
    let node = upstreams.packages.join("node_modules/.bin/mcp-server-memory");
    let python = upstreams.programs.iter().map(|directory| directory.join("mcp-server-time"));
    let python =
        python.into_iter().find(|program| program.exists()).context("mcp-server-time is not installed")?;
    let text = |path: &PathBuf| path.to_string_lossy().into_owned();
    let memory = directory.join("memory.jsonl");
    let line = |at: usize| match at % 2 {
        0 => vec!["env".into(), format!("MEMORY_FILE_PATH={}", memory.display()), text(&node)],
        _ => vec![text(&python), "--local-timezone".into(), "UTC".into()],
    };
    Ok((0..SERVERS).map(line).collect())
}

fn start_one_by_one(servers: &[Vec<String>]) -> Result<Duration> {
    let start = Instant::now();
    let mut running = Vec::new();
    for server in servers {
        let mut client = StdioClient::start(Command::new(&server[0]).args(&server[1..]))?;
        client.initialized()?;
        client.request(&json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list"}), 1)?;
        running.push(client);
    }
    Ok(start.elapsed())
}

struct Started {
    time: Duration,
    failures: usize,
    memory_kb: u64,
}

fn start_through_gateway(onetool: &Path, servers: &[Vec<String>], directory: &Path) -> Result<Started> {
    let configured = servers
        .iter()
        .enumerate()
        .map(|(at, line)| (format!("s{at}"), json!({"command": line[0], "args": line[1..]})));
    let servers: serde_json::Map<String, Value> = configured.collect();
    let (config, log) = (directory.join("onetool.yaml"), directory.join("log"));
    fs::write(&config, json!({"version": 1, "startup_wait": 300, "servers": servers}).to_string())?;
    let start = Instant::now();
    let mut command = Command::new(onetool);
    command.args(["serve", "--config"]).arg(&config).env("HOME", directory);
    let mut client = StdioClient::start_logged(&mut command, Stdio::from(File::create(&log)?))?;
    client.initialized()?;
    // Lists all packs, so it waits until every server has connected or failed.
    let code =
        format!("len({{f's{{n}}' for n in range({SERVERS})}} & {{pack['name'] for pack in ot.packs()}})");
    let request = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call",
        "params": {"name": "run", "arguments": {"command": code}}});
    let (_, response) = client.call(&request, 1)?;
    let time = start.elapsed();
    let listed = &response["result"]["content"][0]["text"];
    if *listed != json!(SERVERS.to_string()) {
        bail!("{listed} of {SERVERS} servers are listed; see {}", log.display());
    }
    let memory_kb = client.resident_kb()?;
    drop(client);
    Ok(Started { time, failures: failures(&fs::read_to_string(&log)?), memory_kb })
}

/// Counts the failed attempts to connect in the gateway's log.
fn failures(log: &str) -> usize {
    log.lines().filter(|line| line.contains("not connected: ")).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seam_20_failed_attempts_are_counted() {
        let log = " INFO connected server=s1\n WARN not connected: the program ended server=s2\n ERROR not connected: x\n";
        assert_eq!(failures(log), 2);
        assert_eq!(failures(" INFO connected server=s1\n"), 0);
    }
}
