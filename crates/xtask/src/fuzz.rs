//! `cargo xtask fuzz`: random input for every parser of outside input (`fuzz/`).
//!
//! It builds the targets as `cargo fuzz` does, but with the pinned compiler and without the address sanitizer, which needs
//! a nightly compiler. It finds panics, failed assertions, hangs and unbounded memory.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};
use clap::Args;
use xtask::cargo::{cargo, root, target_directory};
use xtask::{process, tools};

/// The flags that make the compiler count the branches that an input takes.
const COVERAGE: &str = "-Cpasses=sancov-module \
    -Cllvm-args=-sanitizer-coverage-level=4 \
    -Cllvm-args=-sanitizer-coverage-inline-8bit-counters \
    -Cllvm-args=-sanitizer-coverage-pc-table \
    -Cllvm-args=-sanitizer-coverage-trace-compares \
    -Ccodegen-units=1 \
    --cfg fuzzing";

#[derive(Args)]
pub(crate) struct Options {
    /// Targets to run [default: all of `fuzz/fuzz_targets`]
    targets: Vec<String>,
    /// How long each target runs
    #[arg(long, default_value_t = 10)]
    seconds: u32,
    /// Seed of the random numbers; 0 is a new one in each run
    #[arg(long, default_value_t = 0)]
    seed: u32,
    /// Add the inputs that reach new code to the committed corpus
    #[arg(long)]
    keep: bool,
}

/// Runs every committed input, then new ones for a few seconds, the same each time; part of `cargo xtask test`.
pub(crate) fn run_briefly() -> Result<()> {
    run(&Options { targets: Vec::new(), seconds: 5, seed: 1, keep: false })
}

pub(crate) fn run(options: &Options) -> Result<()> {
    let known = targets()?;
    if let Some(unknown) = options.targets.iter().find(|name| !known.contains(name)) {
        bail!("unknown fuzz target `{unknown}`; the targets are: {}", known.join(", "));
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

/// Builds all targets and returns their directory.
fn build() -> Result<PathBuf> {
    // With an explicit target, the flags do not apply to build scripts and macros.
    let version = process::output(Command::new("rustc").arg("-vV"))?;
    let host = version
        .lines()
        .find_map(|line| line.strip_prefix("host: "))
        .context("rustc does not print its host")?;
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
    /// The log of this run, its new inputs, and those that failed.
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
                "target `{}` failed; the input is in {}; rerun it with `{} FILE`",
                self.name,
                self.scratch.display(),
                self.program.display()
            );
        }
        println!("{}", summary(self.name, &log_text));
        Ok(())
    }

    /// Copies the inputs that reach code no committed input reaches, regardless of how often.
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
        // Time per input in seconds, memory in MB, length in bytes: limits for a parser inside the gateway. Larger
        // documents are parsed in the cage, which has separate limits.
        command.args(["-timeout=10", "-rss_limit_mb=2048", "-max_len=4096"]);
        command
    }
}

/// Summarizes a run in one line.
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
    fn a_run_is_summarized_in_one_line() {
        let log = "#2\tINITED cov: 15 ft: 16\n#99\tDONE   cov: 321 ft: 400 corp: 9/1b\n\
            stat::number_of_executed_units: 99\nstat::average_exec_per_sec: 33\nstat::peak_rss_mb: 44\n";
        let words: Vec<String> = summary("page", log).split_whitespace().map(str::to_owned).collect();
        assert_eq!(words.join(" "), "page 99 inputs 33 per second 321 branches 44 MB");
    }
}
