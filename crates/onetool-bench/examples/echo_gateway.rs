//! A onetool server with one echo tool, for `cargo xtask bench call`: `echo_gateway stdio|http`.

#![expect(clippy::print_stdout, reason = "the benchmark reads the address")]

use std::time::Duration;

use onetool::http::{HttpOptions, serve};
use onetool::{CallContext, Server, tool_fn};
use schemars::JsonSchema;
use serde::Deserialize;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

#[derive(Deserialize, JsonSchema)]
struct Echo {
    /// The text to return.
    text: String,
}

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let server = Server::builder().name("echo").build()?;
    server
        .register_tool(tool_fn("echo", "Echoes text.", |args: Echo, _: CallContext| async { args.text }))?;
    if std::env::args().nth(1).as_deref() == Some("http") {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        println!("listening on http://{}/mcp", listener.local_addr()?);
        serve(&server, listener, HttpOptions::default(), CancellationToken::new(), Duration::ZERO).await?;
    } else {
        server.serve_stdio().await?;
    }
    Ok(())
}
