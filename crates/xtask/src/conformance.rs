//! `cargo xtask conformance`: MCP's own suite against a server built with our public API.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};
use serde_json::Value;

use crate::cargo::{self, Profile};
use crate::process::{self, Running};
use crate::tools;

const REVISIONS: [&str; 2] = ["2025-11-25", "2026-07-28"];

pub(crate) fn run(keep_going: bool) -> Result<()> {
    tools::require_programs()?;
    let suite = tools::conformance()?;
    cargo::build_debug()?;
    let server = cargo::binary(Profile::Debug, "onetool-conformance-server")?;
    let mut failed = Vec::new();
    for revision in REVISIONS {
        let results = tools::scratch(&format!("conformance-{revision}"))?;
        // A fresh server each: what one revision's scenarios change must not reach the other's.
        let log = fs::File::create(results.join("server.log"))?;
        let (_server, url) = Running::listening(Command::new(&server).stderr(log))?;
        println!("--- conformance {revision} at {url}");
        let mut command = Command::new(&suite.node);
        command.arg(&suite.script).args(["server", "--url", &url, "--requirements", revision]);
        command.arg("--output-dir").arg(&results);
        if let Some(baseline) = baseline()? {
            command.arg("--expected-failures").arg(baseline);
        }
        if !run_suite(&mut command, &results)? {
            failed.push(revision);
            if !keep_going {
                break;
            }
        }
    }
    if !failed.is_empty() {
        bail!("scored scenarios fail for {}", failed.join(", "));
    }
    Ok(())
}

/// Runs the suite, prints its summary (scored and not) and every failed check, tells whether it passed.
fn run_suite(command: &mut Command, results: &Path) -> Result<bool> {
    let shown = process::show(command);
    let output = command.output().with_context(|| format!("cannot start `{shown}`"))?;
    let text = String::from_utf8_lossy(&output.stdout);
    match text.find("=== SUMMARY ===") {
        Some(start) => println!("{}", &text[start..]),
        None => println!("{text}"),
    }
    eprint!("{}", String::from_utf8_lossy(&output.stderr));
    let failures = failures(results)?;
    if !failures.is_empty() {
        println!("failed checks:\n{}", failures.join("\n"));
    }
    println!("details: {}", results.display());
    Ok(output.status.success())
}

/// Reads the failed checks out of `SCENARIO/checks.json`; the suite's own output does not name them.
fn failures(results: &Path) -> Result<Vec<String>> {
    let mut failures = Vec::new();
    for entry in fs::read_dir(results).with_context(|| format!("cannot list {}", results.display()))? {
        let folder = entry?.path();
        let Ok(text) = fs::read_to_string(folder.join("checks.json")) else {
            continue;
        };
        let scenario = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
        failures.extend(failed_checks(&scenario, &text)?);
    }
    failures.sort();
    Ok(failures)
}

fn failed_checks(scenario: &str, checks: &str) -> Result<Vec<String>> {
    let checks: Vec<Value> =
        serde_json::from_str(checks).with_context(|| format!("the checks of {scenario} are no JSON list"))?;
    Ok(checks
        .iter()
        .filter(|check| check["status"] == "FAILURE")
        .map(|check| {
            let text = |key: &str| check[key].as_str().unwrap_or_default().to_owned();
            format!("  {scenario}: {}: {}", text("id"), text("errorMessage"))
        })
        .collect())
}

/// Returns the file of accepted failures if it has entries.
fn baseline() -> Result<Option<PathBuf>> {
    let path = tools::outside().join("conformance-baseline.yml");
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
