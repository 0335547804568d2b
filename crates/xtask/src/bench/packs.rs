//! `cargo xtask bench packs`: `ripgrep.search` through the gateway, beside the `rg` binary on the same files.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use serde_json::json;

use super::stdio::StdioClient;
use super::{Samples, millis};
use crate::cargo::{self, Profile};
use crate::{process, tools};

const ROUNDS: usize = 7;
/// How many times as long as `rg` a search may take.
const RATIO: f64 = 1.5;
/// More than any of the searches finds.
const MAX: u64 = 100_000;

/// What is searched for: seldom and often, as text, as regular expression, whatever the case.
const SEARCHES: [(&str, &str, bool); 4] = [
    ("a rare text", "sqlite3_prepare_v3", false),
    ("a common text", "unsafe impl", false),
    ("an expression", r"fn\s+\w*parse\w*\(&mut self", false),
    ("whatever the case", "deadlock", true),
];

pub(super) fn run() -> Result<()> {
    if !process::works("rg", &["--version"]) {
        bail!("rg is missing: `apt-get install ripgrep` or `cargo install ripgrep`");
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
        // In turns, so that a busy moment of the machine hits both; the first turn only warms the file cache.
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
        if ratio > RATIO {
            missed.push(format!("{what}: {ratio:.2} times as long as rg, at most {RATIO} are wanted"));
        }
    }
    if !missed.is_empty() {
        bail!("{}", missed.join("; "));
    }
    Ok(())
}

/// Returns the sources of our own dependencies, as cargo has unpacked them.
fn sources() -> Result<PathBuf> {
    let home = std::env::home_dir().context("no home folder: set HOME")?;
    let folder = home.join(".cargo/registry/src");
    if !folder.is_dir() {
        bail!("{} is missing: `cargo fetch` fills it", folder.display());
    }
    Ok(folder)
}

fn serve(sources: &Path) -> Result<StdioClient> {
    let folder = tools::scratch("bench-packs")?;
    let config = folder.join("onetool.yaml");
    let roots = json!({"packs": {"ripgrep": {"roots": [sources]}}});
    std::fs::write(&config, roots.to_string())?;
    let mut command = Command::new(cargo::binary(Profile::Release, "onetool")?);
    command.arg("--config").arg(&config).arg("serve").current_dir(&folder).env("HOME", &folder);
    let mut client = StdioClient::start(&mut command)?;
    client.initialized()?;
    Ok(client)
}

fn search(client: &mut StdioClient, pattern: &str, ignore_case: bool, id: u64) -> Result<(Duration, u64)> {
    let arguments = json!({"pattern": pattern, "ignore_case": ignore_case, "max": MAX});
    let params = json!({"name": "ripgrep_search", "arguments": arguments});
    let message = json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params});
    let (time, answer) = client.ask(&message, id)?;
    let count = &answer["result"]["structuredContent"]["count"];
    Ok((time, count.as_u64().with_context(|| format!("the answer has no count: {count}"))?))
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
