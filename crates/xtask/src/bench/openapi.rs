//! `cargo xtask bench openapi`: GitHub's whole description, from the start to the first answer, beside a Node importer.

use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::PathBuf;
use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::{Result, bail};
use serde_json::{Value, json};

use super::stdio::StdioClient;
use super::{Samples, megabytes, micros, millis};
use crate::cargo::{self, Profile};
use crate::tools;

const STARTS: usize = 5;
const WARM_UP: u64 = 20;
const CALLS: u64 = 200;
const DESCRIPTION: &str = "@octokit/openapi/generated/api.github.com.json";

/// How many times sooner than the peer the first answer is there: with nothing known, and with the plan kept.
const COLD_RATIO: f64 = 2.0;
const KEPT_RATIO: f64 = 10.0;
const SETTLED_KB: u64 = 80 * 1024;

pub(super) fn run() -> Result<()> {
    tools::require_programs()?;
    let upstreams = tools::upstreams()?;
    let description = tools::api_descriptions()?.join(DESCRIPTION);
    cargo::build_release(&["onetool"])?;
    let bench = Bench {
        onetool: cargo::binary(Profile::Release, "onetool")?,
        peer: upstreams.packages.join("node_modules/.bin/openapi-mcp-server"),
        description,
        api: serve_api()?,
        folder: tools::scratch("bench-openapi")?,
    };
    // The first start of each warms the page cache.
    bench.ours()?.first_answer()?;
    bench.peer().first_answer()?;
    let (mut cold, mut kept, mut peer) = (vec![], vec![], vec![]);
    for _ in 0..STARTS {
        bench.forget_plan()?;
        cold.push(bench.ours()?.first_answer()?);
        kept.push(bench.ours()?.first_answer()?);
        peer.push(bench.peer().first_answer()?);
    }
    let cold = Measured::new("onetool, first time", cold)?;
    let kept = Measured::new("onetool, plan kept", kept)?;
    let peer = Measured::new("@ivotoby/openapi-mcp-server", peer)?;
    println!(
        "{:<32}{:>16}{:>14}{:>14}{:>16}",
        "GitHub, 1,223 operations", "first answer ms", "slowest ms", "call µs", "resident MB"
    );
    for measured in [&cold, &kept, &peer] {
        measured.print();
    }
    let ratio = |ours: &Measured| peer.first.median().as_secs_f64() / ours.first.median().as_secs_f64();
    println!("{:<32}{:>16.1}   (at least {COLD_RATIO})", "ratio, first time", ratio(&cold));
    println!("{:<32}{:>16.1}   (at least {KEPT_RATIO})", "ratio, plan kept", ratio(&kept));
    let resident = cold.resident_kb.max(kept.resident_kb);
    let mut missed = Vec::new();
    for (what, ratio, bar) in [("first", ratio(&cold), COLD_RATIO), ("later", ratio(&kept), KEPT_RATIO)] {
        if ratio < bar {
            missed.push(format!("the {what} start is {ratio:.1} times faster, {bar} are wanted"));
        }
    }
    if resident > SETTLED_KB {
        missed.push(format!("{resident} kB resident, {SETTLED_KB} at most"));
    }
    if !missed.is_empty() {
        bail!("{}", missed.join("; "));
    }
    Ok(())
}

struct Bench {
    onetool: PathBuf,
    peer: PathBuf,
    description: PathBuf,
    /// Where an API answers that stands for GitHub's.
    api: String,
    folder: PathBuf,
}

/// A server and its tool for the operation that is called.
struct Side {
    command: Command,
    tool: &'static str,
}

impl Bench {
    fn ours(&self) -> Result<Side> {
        let config = self.folder.join("onetool.yaml");
        let api = json!({"spec": self.description, "base_url": self.api});
        fs::write(
            &config,
            json!({"version": 1, "startup_wait": 60, "openapi": {"github": api}}).to_string(),
        )?;
        let mut command = Command::new(&self.onetool);
        command.arg("serve").arg("--config").arg(config).current_dir(&self.folder);
        command.env("HOME", &self.folder).env_remove("ONETOOL_CONFIG");
        Ok(Side { command, tool: "github_meta_get_zen" })
    }

    fn peer(&self) -> Side {
        let mut command = Command::new(&self.peer);
        command.args(["--api-base-url", &self.api, "--openapi-spec"]).arg(&self.description);
        command.current_dir(&self.folder);
        Side { command, tool: "meta-get-zen" }
    }

    /// Deletes the plan that an earlier start has kept.
    fn forget_plan(&self) -> Result<()> {
        let folder = self.folder.join(".onetool/cache/openapi");
        if fs::read_dir(&folder).map_or(0, Iterator::count) == 0 {
            bail!("no plan was kept in {}, so there is nothing to compare with", folder.display());
        }
        Ok(fs::remove_dir_all(folder)?)
    }
}

/// One start: how long it took, how long calls took afterwards, what it then held.
struct Start {
    first: Duration,
    calls: Vec<Duration>,
    resident_kb: u64,
}

impl Side {
    fn first_answer(mut self) -> Result<Start> {
        let begin = Instant::now();
        let mut client = StdioClient::start(&mut self.command)?;
        client.initialized()?;
        client.request(&self.call(1), 1)?;
        let first = begin.elapsed();
        for id in 2..=WARM_UP {
            client.request(&self.call(id), id)?;
        }
        let calls = (WARM_UP + 1..=WARM_UP + CALLS).map(|id| client.request(&self.call(id), id));
        let calls = calls.collect::<Result<_>>()?;
        // What was needed only for the start is given back in the background.
        std::thread::sleep(Duration::from_secs(2));
        Ok(Start { first, calls, resident_kb: client.resident_kb()? })
    }

    fn call(&self, id: u64) -> Value {
        json!({"jsonrpc": "2.0", "id": id, "method": "tools/call",
            "params": {"name": self.tool, "arguments": {}}})
    }
}

struct Measured {
    name: &'static str,
    first: Samples,
    calls: Samples,
    resident_kb: u64,
}

impl Measured {
    fn new(name: &'static str, starts: Vec<Start>) -> Result<Self> {
        Ok(Self {
            name,
            resident_kb: starts.iter().map(|it| it.resident_kb).max().unwrap_or_default(),
            first: Samples::new(starts.iter().map(|it| it.first).collect())?,
            calls: Samples::new(starts.into_iter().flat_map(|it| it.calls).collect())?,
        })
    }

    fn print(&self) {
        println!(
            "{:<32}{:>16.1}{:>14.1}{:>14.1}{:>16.1}",
            self.name,
            millis(self.first.median()),
            millis(self.first.percentile(100)),
            micros(self.calls.median()),
            megabytes(self.resident_kb)
        );
    }
}

/// Serves an API on loopback that gives every request the same answer, and returns its address.
fn serve_api() -> Result<String> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let url = format!("http://{}", listener.local_addr()?);
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            // A client that hangs up has what it wanted.
            std::thread::spawn(move || answer_all(stream));
        }
    });
    Ok(url)
}

fn answer_all(mut stream: TcpStream) -> Result<()> {
    stream.set_nodelay(true)?;
    let mut lines = BufReader::new(stream.try_clone()?);
    let mut line = String::new();
    // The requests that are made here have no body, so each ends with an empty line.
    while lines.read_line(&mut line)? > 0 {
        if line.trim().is_empty() {
            stream.write_all(
                b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 15\r\n\r\nKeep it simple.",
            )?;
        }
        line.clear();
    }
    Ok(())
}
