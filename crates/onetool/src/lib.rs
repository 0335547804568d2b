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

pub mod config;
mod declared;
#[cfg(doctest)]
mod doc_tests;
#[cfg(fuzzing)]
#[doc(hidden)]
pub mod fuzzing;
mod gateway;
#[cfg(feature = "_run")]
mod interpreter;
#[cfg(not(feature = "_run"))]
#[path = "no_interpreter.rs"]
mod interpreter;
mod memory;
mod meta_tools;
mod notify;
pub mod openapi;
mod ot;
mod own_files;
mod packs;
mod render;
pub mod results;
#[cfg(feature = "_run")]
mod run;
pub mod search;
#[cfg_attr(not(feature = "_run"), expect(dead_code, reason = "code is what they are for"))]
mod shortcuts;
pub mod stats;
mod worker;

pub use onetool_core::*;
pub use onetool_server::{
    CallError, Capabilities, Catalog, Policy, ReadError, RegisterError, ServeError, Server, ServerBuilder,
    Source, catalog, http,
};
pub use onetool_store::clock::{Clock, Timestamp};
pub use onetool_store::storage;

#[cfg(feature = "_run")]
use onetool_server::sanitize;
use onetool_server::{Wait, WeakServer, dispatch, mcp, media_type};
use onetool_store::clock;

pub use declared::{ChildEnvironment, DeclareError, TemplateError};
pub use gateway::{
    Gateway, GatewayError, GatewayOptions, HttpSource, LoadConfig, ReloadReport, SourceReport, SourceState,
    Suspicion,
};
pub use onetool_cage::WorkerCommand;
pub use onetool_cage::process::{give_program_pages_back, keep_inherited_descriptors};
pub use onetool_proxy::{Guard, guard_main};
pub use packs::PackError;
pub use shortcuts::AliasError;
pub use worker::worker_main;
