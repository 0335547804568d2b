//! The fixtures of MCP's conformance suite, built only with onetool's public API.
//!
//! `onetool-conformance-server` serves them; `onetool-conformance-server through URL` serves a gateway in front of
//! another such server.

#![expect(clippy::print_stdout, reason = "the parent process reads the address")]

mod client_requests;
mod gateway;
mod input_required;
mod list_changes;
mod media;
mod notifications;
mod prompts;
mod resources;
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
        (Some("through"), Some(url)) => listen(gateway::connect(&url).await?.server()).await,
        _ => anyhow::bail!("usage: onetool-conformance-server [through URL]"),
    }
}

fn fixtures() -> anyhow::Result<Server> {
    let server = Server::builder().name("conformance").logging().completions().build()?;
    tools::register(&server)?;
    notifications::register(&server)?;
    client_requests::register(&server)?;
    input_required::register(&server)?;
    list_changes::register(&server)?;
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
