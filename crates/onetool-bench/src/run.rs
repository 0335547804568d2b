//! `cargo xtask bench run`: code through the gateway, compared with the bare sandbox and FastMCP with `exec`.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use serde_json::{Value, json};
use xtask::cargo::{self, Profile};
use xtask::process;
use xtask::tools::{self, Venv};

use super::stdio::StdioClient;
use super::{Samples, megabytes, micros, millis};

const TRIVIAL: &str = "x = 1; x + 1";
const LITERAL: &str = "ot.version()";
const WARM_UP: u64 = 50;
const CALLS: u64 = 500;
/// The sides take turns, so that a busy moment of the machine affects all of them.
const ROUNDS: u64 = 4;
const STARTS: usize = 10;
const CONCURRENT: u32 = 20;
const MANY: u64 = 10_000;

const MAX_LITERAL_MICROS: f64 = 300.0;
const MAX_TRIVIAL_MICROS: f64 = 2_500.0;
const MAX_IDLE_KB: u64 = 60 * 1024;
/// How much resident memory may grow in many runs: the allocator keeps some pages.
const MAX_GROWTH_KB: u64 = 4 * 1024;

pub(super) fn run() -> Result<()> {
    tools::require_programs()?;
    let python = tools::venv(Venv::Fastmcp)?;
    cargo::build_release(&["onetool", "examples/bare_run"])?;
    let bench = Bench {
        onetool: cargo::binary(Profile::Release, "onetool")?,
        bare: cargo::binary(Profile::Release, "examples/bare_run")?,
        python,
        // An empty home and working directory, so that no configuration is found.
        empty: tools::scratch("bench-run")?,
    };
    let mut missed = bench.latency()?;
    bench.first_run()?;
    bench.concurrent()?;
    missed.extend(bench.idle()?);
    missed.extend(bench.many()?);
    if !missed.is_empty() {
        bail!("{}", missed.join("; "));
    }
    Ok(())
}

struct Bench {
    onetool: PathBuf,
    bare: PathBuf,
    python: PathBuf,
    empty: PathBuf,
}

impl Bench {
    fn gateway(&self) -> Result<StdioClient> {
        let mut client = StdioClient::start(&mut self.serve())?;
        client.initialized()?;
        Ok(client)
    }

    fn serve(&self) -> Command {
        let mut command = Command::new(&self.onetool);
        command.arg("serve").current_dir(&self.empty).env("HOME", &self.empty).env_remove("ONETOOL_CONFIG");
        command
    }

    fn peer(&self) -> Result<StdioClient> {
        let mut command = Command::new(&self.python);
        command.arg(tools::outside().join("fastmcp_run.py")).current_dir(&self.empty);
        let mut client = StdioClient::start(&mut command)?;
        client.initialized()?;
        Ok(client)
    }

    /// Measures the bare sandbox: the same worker without a gateway.
    fn bare(&self) -> Result<Vec<Duration>> {
        let mut command = Command::new(&self.bare);
        command
            .arg((WARM_UP + CALLS).to_string())
            .arg(TRIVIAL)
            .arg(&self.onetool)
            .args(["__worker", "python"]);
        let output = process::output(&mut command)?;
        let times = output.lines().skip(usize::try_from(WARM_UP)?);
        times.map(|line| Ok(Duration::from_nanos(line.trim().parse()?))).collect()
    }

