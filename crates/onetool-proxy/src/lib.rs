//! Other MCP servers as sources: each becomes a pack of tools, with its resources and prompts.
//!
//! An [`Upstream`] manages the connection to one server. It starts a child process or connects to a URL, follows
//! changes to the server's lists, reconnects after a failure, and reports problems in readable messages. What the
//! server currently offers is a [`Snapshot`] of ordinary `onetool-core` tools, resources and prompts, which stay valid
//! across reconnections.
//!
//! An internal component crate of onetool: its API may change in any release.
//!
//! ```no_run
//! use onetool_proxy::{ChildContext, Transport, Upstream, UpstreamConfig};
//!
//! # async fn example() {
//! let transport = Transport::Stdio {
//!     command: "npx".into(),
//!     args: vec!["-y".into(), "@modelcontextprotocol/server-everything".into()],
//!     env: Default::default(),
//!     directory: None,
//! };
//! let upstream = Upstream::start(UpstreamConfig::new("everything", transport), ChildContext::default());
//! let mut watch = upstream.watch();
//! while watch.changed().await.is_ok() {
//!     let snapshot = watch.borrow_and_update().clone();
//!     eprintln!("{}: {} tools", snapshot.state, snapshot.tools.len());
//! }
//! # }
//! ```

mod body;
mod breaker;
mod call;
mod child;
mod client;
mod complete;
mod config;
mod connect;
mod context;
mod convert;
mod decode;
mod environment;
mod exchange;
#[cfg(fuzzing)]
#[doc(hidden)]
pub mod fuzzing;
mod guard;
mod http;
mod in_flight;
mod intercept;
mod json;
mod lines;
mod link;
mod lists;
mod names;
mod process;
mod prompt;
mod resource;
mod scrub;
mod snapshot;
mod sse;
mod start_slots;
mod stderr;
mod supervisor;
mod tool;
mod upstream;

pub use config::{ConfigError, Limits, Timing, Transport, UpstreamConfig};
pub use context::{ChildContext, ServerMemory};
pub use environment::ChildEnvironment;
pub use guard::{Guard, guard_main};
pub use names::{upstream_uri, wrapped_uri};
pub use process::{ProcessTree, TreeCommand, describe_exit, find_program};
pub use snapshot::{Snapshot, State};
pub use start_slots::max_concurrent_starts;
pub use upstream::Upstream;
