//! `cargo xtask conformance`: MCP's conformance suite against our server, the gateway in front of it, and our client.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};
use serde_json::Value;
use xtask::cargo::{self, Profile};
use xtask::process::{self, Running};
use xtask::tools::{self, Conformance};

const REVISIONS: [&str; 2] = ["2025-11-25", "2026-07-28"];

/// What the suite tests.
#[derive(Clone, Copy)]
enum Side {
    /// A server built with our public API.
    Server,
    /// The same server, through a gateway in front of it.
    Gateway,
    /// The gateway's client.
    Client,
}

impl Side {
    const ALL: [Self; 3] = [Self::Server, Self::Gateway, Self::Client];

    fn name(self) -> &'static str {
        match self {
            Self::Server => "server",
            Self::Gateway => "gateway",
            Self::Client => "client",
        }
    }

    /// Returns the name of the file with accepted failures; docs/conformance.md has the reasons.
    fn baseline(self) -> String {
        format!("conformance-{}.yml", self.name())
    }
}

pub(crate) fn run(keep_going: bool) -> Result<()> {
    tools::require_programs()?;
    let suite = tools::conformance()?;
    cargo::build_debug()?;
    let mut failed = Vec::new();
    for side in Side::ALL {
        for revision in REVISIONS {
            if !run_side(side, revision, &suite)? {
                failed.push(format!("{} {revision}", side.name()));
                if !keep_going {
                    break;
                }
            }
        }
    }
    if !failed.is_empty() {
        bail!("scored scenarios failed: {}", failed.join(", "));
    }
    Ok(())
}

/// Runs the scenarios of a revision against one side; returns whether it passed.
fn run_side(side: Side, revision: &str, suite: &Conformance) -> Result<bool> {
    let results = tools::scratch(&format!("conformance-{}-{revision}", side.name()))?;
    let mut command = Command::new(&suite.node);
    command.arg(&suite.script);
    // New servers for each run, because scenarios change their state.
    let mut servers = Vec::new();
    match side {
        Side::Server | Side::Gateway => {
            let program = cargo::binary(Profile::Debug, "onetool-conformance-server")?;
            let log = fs::File::create(results.join("server.log"))?;
            let (server, mut url) = Running::listening(Command::new(&program).stderr(log))?;
            servers.push(server);
            if matches!(side, Side::Gateway) {
                let log = fs::File::create(results.join("gateway.log"))?;
                let mut gateway = Command::new(&program);
                let (gateway, front) = Running::listening(gateway.args(["through", &url]).stderr(log))?;
                servers.push(gateway);
                url = front;
            }
            command.args(["server", "--url", &url]);
        }
        Side::Client => {
            let client = cargo::binary(Profile::Debug, "examples/conformance_client")?;
            // The suite runs its scenarios concurrently; on a busy machine they need more than its default of 30 s.
            command.args(["client", "--timeout", "120000", "--command"]).arg(client);
        }
    }
    println!("--- conformance of the {}, {revision}", side.name());
    command.args(["--requirements", revision, "--output-dir"]).arg(&results);
    if let Some(baseline) = baseline(side)? {
        command.arg("--expected-failures").arg(baseline);
    }
    run_suite(&mut command, &results)
}

/// Runs the suite, prints its summary and every failed check, and returns whether it passed.
fn run_suite(command: &mut Command, results: &Path) -> Result<bool> {
    let shown = process::show(command);
    let output = command.output().with_context(|| format!("cannot start `{shown}`"))?;
    let text = String::from_utf8_lossy(&output.stdout);
    match text.find("SUMMARY ===") {
        Some(start) => println!("{}", &text[start..]),
        None => println!("{text}"),
    }
    if !output.status.success() {
        eprint!("{}", String::from_utf8_lossy(&output.stderr));
    }
    let failures = failures(results)?;
    if !failures.is_empty() {
        println!("failed checks:\n{}", failures.join("\n"));
    }
    println!("details: {}", results.display());
    Ok(output.status.success())
}

/// Reads the failed checks from `SCENARIO/checks.json`; the suite does not print them.
fn failures(results: &Path) -> Result<Vec<String>> {
    let mut failures = Vec::new();
    for entry in fs::read_dir(results).with_context(|| format!("cannot list {}", results.display()))? {
        let directory = entry?.path();
        let Ok(text) = fs::read_to_string(directory.join("checks.json")) else {
            continue;
        };
        let scenario = directory.file_name().unwrap_or_default().to_string_lossy().into_owned();
        failures.extend(failed_checks(&scenario, &text)?);
    }
    failures.sort();
    Ok(failures)
}

fn failed_checks(scenario: &str, checks: &str) -> Result<Vec<String>> {
    let checks: Vec<Value> = serde_json::from_str(checks)
        .with_context(|| format!("the checks of {scenario} are not a JSON list"))?;
    Ok(checks
        .iter()
        .filter(|check| check["status"] == "FAILURE")
        .map(|check| {
            let text = |key: &str| check[key].as_str().unwrap_or_default().to_owned();
            format!("  {scenario}: {}: {}", text("id"), text("errorMessage"))
        })
        .collect())
}

/// Returns the file with accepted failures if it has entries.
fn baseline(side: Side) -> Result<Option<PathBuf>> {
    let path = tools::outside().join(side.baseline());
    if !path.exists() {
        return Ok(None);
    }
    let text = fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
    Ok(has_entries(&text).then_some(path))
}

fn has_entries(baseline: &str) -> bool {
    baseline.lines().any(|line| line.trim_start().starts_with("- "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn o1_only_logging_in_with_oauth_may_fail_and_only_on_the_client_side() {
        for side in Side::ALL {
            let accepted = baseline(side).unwrap().map(|path| fs::read_to_string(path).unwrap());
            let accepted = accepted.unwrap_or_default();
            let mut entries = accepted.lines().filter_map(|line| line.trim_start().strip_prefix("- "));
            match side {
                Side::Client => assert!(entries.all(|it| it.starts_with("auth/"))),
                Side::Server | Side::Gateway => assert_eq!(entries.next(), None),
            }
        }
    }

    #[test]
    fn a_baseline_of_comments_has_no_entries() {
        assert!(!has_entries("# reason\nserver: []\n"));
        assert!(has_entries("server:\n  - tools-list  # reason\n"));
    }

    #[test]
    fn failed_checks_carry_scenario_and_reason() {
        let checks = r#"[{"id": "a", "status": "SUCCESS"}, {"id": "b", "status": "FAILURE", "errorMessage": "no image"}]"#;
        assert_eq!(failed_checks("tools-call-image", checks).unwrap(), ["  tools-call-image: b: no image"]);
    }
}
