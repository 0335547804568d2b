//! MCP inside somebody else's axum application: their page at `/`, the server under `/agents`.
//!
//! ```sh
//! cargo run --ignore-rust-version -p onetool --example axum_app
//! curl http://127.0.0.1:3000/
//! curl http://127.0.0.1:3000/agents/readyz
//! ```

#![expect(clippy::print_stdout, reason = "an example that talks to a person; MCP goes over HTTP here")]

use std::error::Error;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use axum::Router;
use axum::routing::get;
use onetool::http::{Access, HttpOptions, router};
use onetool::{CallContext, JsonObject, Server, tool_fn};
use tokio::net::TcpListener;

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    // What the application has anyway; the tool shares it with the page.
    let visits = Arc::new(AtomicU64::new(0));

    let server = Server::builder().name("shop").build()?;
    let counted = visits.clone();
    let count = move |_: JsonObject, _: CallContext| {
        let visits = counted.load(Ordering::Relaxed);
        async move { format!("{visits} visits since the start") }
    };
    server.register_tool(tool_fn("shop.visits", "Counts the visits of the page.", count))?;

    // The rule of access holds for the nested routes only: a bearer token, and no foreign Host or Origin.
    let access = Access::with_token("change-me").allow_hosts(["shop.example.org".to_owned()]);
    let options = HttpOptions { access, ..HttpOptions::default() };
    let page = move || async move { format!("visit {}\n", visits.fetch_add(1, Ordering::Relaxed) + 1) };
    let app = Router::new().route("/", get(page)).nest("/agents", router(&server, options));

    let listener = TcpListener::bind("127.0.0.1:3000").await?;
    println!("page: http://{0}/  MCP: http://{0}/agents/mcp  token: change-me", listener.local_addr()?);
    axum::serve(listener, app)
        .with_graceful_shutdown(async move {
            // Without a signal handler there is nothing to wait for but the end of the process.
            if tokio::signal::ctrl_c().await.is_ok() {
                // Streams to clients stay open until the server ends them; axum alone would wait for ever.
                server.shut_down(Duration::from_secs(10)).await;
            }
        })
        .await?;
    Ok(())
}
