//! `cargo xtask browser` and `screenshots`: the page in a real browser, served by the debug binary.

use std::process::Command;

use anyhow::{Context, Result};

use crate::cargo::{self, Profile};
use crate::{process, tools};

/// Runs the browser tests, or those whose name contains a word.
pub(crate) fn run(word: Option<&str>) -> Result<()> {
    process::run(script("run.mjs")?.args(word))
}

/// Takes the pictures that README and documentation show.
pub(crate) fn screenshots() -> Result<()> {
    let folder = cargo::root().join("docs/images");
    process::run(script("screenshots.mjs")?.arg(folder))
}

/// Builds and installs what a script needs, and makes the command that starts it.
fn script(name: &str) -> Result<Command> {
    tools::require_programs()?;
    let tools::Browser { node, packages, scripts } = tools::browser()?;
    cargo::build_debug()?;
    let onetool = cargo::binary(Profile::Debug, "onetool")?;
    let target = onetool.ancestors().nth(2).context("a binary lies in a folder of the target folder")?;
    let mut command = Command::new(node);
    command.arg(scripts.join(name)).env("CARGO_TARGET_DIR", target).env("ONETOOL_BROWSER_PACKAGES", packages);
    Ok(command)
}
