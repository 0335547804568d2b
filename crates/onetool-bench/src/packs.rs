//! `cargo xtask bench packs`: `ripgrep.search` through the gateway, compared with the `rg` binary on the same files.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use serde_json::json;
use xtask::cargo::{self, Profile};
use xtask::{process, tools};

use super::stdio::StdioClient;
use super::{Samples, millis};

const ROUNDS: usize = 7;
/// The longest time of a search, as a multiple of the time of `rg`.
const MAX_RATIO: f64 = 1.5;
/// More than any of the searches matches.
const MAX: u64 = 100_000;

/// Rare and common text, a regular expression, and a search that ignores case.
const SEARCHES: [(&str, &str, bool); 4] = [
    ("a rare text", "sqlite3_prepare_v3", false),
    ("a common text", "unsafe impl", false),
    ("an expression", r"fn\s+\w*parse\w*\(&mut self", false),
    ("ignoring case", "deadlock", true),
];

pub(super) fn run() -> Result<()> {
    if !process::works("rg", &["--version"]) {
        bail!("rg is not installed; install it: `apt-get install ripgrep`");
    }
    let sources = sources()?;
    cargo::build_release(&["onetool"])?;
    let mut client = serve(&sources)?;
    println!("{} files under {}", files(&sources)?, sources.display());
    println!(
        "{:<22}{:>10}{:>16}{:>12}{:>8}",
        "median of searches", "matches", "onetool ms", "rg ms", "ratio"
    );
    let mut missed = Vec::new();
    for (id, (what, pattern, ignore_case)) in (1..).zip(SEARCHES) {
        let (mut ours, mut theirs) = (Vec::new(), Vec::new());
        let mut counts = (0, 0);
        // In turns, so that a busy moment of the machine affects both. The first turn only warms the file cache.
        for round in 0..=ROUNDS {
            let (time, count) = search(&mut client, pattern, ignore_case, id * 100 + round as u64)?;
            let (rg_time, rg_count) = rg(&sources, pattern, ignore_case)?;
            counts = (count, rg_count);
            if round > 0 {
                ours.push(time);
                theirs.push(rg_time);
            }
        }
        let (ours, theirs) = (Samples::new(ours)?, Samples::new(theirs)?);
        let ratio = ours.median().as_secs_f64() / theirs.median().as_secs_f64();
        let (ours, theirs) = (millis(ours.median()), millis(theirs.median()));
        println!("{what:<22}{:>10}{ours:>16.1}{theirs:>12.1}{ratio:>8.2}", counts.0);
        if counts.0 != counts.1 {
            missed.push(format!("{what}: {} matches, but rg finds {}", counts.0, counts.1));
        }
        if ratio > MAX_RATIO {
            missed.push(format!("{what}: takes {ratio:.2} times as long as rg, the limit is {MAX_RATIO}"));
        }
    }
    if !missed.is_empty() {
        bail!("{}", missed.join("; "));
    }
    Ok(())
}

/// Returns the directory where cargo unpacks our dependencies.
fn sources() -> Result<PathBuf> {
    let home = std::env::home_dir().context("no home directory: set HOME")?;
    let directory = home.join(".cargo/registry/src");
    if !directory.is_dir() {
        bail!("{} is missing: run `cargo fetch`", directory.display());
    }
    Ok(directory)
}

fn serve(sources: &Path) -> Result<StdioClient> {
    let directory = tools::scratch("bench-packs")?;
    let config = directory.join("onetool.yaml");
    let roots = json!({"packs": {"ripgrep": {"roots": [sources]}}});
    std::fs::write(&config, roots.to_string())?;
    let mut command = Command::new(cargo::binary(Profile::Release, "onetool")?);
    command.arg("--config").arg(&config).arg("serve").current_dir(&directory).env("HOME", &directory);
    let mut client = StdioClient::start(&mut command)?;
    client.initialized()?;
    Ok(client)
}

fn search(client: &mut StdioClient, pattern: &str, ignore_case: bool, id: u64) -> Result<(Duration, u64)> {
    let arguments = json!({"pattern": pattern, "ignore_case": ignore_case, "max": MAX});
    let params = json!({"name": "ripgrep_search", "arguments": arguments});
    let message = json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params});
    let (time, response) = client.call(&message, id)?;
    let count = &response["result"]["structuredContent"]["count"];
    Ok((time, count.as_u64().with_context(|| format!("the response has no count: {count}"))?))
}

fn rg(sources: &Path, pattern: &str, ignore_case: bool) -> Result<(Duration, u64)> {
    let mut command = Command::new("rg");
    command.args(["--no-config", "--no-require-git", "--no-ignore-global", "--line-number", "--no-heading"]);
    if ignore_case {
        command.arg("--ignore-case");
    }
    command.arg("--regexp").arg(pattern).arg(sources).stdin(Stdio::null());
    let start = Instant::now();
    let output = command.output().context("cannot start rg")?;
    let time = start.elapsed();
    let count = output.stdout.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()).count();
    Ok((time, count as u64))
}

fn files(sources: &Path) -> Result<usize> {
    let mut command = Command::new("rg");
    command.args(["--no-config", "--no-require-git", "--no-ignore-global", "--files"]).arg(sources);
    Ok(process::output(&mut command)?.lines().count())
}
