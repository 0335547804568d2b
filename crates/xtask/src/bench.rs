//! `cargo xtask bench`: runs the benchmarks of `crates/onetool-bench`.

use std::ffi::OsStr;

use anyhow::Result;
use xtask::cargo::cargo;
use xtask::process;

pub(crate) fn run(arguments: &[impl AsRef<OsStr>]) -> Result<()> {
    let mut command = cargo(&["run", "--ignore-rust-version", "-p", "onetool-bench", "--"]);
    process::run(command.args(arguments))
}