    /// Measures one warm call after another; returns the missed targets.
    fn latency(&self) -> Result<Vec<String>> {
        let (mut literal, mut trivial, mut bare, mut peer) = (vec![], vec![], vec![], vec![]);
        for _ in 0..ROUNDS {
            let mut client = self.gateway()?;
            literal.extend(calls(&mut client, LITERAL)?);
            trivial.extend(calls(&mut client, TRIVIAL)?);
            drop(client);
            bare.extend(self.bare()?);
            peer.extend(calls(&mut self.peer()?, TRIVIAL)?);
        }
        println!("{:<44}{:>12}{:>12}{:>12}", "run", "fastest µs", "median µs", "p99 µs");
        let mut medians = Vec::new();
        for (name, times) in [
            (format!("`{LITERAL}`, a literal call"), literal),
            (format!("`{TRIVIAL}`"), trivial),
            (format!("`{TRIVIAL}`, sandbox without gateway"), bare),
            (format!("`{TRIVIAL}`, FastMCP with exec"), peer),
        ] {
            let times = Samples::new(times)?;
            let [fastest, median, p99] = [0, 50, 99].map(|percent| micros(times.percentile(percent)));
            println!("{name:<44}{fastest:>12.1}{median:>12.1}{p99:>12.1}");
            medians.push(median);
        }
        let targets = [
            ("a literal call", medians[0], MAX_LITERAL_MICROS),
            ("a trivial program", medians[1], MAX_TRIVIAL_MICROS),
        ];
        Ok(targets
            .iter()
            .filter(|(_, median, limit)| median > limit)
            .map(|(name, median, limit)| format!("{name} takes {median:.0} µs, the limit is {limit}"))
            .collect())
    }

    /// Measures the first program of a process, which may have to wait for the interpreter.
    fn first_run(&self) -> Result<()> {
        let mut times = Vec::new();
        for _ in 0..STARTS {
            let mut client = self.gateway()?;
            times.push(client.request(&command(1, TRIVIAL), 1)?);
        }
        let times = Samples::new(times)?;
        println!(
            "{:<44}{:>12.1}{:>12.1}{:>12.1}",
            "first run after initialize",
            micros(times.percentile(0)),
            micros(times.median()),
            micros(times.percentile(100))
        );
        Ok(())
    }

    /// Measures runs that are sent before the first has finished.
    fn concurrent(&self) -> Result<()> {
        let mut client = self.gateway()?;
        calls(&mut client, TRIVIAL)?;
        let mut times = Vec::new();
        for round in 0..u64::try_from(STARTS)? {
            let ids = (1_000 * (round + 1)..).take(CONCURRENT.try_into()?);
            times.push(client.burst(ids.map(|id| (command(id, TRIVIAL), id)))?);
        }
        let times = Samples::new(times)?;
        println!(
            "{:<44}{:>12.1}{:>12.1}{:>12.1}   {:.0} runs a second",
            format!("{CONCURRENT} concurrent runs"),
            micros(times.percentile(0)),
            micros(times.median()),
            micros(times.percentile(100)),
            f64::from(CONCURRENT) * 1e3 / millis(times.median())
        );
        Ok(())
    }

    /// Measures the memory of an idle gateway with a warm interpreter and a waiting child.
    fn idle(&self) -> Result<Option<String>> {
        let mut client = self.gateway()?;
        client.request(&command(1, TRIVIAL), 1)?;
        let (gateway, zygote) = processes(&client)?;
        let (gateway, zygote_usage) = (Usage::settled(gateway)?, Usage::settled(zygote)?);
        let [spare] = children(zygote)?[..] else { bail!("expected one spare child of the interpreter") };
        let spare = Usage::settled(spare)?;
        let rows = [("gateway", gateway), ("interpreter, warm", zygote_usage), ("child, waiting", spare)];
        println!("\n{:<44}{:>12}{:>12}", "idle memory, MB", "resident", "its share");
        for (name, usage) in &rows {
            println!("{name:<44}{:>12.1}{:>12.1}", megabytes(usage.resident_kb), megabytes(usage.share_kb));
        }
        let resident = rows.iter().map(|(_, usage)| usage.resident_kb).sum();
        let share = rows.iter().map(|(_, usage)| usage.share_kb).sum();
        println!(
            "{:<44}{:>12.1}{:>12.1}   (at most {} MB)",
            "together",
            megabytes(resident),
            megabytes(share),
            MAX_IDLE_KB / 1024
        );
        Ok((share > MAX_IDLE_KB).then(|| format!("{share} kB when idle, the limit is {MAX_IDLE_KB}")))
    }

