//! An API as an MCP server over stdio: every operation of its OpenAPI description is a tool.
//!
//! ```sh
//! cargo run --quiet --ignore-rust-version -p onetool --example openapi -- pets ./petstore.yaml [BASE_URL]
//! ```

#![expect(clippy::print_stderr, reason = "stdout belongs to the protocol")]

use std::error::Error;

use onetool::Server;
use onetool::openapi::{ApiOptions, Origin, load};

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let mut args = std::env::args().skip(1);
    let (Some(name), Some(file)) = (args.next(), args.next()) else {
        return Err("usage: openapi NAME FILE [BASE_URL]".into());
    };
    let mut options = ApiOptions::new(name.as_str());
    // The base URL of the API, if the description has none.
    options.base_url = args.next().map(|url| url.parse()).transpose()?;
    let api = load(Origin::File(file.into()), options, None).await?;
    // Operations that cannot be called are skipped and reported; the others still work.
    for (operation, reason) in &api.report.skipped {
        eprintln!("skipped '{operation}': {reason}");
    }
    let server = Server::builder().name(name.as_str()).pack(api).build()?;
    server.serve_stdio().await?;
    Ok(())
}
