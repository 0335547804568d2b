//! `cargo xtask bench call`: a `tools/call` through the gateway, compared with a bare rmcp server.

use std::path::Path;
use std::process::Command;
use std::sync::Barrier;
use std::time::Duration;

use anyhow::{Result, anyhow, bail};
use xtask::cargo::{self, Profile};
use xtask::process::Running;

use super::http::HttpClient;
use super::stdio::StdioClient;
use super::{Samples, echo, micros};

const CALLS: u64 = 2_000;
const WARM_UP: u64 = 100;
const CLIENTS: u64 = 32;
/// The servers take turns, so that a busy moment of the machine affects both.
const ROUNDS: usize = 4;
const MAX_RATIO: f64 = 1.25;
const MAX_ADDED_MICROS: f64 = 30.0;

pub(super) fn run() -> Result<()> {
    cargo::build_release(&["examples/echo_gateway", "examples/echo_bare"])?;
    let gateway = cargo::binary(Profile::Release, "examples/echo_gateway")?;
    let bare = cargo::binary(Profile::Release, "examples/echo_bare")?;
    println!("{:<36}{:>12}{:>12}", "tools/call", "median µs", "p99 µs");
    let stdio = compare("stdio", &gateway, &bare, over_stdio)?;
    let http = compare("HTTP, 32 clients", &gateway, &bare, over_http)?;
    if !(stdio && http) {
        bail!(
            "the gateway's median is over {MAX_RATIO} times and over {MAX_ADDED_MICROS} µs more than the bare server's"
        );
    }
    Ok(())
}

/// Measures both servers in turns, prints the times, and returns whether the gateway is fast enough.
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
        "{:<36}{:>11.2}x{:>+12.1}   (at most {MAX_RATIO}x or {MAX_ADDED_MICROS:+} µs)",
        format!("{transport}: ratio, difference"),
        ours / theirs,
        ours - theirs
    );
    Ok(is_fast_enough(ours, theirs))
}

fn is_fast_enough(ours: f64, theirs: f64) -> bool {
    ours <= MAX_RATIO * theirs || ours - theirs <= MAX_ADDED_MICROS
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
    // Also after a failure, or the others would wait forever.
    start.wait();
    let mut client = warm?;
    (2..2 + CALLS.div_ceil(CLIENTS)).map(|id| client.request(&echo(id), id)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_of_both_limits_is_enough() {
        assert!(is_fast_enough(40.0, 20.0), "20 µs more");
        assert!(is_fast_enough(1200.0, 1000.0), "1.2 times");
        assert!(!is_fast_enough(100.0, 60.0));
    }
}
