//! `cargo xtask browser` and `screenshots`: the page of the debug binary in Chromium.

use std::process::Command;

use anyhow::{Context, Result};
use xtask::cargo::{self, Profile};
use xtask::{process, tools};

/// Runs the browser tests, or those whose name contains a word.
pub(crate) fn run(word: Option<&str>) -> Result<()> {
    process::run(script("run.mjs")?.args(word))
}

/// Takes the screenshots for README.md and docs/.
pub(crate) fn screenshots() -> Result<()> {
    let directory = cargo::root().join("docs/images");
    process::run(script("screenshots.mjs")?.arg(directory))
}

/// Builds and installs what a script needs, and returns the command that runs it.
fn script(name: &str) -> Result<Command> {
    tools::require_programs()?;
    let tools::Browser { node, packages, scripts } = tools::browser()?;
    cargo::build_debug()?;
    let onetool = cargo::binary(Profile::Debug, "onetool")?;
    let target = onetool
        .ancestors()
        .nth(2)
        .context("invariant: a binary is in a directory of the target directory")?;
    let mut command = Command::new(node);
    command.arg(scripts.join(name)).env("CARGO_TARGET_DIR", target).env("ONETOOL_BROWSER_PACKAGES", packages);
    Ok(command)
}
