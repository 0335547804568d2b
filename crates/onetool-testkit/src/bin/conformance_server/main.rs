//! The fixtures of MCP's conformance suite, built with onetool's public API alone.

#![expect(clippy::print_stdout, reason = "the address is for the program that starts this one")]

mod changes;
mod media;
mod prompts;
mod questions;
mod reports;
mod resources;
mod rounds;
mod tools;

use std::time::Duration;

use onetool::Server;
use onetool::http::{HttpOptions, serve};
use schemars::JsonSchema;
use serde::Deserialize;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

/// The arguments of a tool that takes none.
#[derive(Deserialize, JsonSchema)]
struct NoArguments {}

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let server = Server::builder().name("conformance").logging().completions().build()?;
    tools::register(&server)?;
    reports::register(&server)?;
    questions::register(&server)?;
    rounds::register(&server)?;
    changes::register(&server)?;
    resources::register(&server)?;
    prompts::register(&server)?;
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    println!("listening on http://{}/mcp", listener.local_addr()?);
    serve(&server, listener, HttpOptions::default(), CancellationToken::new(), Duration::ZERO).await?;
    Ok(())
}
