//! `cargo xtask bench call`: one tools/call through the gateway beside the same call of a bare rmcp server.

use std::path::Path;
use std::process::Command;
use std::sync::Barrier;
use std::time::Duration;

use anyhow::{Result, anyhow, bail};

use super::http::HttpClient;
use super::stdio::StdioClient;
use super::{Samples, echo, micros};
use crate::cargo::{self, Profile};
use crate::process::Running;

const CALLS: u64 = 2_000;
const WARM_UP: u64 = 100;
const CLIENTS: u64 = 32;
/// Turns each server gets, one after the other, so that a busy moment of the machine hits both.
const ROUNDS: usize = 4;
const RATIO: f64 = 1.25;
const MORE_MICROS: f64 = 30.0;

pub(super) fn run() -> Result<()> {
    cargo::build_release(&["onetool-echo-gateway", "onetool-echo-bare"])?;
    let gateway = cargo::binary(Profile::Release, "onetool-echo-gateway")?;
    let bare = cargo::binary(Profile::Release, "onetool-echo-bare")?;
    println!("{:<36}{:>12}{:>12}", "tools/call", "median µs", "p99 µs");
    let stdio = compare("stdio", &gateway, &bare, over_stdio)?;
    let http = compare("HTTP, 32 clients", &gateway, &bare, over_http)?;
    if !(stdio && http) {
        bail!(
            "the gateway's median is over {RATIO} times and over {MORE_MICROS} µs more than the bare server's"
        );
    }
    Ok(())
}

/// Measures both servers in turns, prints them, and tells whether the gateway is close enough.
fn compare(
    transport: &str,
    gateway: &Path,
    bare: &Path,
    measure: fn(&Path) -> Result<Vec<Duration>>,
) -> Result<bool> {
    let (mut gateway_times, mut bare_times) = (Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        gateway_times.extend(measure(gateway)?);
        bare_times.extend(measure(bare)?);
    }
    let (gateway_times, bare_times) = (Samples::new(gateway_times)?, Samples::new(bare_times)?);
    for (name, times) in [("gateway", &gateway_times), ("bare rmcp", &bare_times)] {
        println!(
            "{:<36}{:>12.1}{:>12.1}",
            format!("{transport}: {name}"),
            micros(times.median()),
            micros(times.percentile(99))
        );
    }
    let (ours, theirs) = (micros(gateway_times.median()), micros(bare_times.median()));
    println!(
        "{:<36}{:>11.2}x{:>+12.1}   (at most {RATIO}x or {MORE_MICROS:+} µs)",
        format!("{transport}: ratio, difference"),
        ours / theirs,
        ours - theirs
    );
    Ok(close_enough(ours, theirs))
}

fn close_enough(ours: f64, theirs: f64) -> bool {
    ours <= RATIO * theirs || ours - theirs <= MORE_MICROS
}

fn over_stdio(server: &Path) -> Result<Vec<Duration>> {
    let mut client = StdioClient::start(Command::new(server).arg("stdio"))?;
    client.initialized()?;
    for id in 1..=WARM_UP {
        client.request(&echo(id), id)?;
    }
    (WARM_UP + 1..=WARM_UP + CALLS).map(|id| client.request(&echo(id), id)).collect()
}

fn over_http(server: &Path) -> Result<Vec<Duration>> {
    let (_running, url) = Running::listening(Command::new(server).arg("http"))?;
    let start = Barrier::new(usize::try_from(CLIENTS)?);
    let results: Vec<Result<Vec<Duration>>> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..CLIENTS).map(|_| scope.spawn(|| http_client(&url, &start))).collect();
        threads
            .into_iter()
            .map(|thread| thread.join().unwrap_or_else(|_| Err(anyhow!("a client panicked"))))
            .collect()
    });
    let mut times = Vec::new();
    for result in results {
        times.extend(result?);
    }
    Ok(times)
}

fn http_client(url: &str, start: &Barrier) -> Result<Vec<Duration>> {
    let warm = HttpClient::start(url).and_then(|mut client| {
        client.request(&echo(1), 1)?;
        Ok(client)
    });
    // Also after a failure, or the others would wait for ever.
    start.wait();
    let mut client = warm?;
    (2..2 + CALLS.div_ceil(CLIENTS)).map(|id| client.request(&echo(id), id)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn either_bar_is_enough() {
        assert!(close_enough(40.0, 20.0), "20 µs more");
        assert!(close_enough(1200.0, 1000.0), "1.2 times");
        assert!(!close_enough(100.0, 60.0));
    }
}
