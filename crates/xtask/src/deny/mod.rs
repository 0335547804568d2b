//! `cargo xtask deny`: the rules of deny.toml, without cargo-deny, so that they run on every machine.

mod license;

use std::fs;

use anyhow::{Context, Result, bail};
use serde_json::Value;
use xtask::cargo::{cargo, root};
use xtask::process;

use license::Policy;

const CRATES_IO: &str = "registry+https://github.com/rust-lang/crates.io-index";

pub(crate) fn run() -> Result<()> {
    let path = root().join("deny.toml");
    let text = fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
    let policy = Policy::parse(&text).context("deny.toml")?;
    let metadata = process::output(&mut cargo(&["metadata", "--format-version", "1", "--locked"]))?;
    let metadata: Value = serde_json::from_str(&metadata).context("cargo metadata did not print JSON")?;
    let packages = metadata["packages"].as_array().context("cargo metadata has no packages")?;
    let problems = check(&policy, packages);
    if !problems.is_empty() {
        bail!("dependencies that deny.toml does not allow:\n{}", problems.join("\n"));
    }
    println!("deny: licenses, sources and versions of {} crates are allowed", packages.len());
    Ok(())
}

/// Returns each license that is not listed, each source other than crates.io, and each requirement `*`.
fn check(policy: &Policy, packages: &[Value]) -> Vec<String> {
    let mut problems = Vec::new();
    for package in packages {
        let text = |key: &str| package[key].as_str();
        let name = text("name").unwrap_or_default();
        let mut report = |problem: String| {
            problems.push(format!("  {name} {}: {problem}", text("version").unwrap_or_default()));
        };
        if let Err(reason) = policy.check(name, text("license")) {
            report(format!("{reason}; remove the crate, or add an exception with a reason"));
        }
        match text("source") {
            Some(CRATES_IO) => {}
            Some(source) => report(format!("comes from {source}; only crates.io is allowed")),
            // Only our own crates have no source.
            None => {
                let dependencies = package["dependencies"].as_array().into_iter().flatten();
                for wildcard in dependencies.filter(|it| it["req"] == "*" && it["path"].is_null()) {
                    report(format!("depends on any version of {}; name one", wildcard["name"]));
                }
            }
        }
    }
    problems
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn licenses_sources_and_wildcards_are_checked() {
        let policy = Policy::parse("[licenses]\nallow = [\"MIT\"]\n").unwrap();
        let packages = [
            json!({"name": "ok", "version": "1.0.0", "license": "MIT", "source": CRATES_IO,
                "dependencies": [{"name": "any", "req": "*", "path": null}]}),
            json!({"name": "gpl", "version": "1.0.0", "license": "GPL-3.0", "source": CRATES_IO}),
            json!({"name": "fork", "version": "1.0.0", "license": "MIT", "source": "git+https://example.org/x"}),
            json!({"name": "ours", "version": "1.0.0", "license": "MIT", "source": null, "dependencies": [
                {"name": "serde", "req": "*", "path": null},
                {"name": "kit", "req": "*", "path": "/kit"},
                {"name": "syn", "req": "^3", "path": null},
            ]}),
        ];
        let problems = check(&policy, &packages);
        assert_eq!(problems.len(), 3, "{problems:#?}");
        for (problem, expected) in
            problems.iter().zip(["gpl 1.0.0: `GPL-3.0`", "fork 1.0.0: comes from", "\"serde\""])
        {
            assert!(problem.contains(expected), "{problem}");
        }
    }
}
