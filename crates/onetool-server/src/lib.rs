//! An MCP server of tools, resources and prompts, over stdio and streamable HTTP.
//!
//! ```no_run
//! use onetool_server::{CallContext, Server, tool_fn};
//!
//! #[derive(serde::Deserialize, schemars::JsonSchema)]
//! struct City {
//!     /// Name of the city.
//!     city: String,
//! }
//!
//! # async fn serve() -> Result<(), Box<dyn std::error::Error>> {
//! let server = Server::builder().name("weather").build()?;
//! server.register_tool(tool_fn("weather.now", "Fetch current weather.", |args: City, _cx: CallContext| async move {
//!     format!("sunny in {}", args.city)
//! }))?;
//! server.serve_stdio().await?;
//! # Ok(())
//! # }
//! ```
//!
//! The crate `onetool` builds a gateway on it: other servers, APIs, Python and a page, from a configuration.

mod capabilities;
pub mod catalog;
mod discover;
pub mod dispatch;
pub mod http;
pub mod mcp;
mod read;
pub mod sanitize;
mod server;

pub use onetool_core::*;

pub use capabilities::Capabilities;
pub use catalog::{Catalog, RegisterError, Source};
pub use dispatch::CallError;
pub use mcp::ServeError;
pub use read::ReadError;
pub use server::{Server, ServerBuilder, Wait, WeakServer};
