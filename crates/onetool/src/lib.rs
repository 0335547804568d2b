//! One MCP server in front of every tool an AI agent has.
//!
//! Build a [`Server`] from tools, resources and prompts, and serve it over stdio or streamable HTTP; or load a
//! [`Config`](config::Config) and run the whole [`Gateway`].
//!
//! ```no_run
//! use onetool::{CallContext, Server, tool_fn};
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

mod capabilities;
pub mod catalog;
mod clock;
pub mod config;
mod current;
mod declared;
mod discover;
mod dispatch;
#[cfg(fuzzing)]
#[doc(hidden)]
pub mod fuzzing;
mod gateway;
pub mod http;
#[cfg(feature = "_run")]
mod interpreter;
#[cfg(not(feature = "_run"))]
#[path = "no_interpreter.rs"]
mod interpreter;
mod mcp;
mod media_type;
mod memory;
mod meta_tools;
mod notify;
pub mod openapi;
mod ot;
mod own_files;
mod packs;
mod random;
mod read;
mod render;
pub mod results;
#[cfg(feature = "_run")]
mod run;
mod sanitize;
pub mod search;
mod server;
#[cfg_attr(not(feature = "_run"), expect(dead_code, reason = "code is what they are for"))]
mod shortcuts;
pub mod stats;
pub mod storage;
mod worker;

pub use onetool_core::*;

pub use capabilities::Capabilities;
pub use catalog::{Catalog, Policy, RegisterError, Source};
pub use clock::{Clock, Timestamp};
pub use declared::{ChildEnvironment, DeclareError, TemplateError};
pub use dispatch::CallError;
pub use gateway::{
    Gateway, GatewayError, GatewayOptions, HttpSource, LoadConfig, ReloadReport, SourceReport, SourceState,
    Suspicion,
};
pub use mcp::ServeError;
pub use onetool_cage::WorkerCommand;
pub use onetool_cage::process::{give_program_pages_back, keep_inherited_descriptors};
pub use onetool_proxy::{Guard, guard_main};
pub use packs::PackError;
pub use read::ReadError;
pub use server::{Server, ServerBuilder};
pub use shortcuts::AliasError;
pub use worker::worker_main;
