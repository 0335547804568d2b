//! `cargo xtask bench hostile`: all known attacks, against one gateway (HOST-1).
//!
//! The gateway and its child processes share 2 GB of memory. An innocent client calls it all the time. The run fails if an
//! attack succeeds, if the gateway dies, or if the innocent client waits for more than a second.

mod attacks;
mod gateway;
mod innocent;
mod postgres;
mod site;

use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use clap::Args;
use serde_json::{Value, json};
use xtask::cargo::{self, Profile};
use xtask::tools;

use super::http::HttpClient;
use super::{megabytes, millis};
use attacks::ATTACKS;
use gateway::Gateway;
use innocent::Innocent;
use postgres::Postgres;
use site::Site;

/// The memory of the gateway and all its child processes.
const MEMORY: u64 = 2 << 30;
/// The longest time that the innocent client may wait.
const MAX_WAIT: Duration = Duration::from_secs(1);
/// A value to steal: the client secret of an API.
const SECRET: &str = "canary-client-secret-5f1d";

#[derive(Args)]
pub(super) struct Options {
    /// Run without the memory limit, which needs root; checks less
    #[arg(long)]
    no_memory_limit: bool,
}

/// One class of attacks.
struct Attack {
    /// The requirement in `docs/requirements/hardening.md` that it tests.
    id: &'static str,
    what: &'static str,
    run: fn(&Target) -> Result<()>,
}

/// The gateway under attack, and what the attacks use.
struct Target {
    onetool: PathBuf,
    directory: PathBuf,
    gateway: Gateway,
    site: Site,
    postgres: Postgres,
}

pub(super) fn run(options: &Options) -> Result<()> {
    cargo::build_release(&["onetool"])?;
    let memory = (!options.no_memory_limit).then_some(MEMORY);
    let onetool = cargo::binary(Profile::Release, "onetool")?;
    let target = Target::start(onetool, tools::scratch("hostile")?, memory)?;
    if options.no_memory_limit {
        println!("WARNING: memory is not limited, and processes that outlive the gateway are not found");
    }
    println!("{:<8}{:<58}{:>10}{:>12}{:>12}", "class", "attack", "responses", "worst wait", "peak memory");
    target.client()?.run("ot.health()")?;
    let innocent = Innocent::start(&target.gateway)?;
    let mut slow = Vec::new();
    for attack in ATTACKS {
        let in_time = || {
            let measured = attack.measure(&target, &innocent);
            measured.with_context(|| format!("{}: {}", attack.id, attack.what))
        };
        // A busy machine is slow once, an attack that works is slow each time.
        if !(in_time()? || in_time()? || in_time()?) {
            slow.push(attack.id);
        }
    }
    innocent.stop()?;
    target.finish()?;
    if !slow.is_empty() {
        bail!("the innocent client waited for more than a second, three times: {}", slow.join(", "));
    }
    Ok(())
}

impl Attack {
    /// Attacks once and prints the measurements; returns whether the innocent client was served in time.
    fn measure(&self, target: &Target, innocent: &Innocent) -> Result<bool> {
        target.gateway.reset_peak()?;
        innocent.take()?;
        (self.run)(target)?;
        let responses = innocent.take()?;
        println!(
            "{:<8}{:<58}{:>10}{:>9.0} ms{:>9.0} MB",
            self.id,
            self.what,
            responses.count,
            millis(responses.worst),
            megabytes(target.gateway.peak_kb()?)
        );
        Ok(responses.worst <= MAX_WAIT)
    }
}

impl Target {
    fn start(onetool: PathBuf, directory: PathBuf, memory: Option<u64>) -> Result<Self> {
        let (site, postgres) = (Site::start()?, Postgres::start(&directory)?);
        let config = directory.join("onetool.yaml");
        std::fs::write(&config, configuration(&site, &postgres))?;
        std::fs::write(directory.join("secrets.yaml"), format!("CLIENT_SECRET: {SECRET}\n"))?;
        std::fs::write(directory.join("a.txt"), "a".repeat(100_000))?;
        // An empty file is a database without tables.
        std::fs::write(directory.join("shop.db"), "")?;
        let gateway = Gateway::start(&onetool, &config, memory)?;
        Ok(Self { onetool, directory, gateway, site, postgres })
    }

    /// Connects as an agent does.
    fn client(&self) -> Result<Agent> {
        Ok(Agent(HttpClient::start_with(&self.gateway.url, Some(gateway::TOKEN))?))
    }

    fn path(&self, name: &str) -> PathBuf {
        self.directory.join(name)
    }

    /// Checks the log, and that killing the gateway leaves no processes.
    fn finish(self) -> Result<()> {
        let log = self.gateway.log()?;
        for canary in [SECRET, attacks::ARGUMENT] {
            if log.contains(canary) {
                bail!("the log contains a secret value: {canary}");
            }
        }
        if self.site.stolen() > 0 {
            bail!("the client secret was sent to a stranger");
        }
        self.gateway.kill()
    }
}

/// A client that an attacker controls.
struct Agent(HttpClient);

impl Agent {
    /// Calls a tool; returns the text of its result or error.
    fn call(&mut self, tool: &str, arguments: &Value) -> Result<String> {
        let params = json!({"name": tool, "arguments": arguments});
        let response = self.request("tools/call", &params)?;
        let content = response["result"]["content"].as_array();
        let texts = content.into_iter().flatten().filter_map(|item| item["text"].as_str());
        let text = texts.collect::<Vec<_>>().join("\n");
        Ok(if text.is_empty() { response.to_string() } else { text })
    }

    fn run(&mut self, code: &str) -> Result<String> {
        self.call("run", &json!({"command": code}))
    }

    fn request(&mut self, method: &str, params: &Value) -> Result<Value> {
        self.0.call(&json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}))
    }
}

fn configuration(site: &Site, postgres: &Postgres) -> String {
    let server = cargo::root().join("tests/hostile/server.py");
    json!({
        "http": {"token": gateway::TOKEN},
        "run": {"timeout": 5},
        "output": {"max_inline_size": 10_000},
        "packs": {
            "file": {"roots": ["."]},
            "ripgrep": {"roots": ["."]},
            "web": {"allow_private": true, "timeout": 5},
            "db": {"urls": {"shop": "sqlite:shop.db", "server": postgres.url}, "timeout": 5},
        },
        "servers": {
            "hostile": {"command": "python3", "args": [server], "timeout": 5},
            "stranger": {"command": "python3", "args": [server], "timeout": 5},
        },
        "openapi": {
            "bomb": {"spec": site.url("/bomb.yaml")},
            "deep": {"spec": site.url("/deep.json")},
            "thief": {
                "spec": site.url("/thief.json"),
                "auth": {"client_credentials": {"client_id": "onetool", "client_secret": "${CLIENT_SECRET}"}},
            },
        },
        "notify": {"topics": [{"pattern": "**:*:**:*:**x", "file": "notes.yaml"}]},
    })
    .to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn host_1_every_class_of_attack_is_part_of_the_run() {
        let page = std::fs::read_to_string(cargo::root().join("docs/requirements/hardening.md")).unwrap();
        let ids = page.lines().filter_map(|line| line.strip_prefix("| ")?.split(" |").next());
        let attacked: Vec<&str> =
            ids.filter(|id| id.starts_with("LOW-") || id.starts_with('H') && *id != "HOST-1").collect();
        assert_eq!(attacked.len(), 15, "{attacked:?}");
        for id in attacked {
            assert!(ATTACKS.iter().any(|attack| attack.id == id), "nothing attacks {id}");
        }
    }
}
