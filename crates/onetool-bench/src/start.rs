//! `cargo xtask bench start`: from spawn to the response to `initialize`, compared with FastMCP; idle memory.

use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::{Result, bail};
use xtask::cargo::{self, Profile};
use xtask::tools::{self, Venv};

use super::stdio::StdioClient;
use super::{Samples, millis};

const OUR_SPAWNS: usize = 20;
const PEER_SPAWNS: usize = 5;
const MIN_RATIO: f64 = 50.0;
const MAX_IDLE_KB: u64 = 20 * 1024;

pub(super) fn run() -> Result<()> {
    tools::require_programs()?;
    let python = tools::venv(Venv::Fastmcp)?;
    cargo::build_release(&["onetool"])?;
    let onetool = cargo::binary(Profile::Release, "onetool")?;
    // An empty home and working directory, so that no configuration is found.
    let empty = tools::scratch("bench-start")?;
    let ours = || serve(&onetool, &empty);
    let peer = || {
        let mut command = Command::new(&python);
        command.arg(tools::outside().join("fastmcp_server.py")).current_dir(&empty);
        command
    };

    let ours_times = spawns(OUR_SPAWNS, ours)?;
    let peer_times = spawns(PEER_SPAWNS, peer)?;
    let ratio = peer_times.median().as_secs_f64() / ours_times.median().as_secs_f64();
    let idle = idle_kb(&mut ours())?;

    println!("{:<24}{:>8}{:>14}{:>14}", "spawn to initialize", "spawns", "median ms", "slowest ms");
    for (name, times) in [("onetool serve", &ours_times), ("FastMCP, one tool", &peer_times)] {
        println!(
            "{name:<24}{:>8}{:>14.2}{:>14.2}",
            times.0.len(),
            millis(times.median()),
            millis(times.percentile(100))
        );
    }
    println!("ratio                   {ratio:.0} (at least {MIN_RATIO:.0})");
    #[expect(clippy::cast_precision_loss, reason = "a few thousand kB")]
    let idle_mb = idle as f64 / 1024.0;
    println!("idle memory             {idle_mb:.1} MB (at most {} MB)", MAX_IDLE_KB / 1024);
    if ratio < MIN_RATIO {
        bail!("only {ratio:.0} times faster than FastMCP, the target is {MIN_RATIO:.0}");
    }
    if idle > MAX_IDLE_KB {
        bail!("{idle} kB resident when idle, the limit is {MAX_IDLE_KB}");
    }
    Ok(())
}

fn serve(onetool: &Path, empty: &Path) -> Command {
    let mut command = Command::new(onetool);
    command.arg("serve").current_dir(empty).env("HOME", empty).env_remove("ONETOOL_CONFIG");
    command
}

fn spawns(count: usize, command: impl Fn() -> Command) -> Result<Samples> {
    // The first one warms the page cache.
    StdioClient::start(&mut command())?;
    let mut times = Vec::new();
    for _ in 0..count {
        let start = Instant::now();
        let client = StdioClient::start(&mut command())?;
        times.push(start.elapsed());
        drop(client);
    }
    Samples::new(times)
}

fn idle_kb(command: &mut Command) -> Result<u64> {
    let mut client = StdioClient::start(command)?;
    client.initialized()?;
    // Includes what starts in the background after initialize.
    std::thread::sleep(Duration::from_secs(1));
    client.resident_kb()
}
