//! Mounts a program's tools under a prefix of its axum application: `cargo run -p onetool-web --example mount`.

#![expect(clippy::print_stdout, reason = "the address is for the user")]

use std::sync::Arc;

use axum::Router;
use axum::routing::get;
use onetool_core::{CallContext, Tool, tool_fn};
use onetool_web::{WebOptions, router};

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct City {
    /// Name of the city.
    city: String,
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let weather =
        tool_fn("weather.now", "Fetch current weather.", |args: City, _cx: CallContext| async move {
            format!("sunny in {}", args.city)
        });
    let tools: Vec<Arc<dyn Tool>> = vec![Arc::new(weather)];
    let options = WebOptions::default().title("Weather").allow_execute(true);
    let app = Router::new()
        .route("/", get(async || "the application\n"))
        .nest_service("/x/y", router(tools, options));
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await?;
    println!("http://{}/x/y/", listener.local_addr()?);
    axum::serve(listener, app).await?;
    Ok(())
}
