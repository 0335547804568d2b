//! `cargo xtask fuzz`: random input for every parser of what comes from outside (`fuzz/`).
//!
//! It builds the targets as `cargo fuzz` does, but with the pinned compiler and without the address sanitizer, which only
//! nightly compilers have: what we look for is a panic, a failed assertion, a hang, or memory that grows without bound.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};
use clap::Args;

use crate::cargo::{cargo, root, target_directory};
use crate::{process, tools};

/// What makes the compiler count the branches that an input takes.
const COVERAGE: &str = "-Cpasses=sancov-module \
    -Cllvm-args=-sanitizer-coverage-level=4 \
    -Cllvm-args=-sanitizer-coverage-inline-8bit-counters \
    -Cllvm-args=-sanitizer-coverage-pc-table \
    -Cllvm-args=-sanitizer-coverage-trace-compares \
    -Ccodegen-units=1 \
    --cfg fuzzing";

#[derive(Args)]
pub(crate) struct Options {
    /// Only these targets; all of `fuzz/fuzz_targets` if none is named
    targets: Vec<String>,
    /// How long each target runs
    #[arg(long, default_value_t = 10)]
    seconds: u32,
    /// Where the random numbers start; by default somewhere else in every run
    #[arg(long, default_value_t = 0)]
    seed: u32,
    /// Afterwards, add the inputs that reach new code to the committed corpus
    #[arg(long)]
    keep: bool,
}

/// The run that is part of `cargo xtask test`: every committed input, then new ones for a moment, the same every time.
pub(crate) fn run_shortly() -> Result<()> {
    run(&Options { targets: Vec::new(), seconds: 5, seed: 1, keep: false })
}

pub(crate) fn run(options: &Options) -> Result<()> {
    let known = targets()?;
    if let Some(unknown) = options.targets.iter().find(|name| !known.contains(name)) {
        bail!("there is no fuzz target `{unknown}`; there are: {}", known.join(", "));
    }
    let chosen = if options.targets.is_empty() { &known } else { &options.targets };
    let programs = build()?;
    for name in chosen {
        let target = Target::new(name, &programs)?;
        target.fuzz(options)?;
        if options.keep {
            target.keep_new_inputs()?;
        }
    }
    Ok(())
}

/// Returns the names of the targets, sorted.
fn targets() -> Result<Vec<String>> {
    let sources = root().join("fuzz/fuzz_targets");
    let mut names = Vec::new();
    for entry in fs::read_dir(&sources).with_context(|| format!("cannot list {}", sources.display()))? {
        let path = entry?.path();
        names.extend(path.file_stem().map(|name| name.to_string_lossy().into_owned()));
    }
    names.sort();
    Ok(names)
}

/// Builds all targets and returns the directory that has them.
fn build() -> Result<PathBuf> {
    // Build scripts and macros run on this machine without being counted only if a target is named.
    let version = process::output(Command::new("rustc").arg("-vV"))?;
    let host = version.lines().find_map(|line| line.strip_prefix("host: ")).context("rustc names no host")?;
    let directory = target_directory()?.join("fuzz");
    let mut command = cargo(&["build", "--release", "--ignore-rust-version"]);
    command.args(["--manifest-path", "fuzz/Cargo.toml", "--target", host, "--target-dir"]).arg(&directory);
    process::run(command.env("RUSTFLAGS", COVERAGE))?;
    Ok(directory.join(host).join("release"))
}

struct Target<'a> {
    name: &'a str,
    program: PathBuf,
    /// The inputs in the repository.
    corpus: PathBuf,
    /// What this run leaves: its log, the new inputs, those that failed.
    scratch: PathBuf,
}

impl<'a> Target<'a> {
    fn new(name: &'a str, programs: &Path) -> Result<Self> {
        let corpus = root().join("fuzz/corpus").join(name);
        let scratch = tools::scratch(&format!("fuzz-{name}"))?;
        fs::create_dir(scratch.join("new"))?;
        Ok(Self { name, program: programs.join(name), corpus, scratch })
    }

