//! A server library for the Model Context Protocol (MCP): tools, resources and prompts over stdio and streamable HTTP.
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
//! All items of `onetool-core` are re-exported. [`http`] serves over HTTP, alone or in an existing axum application. The
//! crate `onetool` adds a gateway: other servers, APIs, Python and a web page, with a configuration file.

mod capabilities;
#[doc(hidden)]
pub mod catalog;
mod discover;
#[doc(hidden)]
pub mod dispatch;
pub mod http;
#[doc(hidden)]
pub mod mcp;
mod read;
#[doc(hidden)]
pub mod sanitize;
mod server;

pub use onetool_core::*;

pub use capabilities::Capabilities;
pub use catalog::{Catalog, Entry, RegisterError, Source, UnknownName};
pub use dispatch::CallError;
pub use mcp::ServeError;
pub use read::ReadError;
#[doc(hidden)]
pub use server::Wait;
pub use server::{Server, ServerBuilder, WeakServer};
