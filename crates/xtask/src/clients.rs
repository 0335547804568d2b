//! `cargo xtask clients`: real MCP clients drive the gateway in front of real servers, over stdio and over HTTP.

use std::process::Command;

use anyhow::Result;

use crate::cargo::{self, Profile};
use crate::{process, tools};

/// Runs every client over both transports, or those whose name contains a word.
pub(crate) fn run(word: Option<&str>) -> Result<()> {
    tools::require_programs()?;
    let tools::Clients { node, packages, pythons } = tools::clients()?;
    let servers = tools::upstreams()?.packages;
    cargo::build_debug()?;
    let mut command = Command::new(node);
    command.arg(cargo::root().join("tests/clients/checks.mjs"));
    command.arg(cargo::binary(Profile::Debug, "onetool")?).arg(packages).arg(servers);
    process::run(command.arg(tools::scratch("clients")?).args(pythons).args(word))
}
