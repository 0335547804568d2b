//! `cargo xtask bench hostile`: everything that outside testers attacked the gateway with, against one process (HOST-1).
//!
//! The gateway and all that it starts have 2 GB of memory together. An innocent client asks it something all the time.
//! Every attack checks that it got nothing; the run fails if one got something, if the gateway is gone, or if the innocent
//! client waited for more than a second.

mod attacks;
mod gateway;
mod innocent;
mod postgres;
mod site;

use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use serde_json::{Value, json};

use super::http::HttpClient;
use super::{megabytes, millis};
use crate::cargo::{self, Profile};
use crate::tools;
use attacks::ATTACKS;
use gateway::Gateway;
use innocent::Innocent;
use postgres::Postgres;
use site::Site;

/// How much memory there is for the gateway and everything below it.
const MEMORY: u64 = 2 << 30;
/// How long an innocent client may wait.
const PATIENCE: Duration = Duration::from_secs(1);
/// A value that a thief would like to have: the client secret of an API.
const SECRET: &str = "canary-client-secret-5f1d";

/// One class of attacks.
struct Attack {
    /// The requirement in `docs/requirements/hardening.md` that it tests.
    id: &'static str,
    what: &'static str,
    run: fn(&Target) -> Result<()>,
}

/// What is attacked, and what the attacks use.
struct Target {
    onetool: PathBuf,
    folder: PathBuf,
    gateway: Gateway,
    site: Site,
    postgres: Postgres,
}

pub(crate) fn run() -> Result<()> {
    cargo::build_release(&["onetool"])?;
    let target = Target::start(cargo::binary(Profile::Release, "onetool")?, tools::scratch("hostile")?)?;
    println!("{:<8}{:<58}{:>10}{:>12}{:>12}", "class", "attack", "answers", "worst wait", "peak memory");
    target.client()?.run("ot.health()")?;
    let innocent = Innocent::start(&target.gateway)?;
    let mut slow = Vec::new();
    for attack in ATTACKS {
        let in_time = || {
            let measured = attack.measure(&target, &innocent);
            measured.with_context(|| format!("{}: {}", attack.id, attack.what))
        };
        // A machine that does something else for a moment is slow once, an attack that works every time.
        if !(in_time()? || in_time()? || in_time()?) {
            slow.push(attack.id);
        }
    }
    innocent.stop()?;
    target.finish()?;
    if !slow.is_empty() {
        bail!("an innocent client waited for more than a second, three times: {}", slow.join(", "));
    }
    Ok(())
}

impl Attack {
    /// Attacks once and prints what it came to; tells whether the innocent client was answered in time.
    fn measure(&self, target: &Target, innocent: &Innocent) -> Result<bool> {
        target.gateway.forget_peak()?;
        innocent.take()?;
        (self.run)(target)?;
        let answers = innocent.take()?;
        println!(
            "{:<8}{:<58}{:>10}{:>9.0} ms{:>9.0} MB",
            self.id,
            self.what,
            answers.count,
            millis(answers.worst),
            megabytes(target.gateway.peak_kb()?)
        );
        Ok(answers.worst <= PATIENCE)
    }
}

impl Target {
    fn start(onetool: PathBuf, folder: PathBuf) -> Result<Self> {
        let (site, postgres) = (Site::start()?, Postgres::start(&folder)?);
        let config = folder.join("onetool.yaml");
        std::fs::write(&config, configuration(&site, &postgres))?;
        std::fs::write(folder.join("secrets.yaml"), format!("CLIENT_SECRET: {SECRET}\n"))?;
        std::fs::write(folder.join("a.txt"), "a".repeat(100_000))?;
        // An empty file is a database without tables.
        std::fs::write(folder.join("shop.db"), "")?;
        let gateway = Gateway::start(&onetool, &config, MEMORY)?;
        Ok(Self { onetool, folder, gateway, site, postgres })
    }

    /// Connects as an agent does.
    fn client(&self) -> Result<Agent> {
        Ok(Agent(HttpClient::start_with(&self.gateway.url, Some(gateway::TOKEN))?))
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    /// Checks what can only be said at the end, and that killing the gateway leaves nothing behind.
    fn finish(self) -> Result<()> {
        let log = self.gateway.log()?;
        for canary in [SECRET, attacks::ARGUMENT] {
            if log.contains(canary) {
                bail!("the log has a value that it must not have: {canary}");
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
    /// Calls a tool; returns the text of its answer or of its error.
    fn call(&mut self, tool: &str, arguments: &Value) -> Result<String> {
        let params = json!({"name": tool, "arguments": arguments});
        let answer = self.request("tools/call", &params)?;
        let content = answer["result"]["content"].as_array();
        let texts = content.into_iter().flatten().filter_map(|item| item["text"].as_str());
        let text = texts.collect::<Vec<_>>().join("\n");
        Ok(if text.is_empty() { answer.to_string() } else { text })
    }

    fn run(&mut self, code: &str) -> Result<String> {
        self.call("run", &json!({"command": code}))
    }

    fn request(&mut self, method: &str, params: &Value) -> Result<Value> {
        self.0.ask(&json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}))
    }
}

fn configuration(site: &Site, postgres: &Postgres) -> String {
    let server = crate::cargo::root().join("tests/hostile/server.py");
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
        let page =
            std::fs::read_to_string(crate::cargo::root().join("docs/requirements/hardening.md")).unwrap();
        let ids = page.lines().filter_map(|line| line.strip_prefix("| ")?.split(" |").next());
        let attacked: Vec<&str> =
            ids.filter(|id| id.starts_with("LOW-") || id.starts_with('H') && *id != "HOST-1").collect();
        assert_eq!(attacked.len(), 15, "{attacked:?}");
        for id in attacked {
            assert!(ATTACKS.iter().any(|attack| attack.id == id), "nothing attacks {id}");
        }
    }
}
