//! Calls to cargo, all with the same flags, so that every step shares one set of compiled crates.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::LazyLock;

use anyhow::{Context, Result};
use serde_json::Value;

use crate::process;

/// Returns the directory of the workspace's Cargo.toml.
pub fn root() -> &'static Path {
    #[expect(clippy::disallowed_methods, reason = "cargo sets it for the programs that it runs")]
    static MANIFEST: LazyLock<PathBuf> = LazyLock::new(|| {
        // At run time, because two checkouts may share a target directory, and with it this program.
        std::env::var_os("CARGO_MANIFEST_DIR").unwrap_or_else(|| env!("CARGO_MANIFEST_DIR").into()).into()
    });
    MANIFEST.ancestors().nth(2).expect("invariant: a crate is two directories below the root")
}

/// Returns a cargo command in the workspace, without the variables that `cargo run` set for this program.
pub fn cargo(arguments: &[&str]) -> Command {
    let mut command = Command::new("cargo");
    command.current_dir(root()).args(arguments);
    for (name, _) in std::env::vars_os() {
        // Build scripts that watch these variables would rerun every time.
        let own = ["CARGO_PKG_", "CARGO_MANIFEST_", "CARGO_PRIMARY_", "CARGO_BIN_", "CARGO_CRATE_"];
        if name.to_str().is_some_and(|name| own.iter().any(|prefix| name.starts_with(prefix))) {
            command.env_remove(name);
        }
    }
    command
}

/// Builds all debug binaries with the features that the tests use, so that nothing is compiled twice.
pub fn build_debug() -> Result<()> {
    process::run(&mut cargo(&["build", "--ignore-rust-version", "--workspace", "--all-targets"]))
}

/// Builds release binaries, or examples (`examples/NAME`), with the features of the whole workspace.
///
/// Other features would recompile the dependencies. Each binary takes minutes to link, so name only those you need.
pub fn build_release(binaries: &[&str]) -> Result<()> {
    let mut command = cargo(&["build", "--ignore-rust-version", "--release", "--workspace"]);
    command.args(binaries.iter().flat_map(|name| match name.strip_prefix("examples/") {
        Some(example) => ["--example", example],
        None => ["--bin", name],
    }));
    process::run(&mut command)
}

/// A build profile.
#[derive(Clone, Copy)]
pub enum Profile {
    /// `dev`.
    Debug,
    /// `release`.
    Release,
}

/// Returns `cargo metadata` of the workspace's own packages.
pub fn metadata() -> Result<Value> {
    let text = process::output(&mut cargo(&["metadata", "--no-deps", "--format-version", "1"]))?;
    serde_json::from_str(&text).context("cargo metadata did not print JSON")
}

/// Returns the directory that cargo builds into.
pub fn target_directory() -> Result<PathBuf> {
    let metadata = metadata()?;
    let target = metadata["target_directory"].as_str().context("cargo metadata has no target_directory")?;
    Ok(target.into())
}

/// Returns the path of a built binary.
pub fn binary(profile: Profile, name: &str) -> Result<PathBuf> {
    let directory = match profile {
        Profile::Debug => "debug",
        Profile::Release => "release",
    };
    Ok(target_directory()?.join(directory).join(format!("{name}{}", std::env::consts::EXE_SUFFIX)))
}
