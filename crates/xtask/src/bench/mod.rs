//! `cargo xtask bench`: measurements of the release binaries, each beside its peer in the same run.

mod call;
mod find;
mod herd;
pub(crate) mod hostile;
mod http;
mod openapi;
mod packs;
mod proxy;
mod run;
mod start;
mod stdio;

use std::time::Duration;

use anyhow::{Context, Result, bail};
use clap::Subcommand;
use serde_json::{Value, json};

#[derive(Subcommand)]
pub(crate) enum What {
    /// Spawn to initialize answer, beside a Python FastMCP server; idle memory
    Start,
    /// Time of one tools/call over stdio and HTTP, beside a bare rmcp server
    Call,
    /// Code through `run`, beside the bare sandbox and a FastMCP server with exec; memory; what 10,000 runs leave
    Run,
    /// A proxied call over stdio, beside the same call without us and through a Python FastMCP proxy
    Proxy,
    /// GitHub's API description: start to first answer, time of a call, memory, beside a Node importer
    Openapi,
    /// Quality of the search index on collections of real queries, beside TF-IDF and BM25; or its speed
    Find(find::Options),
    /// Forty real servers at once behind the gateway, beside starting them one after the other
    Herd,
    /// Every attack that we know, against one gateway with 2 GB: how long an innocent client waits, how much memory it takes
    Hostile,
    /// `ripgrep.search` on the sources of our dependencies, beside the rg binary
    Packs,
}

pub(crate) fn run(what: What) -> Result<()> {
    match what {
        What::Start => start::run(),
        What::Call => call::run(),
        What::Run => run::run(),
        What::Proxy => proxy::run(),
        What::Openapi => openapi::run(),
        What::Find(options) => find::run(&options),
        What::Herd => herd::run(),
        What::Hostile => hostile::run(),
        What::Packs => packs::run(),
    }
}

/// Makes the first request of a session.
fn initialize() -> Value {
    json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
        "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "bench", "version": "1"}}})
}

fn initialized() -> Value {
    json!({"jsonrpc": "2.0", "method": "notifications/initialized"})
}

/// Makes a call of the echo tool that both test servers have.
fn echo(id: u64) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "method": "tools/call",
        "params": {"name": "echo", "arguments": {"text": "hello"}}})
}

/// Fails unless the message answers the request, without an error of any kind.
fn expect_answer(message: &Value, id: u64) -> Result<()> {
    if message["id"] != json!(id)
        || message.get("result").is_none()
        || message["result"]["isError"] == json!(true)
    {
        bail!("no answer to request {id}: {message}");
    }
    Ok(())
}

/// Times of many repetitions, kept sorted.
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

    /// Returns the time that this percentage of repetitions stayed under.
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
    fn percentiles_come_from_sorted_times() {
        let samples = Samples::new((1..=101).rev().map(Duration::from_millis).collect()).unwrap();
        assert_eq!(samples.median(), Duration::from_millis(51));
        assert_eq!(samples.percentile(99), Duration::from_millis(100));
        assert!(Samples::new(Vec::new()).is_err());
    }

    #[test]
    fn errors_are_no_answers() {
        assert!(expect_answer(&json!({"id": 1, "result": {"content": []}}), 1).is_ok());
        assert!(expect_answer(&json!({"id": 2, "result": {}}), 1).is_err());
        assert!(expect_answer(&json!({"id": 1, "error": {}}), 1).is_err());
        assert!(expect_answer(&json!({"id": 1, "result": {"isError": true}}), 1).is_err());
    }
}
