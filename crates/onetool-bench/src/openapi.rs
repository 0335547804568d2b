//! `cargo xtask bench openapi`: GitHub's API description, from start to first response, compared with a Node importer.

use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::PathBuf;
use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::{Result, bail};
use serde_json::{Value, json};
use xtask::cargo::{self, Profile};
use xtask::tools;

use super::stdio::StdioClient;
use super::{Samples, megabytes, micros, millis};

const STARTS: usize = 5;
const WARM_UP: u64 = 20;
const CALLS: u64 = 200;
const DESCRIPTION: &str = "@octokit/openapi/generated/api.github.com.json";

/// How many times faster than the peer the first response must be: without a cached plan, and with one.
const MIN_COLD_RATIO: f64 = 2.0;
const MIN_CACHED_RATIO: f64 = 10.0;
const MAX_RESIDENT_KB: u64 = 80 * 1024;

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
        directory: tools::scratch("bench-openapi")?,
    };
    // The first start of each warms the page cache.
    bench.ours()?.first_response()?;
    bench.peer().first_response()?;
    let (mut cold, mut cached, mut peer) = (vec![], vec![], vec![]);
    for _ in 0..STARTS {
        bench.delete_plan()?;
        cold.push(bench.ours()?.first_response()?);
        cached.push(bench.ours()?.first_response()?);
        peer.push(bench.peer().first_response()?);
    }
    let cold = Measured::new("onetool, first start", cold)?;
    let cached = Measured::new("onetool, cached plan", cached)?;
    let peer = Measured::new("@ivotoby/openapi-mcp-server", peer)?;
    println!(
        "{:<32}{:>16}{:>14}{:>14}{:>16}",
        "GitHub, 1,223 operations", "first resp. ms", "slowest ms", "call µs", "resident MB"
    );
    for measured in [&cold, &cached, &peer] {
        measured.print();
    }
    let ratio = |ours: &Measured| peer.first.median().as_secs_f64() / ours.first.median().as_secs_f64();
    println!("{:<32}{:>16.1}   (at least {MIN_COLD_RATIO})", "ratio, first start", ratio(&cold));
    println!("{:<32}{:>16.1}   (at least {MIN_CACHED_RATIO})", "ratio, cached plan", ratio(&cached));
    let resident = cold.resident_kb.max(cached.resident_kb);
    let mut missed = Vec::new();
    for (what, ratio, target) in
        [("first", ratio(&cold), MIN_COLD_RATIO), ("later", ratio(&cached), MIN_CACHED_RATIO)]
    {
        if ratio < target {
            missed.push(format!("the {what} start is {ratio:.1} times faster, the target is {target}"));
        }
    }
    if resident > MAX_RESIDENT_KB {
        missed.push(format!("{resident} kB resident, the limit is {MAX_RESIDENT_KB}"));
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
    /// The URL of a local API that replaces GitHub's.
    api: String,
    directory: PathBuf,
}

/// A server, and the name of its tool for the called operation.
struct Side {
    command: Command,
    tool: &'static str,
}

impl Bench {
    fn ours(&self) -> Result<Side> {
        let config = self.directory.join("onetool.yaml");
        let api = json!({"spec": self.description, "base_url": self.api});
        fs::write(
            &config,
            json!({"version": 1, "startup_wait": 60, "openapi": {"github": api}}).to_string(),
        )?;
        let mut command = Command::new(&self.onetool);
        command.arg("serve").arg("--config").arg(config).current_dir(&self.directory);
        command.env("HOME", &self.directory).env_remove("ONETOOL_CONFIG");
        Ok(Side { command, tool: "github_meta_get_zen" })
    }

    fn peer(&self) -> Side {
        let mut command = Command::new(&self.peer);
        command.args(["--api-base-url", &self.api, "--openapi-spec"]).arg(&self.description);
        command.current_dir(&self.directory);
        Side { command, tool: "meta-get-zen" }
    }

    /// Deletes the plan that an earlier start cached.
    fn delete_plan(&self) -> Result<()> {
        let directory = self.directory.join(".onetool/cache/openapi");
        if fs::read_dir(&directory).map_or(0, Iterator::count) == 0 {
            bail!("no plan was cached in {}", directory.display());
        }
        Ok(fs::remove_dir_all(directory)?)
    }
}

/// One start: the time to the first response, the times of later calls, and the memory after them.
struct Start {
    first: Duration,
    calls: Vec<Duration>,
    resident_kb: u64,
}

impl Side {
    fn first_response(mut self) -> Result<Start> {
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
        // Memory that only the start needs is freed in the background.
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

/// Serves an API on loopback that sends the same response to every request; returns its URL.
fn serve_api() -> Result<String> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let url = format!("http://{}", listener.local_addr()?);
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            // An error means that the client has disconnected.
            std::thread::spawn(move || respond(stream));
        }
    });
    Ok(url)
}

fn respond(mut stream: TcpStream) -> Result<()> {
    stream.set_nodelay(true)?;
    let mut lines = BufReader::new(stream.try_clone()?);
    let mut line = String::new();
    // These requests have no body, so each ends with an empty line.
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
