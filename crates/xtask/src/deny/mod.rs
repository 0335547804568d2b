//! `cargo xtask deny`: cargo-deny where it is installed, and always a licence check of our own.

mod licence;

use std::fs;

use anyhow::{Context, Result, bail};
use serde_json::Value;

use crate::cargo::{cargo, root};
use crate::process;
use licence::Policy;

pub(crate) fn run() -> Result<()> {
    check_licences()?;
    if process::works("cargo", &["deny", "--version"]) {
        process::run(&mut cargo(&["deny", "check", "bans", "licenses", "sources"]))
    } else {
        println!(
            "cargo-deny is not installed, bans and sources are not checked; to have it: `cargo install --locked cargo-deny`"
        );
        Ok(())
    }
}

/// Compares the licence of every crate in the lock file with the lists in deny.toml.
fn check_licences() -> Result<()> {
    let path = root().join("deny.toml");
    let text = fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
    let policy = Policy::parse(&text).context("deny.toml")?;
    let metadata = process::output(&mut cargo(&["metadata", "--format-version", "1", "--locked"]))?;
    let metadata: Value = serde_json::from_str(&metadata).context("cargo metadata printed no JSON")?;
    let packages = metadata["packages"].as_array().context("cargo metadata lists no packages")?;
    let mut refused = Vec::new();
    for package in packages {
        let name = package["name"].as_str().unwrap_or_default();
        let version = package["version"].as_str().unwrap_or_default();
        if let Err(reason) = policy.check(name, package["license"].as_str()) {
            refused.push(format!("  {name} {version}: {reason}"));
        }
    }
    if !refused.is_empty() {
        bail!(
            "licences that deny.toml does not allow (leave the crate out, or add an exception with its reason):\n{}",
            refused.join("\n")
        );
    }
    println!("licences of {} crates are allowed", packages.len());
    Ok(())
}