    fn fuzz(&self, options: &Options) -> Result<()> {
        let log = self.scratch.join("log");
        let output = fs::File::create(&log).with_context(|| format!("cannot write {}", log.display()))?;
        let status = self
            .command()
            .arg(format!("-max_total_time={}", options.seconds))
            .arg(format!("-seed={}", options.seed))
            .arg(format!("-artifact_prefix={}/", self.scratch.display()))
            .args(["-print_final_stats=1", "-reload=0"])
            .args([&self.scratch.join("new"), &self.corpus])
            .stdout(Stdio::null())
            .stderr(output)
            .status()
            .with_context(|| format!("cannot start {}", self.program.display()))?;
        let log_text = fs::read(&log).with_context(|| format!("cannot read {}", log.display()))?;
        let log_text = String::from_utf8_lossy(&log_text);
        if !status.success() {
            let last: Vec<&str> = log_text.lines().rev().take(40).collect();
            for line in last.iter().rev() {
                println!("{line}");
            }
            bail!(
                "the target `{}` failed; the input is in {}, and `{} FILE` runs it again",
                self.name,
                self.scratch.display(),
                self.program.display()
            );
        }
        println!("{}", summary(self.name, &log_text));
        Ok(())
    }

    /// Copies what reaches code that no committed input reaches, however often.
    fn keep_new_inputs(&self) -> Result<()> {
        fs::create_dir_all(&self.corpus)?;
        process::run(
            self.command()
                .args(["-merge=1", "-use_counters=0"])
                .args([&self.corpus, &self.scratch.join("new")])
                .stdout(Stdio::null())
                .stderr(Stdio::null()),
        )
    }

    fn command(&self) -> Command {
        let mut command = Command::new(&self.program);
        // Time per input in seconds, memory in MB, length in bytes: what a parser may take of the gateway itself. Larger
        // documents are read in the cage, which has limits of its own.
        command.args(["-timeout=10", "-rss_limit_mb=2048", "-max_len=4096"]);
        command
    }
}

/// Says in one line how much a run covered.
fn summary(name: &str, log: &str) -> String {
    let stat = |key: &str| {
        let value = log.lines().find_map(|line| line.strip_prefix(key)).unwrap_or("?");
        value.trim().to_owned()
    };
    let covered = log.rsplit("cov: ").next().and_then(|rest| rest.split(' ').next()).unwrap_or("?");
    format!(
        "{name:<16}{:>10} inputs {:>8} per second {covered:>7} branches {:>6} MB",
        stat("stat::number_of_executed_units:"),
        stat("stat::average_exec_per_sec:"),
        stat("stat::peak_rss_mb:")
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fuzz_1_every_target_is_built_and_has_a_committed_corpus() {
        let manifest = fs::read_to_string(root().join("fuzz/Cargo.toml")).unwrap();
        let names = targets().unwrap();
        assert!(names.len() >= 11, "{names:?}");
        for name in names {
            assert!(
                manifest.contains(&format!("name = \"{name}\"\npath = \"fuzz_targets/{name}.rs\"")),
                "{name}"
            );
            let corpus = root().join("fuzz/corpus").join(&name);
            let inputs = fs::read_dir(corpus).map_or(0, Iterator::count);
            assert!(inputs >= 5, "{name} has {inputs} committed inputs");
        }
    }

    #[test]
    fn a_run_is_summed_up_in_one_line() {
        let log = "#2\tINITED cov: 15 ft: 16\n#99\tDONE   cov: 321 ft: 400 corp: 9/1b\n\
            stat::number_of_executed_units: 99\nstat::average_exec_per_sec: 33\nstat::peak_rss_mb: 44\n";
        let words: Vec<String> = summary("page", log).split_whitespace().map(str::to_owned).collect();
        assert_eq!(words.join(" "), "page 99 inputs 33 per second 321 branches 44 MB");
    }
}
