//! Connects to an MCP server and prints what it offers: `probe URL` or `probe COMMAND ARGUMENT…`.
//!
//! The environment variable `CALL=tool` also calls a tool, with the JSON object in `ARGS`.

#![expect(clippy::print_stdout, clippy::disallowed_methods, reason = "a command-line program")]

use onetool_core::{CallContext, JsonObject};
use onetool_proxy::{ChildContext, State, Transport, Upstream, UpstreamConfig};

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut args = std::env::args().skip(1);
    let first = args.next().ok_or("usage: probe URL | probe COMMAND ARGUMENT…")?;
    let transport = match first.parse() {
        Ok(url) if first.starts_with("http") => Transport::Http { url, headers: indexmap::IndexMap::new() },
        _ => Transport::Stdio {
            command: first,
            args: args.collect(),
            env: indexmap::IndexMap::new(),
            directory: None,
        },
    };
    let context = ChildContext { environment: std::env::vars_os().collect(), ..ChildContext::default() };
    let start = std::time::Instant::now();
    let upstream = Upstream::start(UpstreamConfig::new("up", transport), context);
    let settled = upstream.watch().wait_for(|it| it.state != State::Connecting).await?.clone();
    println!("{} after {:?}", settled.state, start.elapsed());
    println!(
        "server: {:?} {:?}, revision {:?}",
        settled.server_name, settled.server_version, settled.protocol_version
    );
    settled.tools.iter().for_each(|tool| println!("tool {}", tool.spec().signature()));
    settled.resources.iter().for_each(|it| println!("resource {}", it.spec().uri.as_str()));
    settled.prompts.iter().for_each(|it| println!("prompt {}", it.spec().name));
    if let Ok(name) = std::env::var("CALL") {
        let args: JsonObject = serde_json::from_str(&std::env::var("ARGS").unwrap_or_else(|_| "{}".into()))?;
        let tool = settled.tools.iter().find(|it| it.spec().name.tool() == name).ok_or("no such tool")?;
        println!("{:#?}", tool.call(args, &CallContext::detached()).await?);
    }
    upstream.shut_down().await;
    Ok(())
}
