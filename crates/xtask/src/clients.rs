//! `cargo xtask clients`: real MCP clients use the gateway in front of real servers, over stdio and over HTTP.

use std::process::Command;

use anyhow::Result;
use xtask::cargo::{self, Profile};
use xtask::{process, tools};

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

#[cfg(test)]
mod tests {
    use std::fs;

    use serde_json::Value;

    use super::*;

    /// With another version, it would be another test.
    #[test]
    fn seam_18_every_client_and_server_is_pinned() {
        for directory in ["tests/clients", "tests/upstreams"] {
            let text = fs::read_to_string(cargo::root().join(directory).join("package.json")).unwrap();
            let package: Value = serde_json::from_str(&text).unwrap();
            for (name, version) in package["dependencies"].as_object().unwrap() {
                let version = version.as_str().unwrap();
                let is_exact = version.split('.').all(|part| part.chars().all(|c| c.is_ascii_digit()));
                assert!(is_exact, "{directory}: {name} {version}");
            }
        }
        for file in fs::read_dir(tools::outside()).unwrap() {
            let path = file.unwrap().path();
            let text = fs::read_to_string(&path).unwrap();
            let is_requirements =
                path.file_name().is_some_and(|it| it.to_string_lossy().starts_with("requirements-"));
            for line in text.lines().filter(|line| is_requirements && !line.starts_with('#')) {
                assert!(line.contains("=="), "{}: {line}", path.display());
            }
        }
    }
}
