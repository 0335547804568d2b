//! `cargo xtask conformance`: MCP's own suite against a server built with our public API.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};

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
        // A fresh server each: what one revision's scenarios change must not reach the other's.
        let (_server, url) = Running::listening(&mut Command::new(&server))?;
        println!("--- conformance {revision} at {url}");
        let mut command = Command::new(&suite.node);
        command
            .arg(&suite.script)
            .args(["server", "--url", &url, "--requirements", revision]);
        if let Some(baseline) = baseline()? {
            command.arg("--expected-failures").arg(baseline);
        }
        if !run_suite(
            &mut command,
            &tools::cache()?.join(format!("conformance-{revision}.log")),
        )? {
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

/// Runs the suite, keeps all it says in the log, prints the summary (scored and not), tells whether it passed.
fn run_suite(command: &mut Command, log: &Path) -> Result<bool> {
    let shown = process::show(command);
    let output = command
        .output()
        .with_context(|| format!("cannot start `{shown}`"))?;
    let text =
        String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    fs::write(log, &text).with_context(|| format!("cannot write {}", log.display()))?;
    match text.find("=== SUMMARY ===") {
        Some(start) => println!("{}", &text[start..]),
        None => println!("{text}"),
    }
    println!("everything it said: {}", log.display());
    if !output.status.success() {
        println!("{}", failures(&text));
    }
    Ok(output.status.success())
}

/// Picks the reasons out of the suite's long output.
fn failures(text: &str) -> String {
    let mut picked = Vec::new();
    let mut scenario = "";
    for line in text.lines() {
        if let Some(name) = line.strip_prefix("=== Running scenario: ") {
            scenario = name.trim_end_matches(" ===");
        } else if line.trim_start().starts_with("Error: ") {
            picked.push(format!("{scenario}: {}", line.trim()));
        }
    }
    picked.join("\n")
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
    fn failures_carry_their_scenario() {
        let text = "=== Running scenario: ping ===\n  - Ping: x\n    Error: no answer\n";
        assert_eq!(failures(text), "ping: Error: no answer");
    }
}
