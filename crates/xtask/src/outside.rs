//! `cargo xtask outside`: drives the binary with the Python `mcp` client, over stdio and over HTTP.

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};

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
    process::run(client(&python).arg(&onetool).arg("serve").arg("--config").arg(&config))?;

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

/// Starts `onetool serve --http`, waits for its line `MCP: URL` on stderr, takes the token from the `.onetool` beside the configuration.
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
    let mut said = String::new();
    let url = loop {
        let Some(line) = lines.next() else {
            bail!("`onetool serve --http` ended before it named its URL; it said:\n{said}");
        };
        let line = line?;
        if let Some(url) = line.trim().strip_prefix("MCP: ") {
            break url.trim().to_owned();
        }
        said = said + &line + "\n";
    };
    // Log lines go on; they must not fill the pipe.
    std::thread::spawn(move || lines.for_each(drop));
    let path = config.with_file_name(".onetool").join("token");
    let token = fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
    Ok(HttpServer { url, token: token.trim().to_owned(), _running: running })
}
