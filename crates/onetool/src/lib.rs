//! One MCP server in front of all the tools of an AI agent.
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
#[cfg(doctest)]
mod doc_tests;
#[cfg(fuzzing)]
#[doc(hidden)]
pub mod fuzzing;
mod gateway;
mod memory;
mod meta_tools;
mod notify;
pub mod openapi;
mod ot;
mod render;
pub mod search;
mod stats_file;
mod worker;

pub use onetool_core::*;
pub use onetool_server::{
    CallError, Capabilities, Catalog, ReadError, RegisterError, ServeError, Server, ServerBuilder, Source,
    catalog, http,
};
pub use onetool_store as store;
pub use onetool_store::{results, stats};

pub use gateway::{
    Gateway, GatewayError, GatewayOptions, HttpSource, LoadConfig, OpenStore, ReloadReport, SourceReport,
    SourceState, Suspicion,
};
pub use onetool_cage::WorkerCommand;
pub use onetool_cage::process::{close_inherited_on_exec, release_program_pages};
pub use onetool_core::clock::{Clock, Timestamp};
pub use onetool_declared::{DeclareError, TemplateError};
pub use onetool_proxy::{ChildEnvironment, Guard, guard_main};
pub use onetool_run::shortcuts::AliasError;
pub use worker::worker_main;
