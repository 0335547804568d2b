//! MCP in an existing axum application: the application's page at `/`, the server under `/agents`.
//!
//! ```sh
//! cargo run --ignore-rust-version -p onetool --example axum_app
//! curl http://127.0.0.1:3000/
//! curl http://127.0.0.1:3000/agents/readyz
//! ```

#![expect(clippy::print_stdout, reason = "the output is for the user; MCP uses HTTP here")]

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
    // State of the application, which the tool shares with the page.
    let visits = Arc::new(AtomicU64::new(0));

    let server = Server::builder().name("shop").build()?;
    let counted = visits.clone();
    let count = move |_: JsonObject, _: CallContext| {
        let visits = counted.load(Ordering::Relaxed);
        async move { format!("{visits} visits since the start") }
    };
    server.register_tool(tool_fn("shop.visits", "Returns the number of visits to the page.", count))?;

    // Access control applies only to the nested routes: a bearer token, and no foreign Host or Origin.
    let access = Access::with_token("change-me").allow_hosts(["shop.example.org".to_owned()]);
    let options = HttpOptions::new(access);
    let page = move || async move { format!("visit {}\n", visits.fetch_add(1, Ordering::Relaxed) + 1) };
    let app = Router::new().route("/", get(page)).nest("/agents", router(&server, options));

    let listener = TcpListener::bind("127.0.0.1:3000").await?;
    println!("page: http://{0}/  MCP: http://{0}/agents/mcp  token: change-me", listener.local_addr()?);
    axum::serve(listener, app)
        .with_graceful_shutdown(async move {
            // Without a signal handler, the server runs until the process is killed.
            if tokio::signal::ctrl_c().await.is_ok() {
                // Streams to clients stay open until the server closes them; axum alone would wait forever.
                server.shut_down(Duration::from_secs(10)).await;
            }
        })
        .await?;
    Ok(())
}
