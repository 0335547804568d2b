//! `cargo xtask ci`: every check that needs nothing installed.

use anyhow::Result;
use xtask::cargo::cargo;
use xtask::process;

use crate::steps::{self, Skip, Step};
use crate::{codegen, deny, features, tidy};

pub(crate) fn run(skip: &Skip) -> Result<()> {
    steps::run(steps(), skip)
}

pub(crate) fn steps() -> Vec<Step> {
    vec![
        Step::cargo("fmt", &["fmt", "--all", "--check"]),
        Step::new("tidy", "cargo xtask tidy", tidy::run),
        Step::cargo(
            "clippy",
            &["clippy", "--ignore-rust-version", "--workspace", "--all-targets", "--", "-D", "warnings"],
        ),
        Step::new("features", "cargo xtask features", features::run),
        Step::new("rustdoc", "cargo xtask rustdoc", rustdoc),
        tests(),
        Step::cargo("doc-tests", &["test", "--ignore-rust-version", "--workspace", "--doc"]),
        Step::new("codegen", "cargo xtask codegen --check", codegen::check),
        Step::new("deny", "cargo xtask deny", deny::run),
    ]
}

/// Builds the API documentation; a warning, such as a broken link, is an error.
pub(crate) fn rustdoc() -> Result<()> {
    // Two calls, because the library and the binary `onetool` write to the same directory.
    for targets in [&["--lib"][..], &["--bin", "onetool"]] {
        let mut command = cargo(&["doc", "--ignore-rust-version", "--workspace", "--no-deps"]);
        process::run(command.args(targets).env("RUSTDOCFLAGS", "-D warnings"))?;
    }
    Ok(())
}

fn tests() -> Step {
    if process::works("cargo", &["nextest", "--version"]) {
        Step::cargo("tests", &["nextest", "run", "--ignore-rust-version", "--workspace", "--all-targets"])
    } else {
        Step::cargo("tests", &["test", "--ignore-rust-version", "--workspace", "--all-targets"])
    }
}
