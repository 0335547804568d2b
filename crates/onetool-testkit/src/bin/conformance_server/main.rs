//! The fixtures of MCP's conformance suite, built with onetool's public API alone.
//!
//! `onetool-conformance-server` serves them; `onetool-conformance-server through URL` serves those of another such
//! server, through a gateway in front of it.

#![expect(clippy::print_stdout, reason = "the address is for the program that starts this one")]

mod changes;
mod media;
mod prompts;
mod questions;
mod reports;
mod resources;
mod rounds;
mod through;
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
    let mut args = std::env::args().skip(1);
    match (args.next().as_deref(), args.next()) {
        (None, _) => listen(&fixtures()?).await,
        (Some("through"), Some(url)) => listen(through::gateway(&url).await?.server()).await,
        _ => anyhow::bail!("usage: onetool-conformance-server [through URL]"),
    }
}

fn fixtures() -> anyhow::Result<Server> {
    let server = Server::builder().name("conformance").logging().completions().build()?;
    tools::register(&server)?;
    reports::register(&server)?;
    questions::register(&server)?;
    rounds::register(&server)?;
    changes::register(&server)?;
    resources::register(&server)?;
    prompts::register(&server)?;
    Ok(server)
}

async fn listen(server: &Server) -> anyhow::Result<()> {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    println!("listening on http://{}/mcp", listener.local_addr()?);
    serve(server, listener, HttpOptions::default(), CancellationToken::new(), Duration::ZERO).await?;
    Ok(())
}
