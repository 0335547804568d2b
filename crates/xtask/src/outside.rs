//! `cargo xtask outside`: drives the binary with the Python `mcp` client, over stdio and over HTTP.

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context, Result};

use crate::cargo::{self, Profile};
use crate::process::{self, Running};
use crate::tools::{self, Venv};

pub(crate) fn run() -> Result<()> {
    tools::require_programs()?;
    let python = tools::venv(Venv::Mcp)?;
    cargo::build_debug()?;
    let onetool = cargo::binary(Profile::Debug, "onetool")?;
    let folder = tools::scratch("outside")?;
    let config = folder.join("onetool.yaml");
    fs::copy(tools::outside().join("onetool.yaml"), &config)?;

    println!("--- stdio");
    process::run(
        client(&python)
            .arg(&onetool)
            .arg("serve")
            .arg("--config")
            .arg(&config),
    )?;

    println!("--- HTTP");
    let server = start_http(&onetool, &config)?;
    process::run(client(&python).arg(&server.url).arg(&server.token))
}

fn client(python: &Path) -> Command {
    let mut command = Command::new(python);
    command.arg(tools::outside().join("client.py"));
    command
}

/// A gateway that listens, and what a client needs to reach it.
struct HttpServer {
    url: String,
    token: String,
    _running: Running,
}

/// Starts `onetool serve --http` and reads the lines `MCP: URL` and `token: TOKEN` from stderr.
fn start_http(onetool: &Path, config: &Path) -> Result<HttpServer> {
    let mut running = Running::spawn(
        Command::new(onetool)
            .args(["serve", "--http", "127.0.0.1:0", "--config"])
            .arg(config)
            .stdin(Stdio::null())
            .stderr(Stdio::piped()),
    )?;
    let stderr = running.0.stderr.take().context("stderr is piped")?;
    let mut lines = BufReader::new(stderr).lines();
    let (mut url, mut token) = (None, None);
    let mut said = String::new();
    while url.is_none() || token.is_none() {
        let Some(line) = lines.next() else {
            anyhow::bail!("`onetool serve --http` ended before it named its URL and token; it said:\n{said}");
        };
        let line = line?;
        if let Some(found) = after(&line, "MCP: ") {
            url = Some(found);
        } else if let Some(found) = after(&line, "token: ") {
            token = Some(found);
        }
        said = said + &line + "\n";
    }
    // Log lines go on; they must not fill the pipe.
    std::thread::spawn(move || lines.for_each(drop));
    Ok(HttpServer {
        url: url.context("set by the loop")?,
        token: token.context("set by the loop")?,
        _running: running,
    })
}

fn after(line: &str, label: &str) -> Option<String> {
    line.trim().strip_prefix(label).map(|rest| rest.trim().to_owned())
}
