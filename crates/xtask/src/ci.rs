//! `cargo xtask ci`: every check in order, each with its time, the first failure with its rerun command.

use std::time::Instant;

use anyhow::{Context, Result};

use crate::cargo::cargo;
use crate::{codegen, deny, process, tidy};

/// A named part of a longer run.
pub(crate) struct Step {
    pub(crate) name: &'static str,
    /// What a developer types to see only this step again.
    pub(crate) rerun: String,
    pub(crate) action: Box<dyn FnOnce() -> Result<()>>,
}

impl Step {
    pub(crate) fn new(
        name: &'static str,
        rerun: impl Into<String>,
        action: impl FnOnce() -> Result<()> + 'static,
    ) -> Self {
        Self { name, rerun: rerun.into(), action: Box::new(action) }
    }

    /// Makes a step of one cargo call, which is its own rerun command.
    fn cargo(name: &'static str, arguments: &'static [&'static str]) -> Self {
        Self::new(name, format!("cargo {}", arguments.join(" ")), move || process::run(&mut cargo(arguments)))
    }
}

pub(crate) fn run() -> Result<()> {
    run_steps(steps())
}

/// Runs the steps in order and stops at the first that fails.
pub(crate) fn run_steps(steps: Vec<Step>) -> Result<()> {
    let mut times = Vec::new();
    for step in steps {
        println!("==> {}", step.name);
        let start = Instant::now();
        let result = (step.action)();
        let seconds = start.elapsed().as_secs_f64();
        result.with_context(|| {
            format!("step `{}` failed after {seconds:.1} s; rerun it with `{}`", step.name, step.rerun)
        })?;
        println!("<== {} in {seconds:.1} s", step.name);
        times.push((step.name, seconds));
    }
    println!();
    for (name, seconds) in times {
        println!("{name:<14}{seconds:>8.1} s");
    }
    Ok(())
}

pub(crate) fn steps() -> Vec<Step> {
    vec![
        Step::cargo("fmt", &["fmt", "--all", "--check"]),
        Step::cargo(
            "clippy",
            &["clippy", "--ignore-rust-version", "--workspace", "--all-targets", "--", "-D", "warnings"],
        ),
        Step::cargo(
            "no python",
            &[
                "clippy",
                "--ignore-rust-version",
                "-p",
                "onetool-cli",
                "--no-default-features",
                "--",
                "-D",
                "warnings",
            ],
        ),
        tests(),
        Step::cargo("doc tests", &["test", "--ignore-rust-version", "--workspace", "--doc"]),
        Step::new("codegen", "cargo xtask codegen --check", || codegen::run(codegen::Mode::Check)),
        Step::new("tidy", "cargo xtask tidy", tidy::run),
        Step::new("deny", "cargo xtask deny", deny::run),
    ]
}

fn tests() -> Step {
    if process::works("cargo", &["nextest", "--version"]) {
        Step::cargo("tests", &["nextest", "run", "--ignore-rust-version", "--workspace", "--all-targets"])
    } else {
        Step::cargo("tests", &["test", "--ignore-rust-version", "--workspace", "--all-targets"])
    }
}
