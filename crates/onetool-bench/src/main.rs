//! `cargo xtask bench`: benchmarks of the release binaries, each compared with its peer in the same run.

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a command line tool for developers")]

mod call;
mod find;
mod herd;
mod hostile;
mod http;
mod openapi;
mod packs;
mod proxy;
mod run;
mod start;
mod stdio;

use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use clap::{Parser, Subcommand};
use serde_json::{Value, json};

#[derive(Parser)]
#[command(name = "cargo xtask bench", about = "Benchmarks of the release binaries")]
struct Arguments {
    #[command(subcommand)]
    benchmark: Benchmark,
}

#[derive(Subcommand)]
enum Benchmark {
    /// Time from spawn to the response to initialize, compared with a Python FastMCP server; idle memory
    Start,
    /// Time of a tools/call over stdio and HTTP, compared with a bare rmcp server
    Call,
    /// Code through `run`, compared with the bare sandbox and a FastMCP server with exec; memory; leaks after 10,000 runs
    Run,
    /// A proxied call over stdio, compared with a direct call and a Python FastMCP proxy
    Proxy,
    /// GitHub's API description: start to first response, time of a call, memory, compared with a Node importer
    Openapi,
    /// Quality of the search index on collections of real queries, compared with TF-IDF and BM25; or its speed
    Find(find::Options),
    /// Forty real servers behind the gateway, started concurrently and one by one
    Herd,
    /// Every known attack against a gateway with 2 GB of memory, while an innocent client keeps calling
    Hostile(hostile::Options),
    /// `ripgrep.search` on the sources of our dependencies, compared with the rg binary
    Packs,
}

fn main() -> ExitCode {
    match run(Arguments::parse().benchmark) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run(benchmark: Benchmark) -> Result<()> {
    match benchmark {
        Benchmark::Start => start::run(),
        Benchmark::Call => call::run(),
        Benchmark::Run => run::run(),
        Benchmark::Proxy => proxy::run(),
        Benchmark::Openapi => openapi::run(),
        Benchmark::Find(options) => find::run(&options),
        Benchmark::Herd => herd::run(),
        Benchmark::Hostile(options) => hostile::run(&options),
        Benchmark::Packs => packs::run(),
    }
}

/// Returns the first request of a session.
fn initialize() -> Value {
    json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
        "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "bench", "version": "1"}}})
}

fn initialized() -> Value {
    json!({"jsonrpc": "2.0", "method": "notifications/initialized"})
}

/// Returns a call of the echo tool that both test servers have.
fn echo(id: u64) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "method": "tools/call",
        "params": {"name": "echo", "arguments": {"text": "hello"}}})
}

/// Fails unless the message is a successful response to the request.
fn expect_response(message: &Value, id: u64) -> Result<()> {
    if message["id"] != json!(id)
        || message.get("result").is_none()
        || message["result"]["isError"] == json!(true)
    {
        bail!("no successful response to request {id}: {message}");
    }
    Ok(())
}

/// Times of many repetitions, sorted.
struct Samples(Vec<Duration>);

impl Samples {
    fn new(mut times: Vec<Duration>) -> Result<Self> {
        times.sort_unstable();
        times.first().context("nothing was measured")?;
        Ok(Self(times))
    }

    fn median(&self) -> Duration {
        self.percentile(50)
    }

    /// Returns the time within which this percentage of repetitions finished.
    fn percentile(&self, percent: usize) -> Duration {
        self.0[(self.0.len() - 1) * percent / 100]
    }
}

fn micros(time: Duration) -> f64 {
    time.as_secs_f64() * 1e6
}

fn millis(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

#[expect(clippy::cast_precision_loss, reason = "thousands of kB")]
fn megabytes(kb: u64) -> f64 {
    kb as f64 / 1024.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_taken_from_sorted_times() {
        let samples = Samples::new((1..=101).rev().map(Duration::from_millis).collect()).unwrap();
        assert_eq!(samples.median(), Duration::from_millis(51));
        assert_eq!(samples.percentile(99), Duration::from_millis(100));
        assert!(Samples::new(Vec::new()).is_err());
    }

    #[test]
    fn errors_are_not_successful_responses() {
        assert!(expect_response(&json!({"id": 1, "result": {"content": []}}), 1).is_ok());
        assert!(expect_response(&json!({"id": 2, "result": {}}), 1).is_err());
        assert!(expect_response(&json!({"id": 1, "error": {}}), 1).is_err());
        assert!(expect_response(&json!({"id": 1, "result": {"isError": true}}), 1).is_err());
    }
}
