//! Calling cargo: one way to build, so that every step shares one set of compiled crates.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::LazyLock;

use anyhow::{Context, Result};

use crate::process;

/// Returns the folder that holds the workspace's Cargo.toml.
pub(crate) fn root() -> &'static Path {
    #[expect(clippy::disallowed_methods, reason = "cargo tells a program that it runs where it belongs")]
    static MANIFEST: LazyLock<PathBuf> = LazyLock::new(|| {
        // Two checkouts may share a target folder, and with it this program: the one that runs it counts.
        std::env::var_os("CARGO_MANIFEST_DIR").unwrap_or_else(|| env!("CARGO_MANIFEST_DIR").into()).into()
    });
    MANIFEST.ancestors().nth(2).expect("invariant: crates/xtask is two folders below the root")
}

/// Starts a cargo command line in the workspace, without what `cargo run` set for xtask itself.
pub(crate) fn cargo(arguments: &[&str]) -> Command {
    let mut command = Command::new("cargo");
    command.current_dir(root()).args(arguments);
    for (name, _) in std::env::vars_os() {
        // Build scripts that watch these would run again in every other call.
        let own = ["CARGO_PKG_", "CARGO_MANIFEST_", "CARGO_PRIMARY_", "CARGO_BIN_", "CARGO_CRATE_"];
        if name.to_str().is_some_and(|name| own.iter().any(|prefix| name.starts_with(prefix))) {
            command.env_remove(name);
        }
    }
    command
}

/// Builds all debug binaries with the features the tests are built with, so that nothing is compiled twice.
pub(crate) fn build_debug() -> Result<()> {
    process::run(&mut cargo(&["build", "--ignore-rust-version", "--workspace", "--all-targets"]))
}

/// Builds these binaries, or `examples/NAME`, for release, with the features of the whole workspace: others would build all over again.
///
/// Only those that are needed: each is optimized as a whole, the interpreter with it, and that takes minutes.
pub(crate) fn build_release(binaries: &[&str]) -> Result<()> {
    let mut command = cargo(&["build", "--ignore-rust-version", "--release", "--workspace"]);
    command.args(binaries.iter().flat_map(|name| match name.strip_prefix("examples/") {
        Some(example) => ["--example", example],
        None => ["--bin", name],
    }));
    process::run(&mut command)
}

#[derive(Clone, Copy)]
pub(crate) enum Profile {
    Debug,
    Release,
}

/// Returns the directory that cargo builds into.
pub(crate) fn target_directory() -> Result<PathBuf> {
    let metadata = process::output(&mut cargo(&["metadata", "--no-deps", "--format-version", "1"]))?;
    let metadata: serde_json::Value = serde_json::from_str(&metadata)?;
    let target = metadata["target_directory"].as_str().context("cargo metadata names no target_directory")?;
    Ok(target.into())
}

/// Returns the path of a built binary.
pub(crate) fn binary(profile: Profile, name: &str) -> Result<PathBuf> {
    let folder = match profile {
        Profile::Debug => "debug",
        Profile::Release => "release",
    };
    Ok(target_directory()?.join(folder).join(format!("{name}{}", std::env::consts::EXE_SUFFIX)))
}