    /// Checks that memory, descriptors and processes do not grow in many runs.
    fn many(&self) -> Result<Vec<String>> {
        let mut client = self.gateway()?;
        calls(&mut client, TRIVIAL)?;
        let (gateway, zygote) = processes(&client)?;
        let before = [Usage::settled(gateway)?, Usage::settled(zygote)?];
        let start = Instant::now();
        for id in 1_000..1_000 + MANY {
            client.request(&command(id, TRIVIAL), id)?;
        }
        let elapsed = start.elapsed();
        let after = [Usage::settled(gateway)?, Usage::settled(zygote)?];
        println!("\n{MANY} runs, one after another, in {:.1} s", elapsed.as_secs_f64());
        println!("{:<44}{:>16}{:>16}{:>16}", "", "resident MB", "descriptors", "processes");
        let mut missed = Vec::new();
        for (name, before, after) in
            [("gateway", &before[0], &after[0]), ("interpreter", &before[1], &after[1])]
        {
            let arrow = |before: String, after: String| format!("{before} → {after}");
            println!(
                "{name:<44}{:>16}{:>16}{:>16}",
                arrow(
                    format!("{:.1}", megabytes(before.resident_kb)),
                    format!("{:.1}", megabytes(after.resident_kb))
                ),
                arrow(before.descriptors.to_string(), after.descriptors.to_string()),
                arrow(before.children.to_string(), after.children.to_string()),
            );
            let is_flat = after.resident_kb <= before.resident_kb + MAX_GROWTH_KB
                && after.descriptors <= before.descriptors
                && after.children <= before.children;
            if !is_flat {
                missed.push(format!("{MANY} runs leak in the {name}: {before:?}, then {after:?}"));
            }
        }
        Ok(missed)
    }
}

fn command(id: u64, code: &str) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "method": "tools/call",
        "params": {"name": "run", "arguments": {"command": code}}})
}

fn calls(client: &mut StdioClient, code: &str) -> Result<Vec<Duration>> {
    for id in 1..=WARM_UP {
        client.request(&command(id, code), id)?;
    }
    (WARM_UP + 1..=WARM_UP + CALLS).map(|id| client.request(&command(id, code), id)).collect()
}

/// Returns the process ids of the gateway and of the interpreter, whose parent made its namespaces.
fn processes(client: &StdioClient) -> Result<(u32, u32)> {
    let gateway = client.id();
    let [front] = children(gateway)?[..] else { bail!("expected one child of the gateway") };
    let [zygote] = children(front)?[..] else { bail!("expected the interpreter in separate namespaces") };
    Ok((gateway, zygote))
}

fn children(parent: u32) -> Result<Vec<u32>> {
    let mut children = Vec::new();
    let tasks = format!("/proc/{parent}/task");
    for task in fs::read_dir(&tasks).with_context(|| format!("cannot read {tasks}"))? {
        // A thread may have exited in the meantime.
        let list = fs::read_to_string(task?.path().join("children")).unwrap_or_default();
        children.extend(list.split_whitespace().filter_map(|id| id.parse::<u32>().ok()));
    }
    Ok(children)
}

/// The resources of a process at one moment.
#[derive(Debug)]
struct Usage {
    resident_kb: u64,
    /// Its proportional share: shared pages are divided among their processes.
    share_kb: u64,
    descriptors: usize,
    children: usize,
}

impl Usage {
    /// Reads the usage after a second, when memory has been freed.
    fn settled(process: u32) -> Result<Self> {
        std::thread::sleep(Duration::from_secs(1));
        let directory = Path::new("/proc").join(process.to_string());
        let path = directory.join("smaps_rollup");
        let rollup = fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
        let kb =
            |name: &str| field(&rollup, name).with_context(|| format!("{} has no {name}", path.display()));
        Ok(Self {
            resident_kb: kb("Rss:")?,
            share_kb: kb("Pss:")?,
            descriptors: fs::read_dir(directory.join("fd"))?.count(),
            children: children(process)?.len(),
        })
    }
}

fn field(rollup: &str, name: &str) -> Option<u64> {
    let line = rollup.lines().find_map(|line| line.strip_prefix(name))?;
    line.trim().strip_suffix(" kB")?.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_memory_fields() {
        let rollup =
            "55d0-7ffe ---p 00000000 00:00 0 [rollup]\nRss:    8000 kB\nPss:    6123 kB\nPss_Dirty: 5 kB\n";
        assert_eq!((field(rollup, "Rss:"), field(rollup, "Pss:")), (Some(8000), Some(6123)));
        assert_eq!(field(rollup, "Swap:"), None);
    }
}
