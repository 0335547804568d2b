//! Other MCP servers as sources: each becomes a pack of tools, with its resources and prompts.
//!
//! An [`Upstream`] is a connection that looks after itself. It starts a child process or speaks to a URL, follows the
//! server's lists, comes back after a crash, and says in words what is wrong. What it offers at any moment is a
//! [`Snapshot`] of ordinary `onetool-core` tools, resources and prompts, which stay valid across reconnections.
//!
//! An internal component crate of onetool: its API may change in any release.
//!
//! ```no_run
//! use onetool_proxy::{Surroundings, Transport, Upstream, UpstreamConfig};
//!
//! # async fn example() {
//! let transport = Transport::Stdio {
//!     command: "npx".into(),
//!     args: vec!["-y".into(), "@modelcontextprotocol/server-everything".into()],
//!     env: Default::default(),
//!     directory: None,
//! };
//! let upstream = Upstream::start(UpstreamConfig::new("everything", transport), Surroundings::default());
//! let mut watch = upstream.watch();
//! while watch.changed().await.is_ok() {
//!     let snapshot = watch.borrow_and_update().clone();
//!     eprintln!("{}: {} tools", snapshot.state, snapshot.tools.len());
//! }
//! # }
//! ```

mod answer;
mod breaker;
mod call;
mod calls;
mod child;
mod client;
mod complete;
mod config;
mod connect;
mod events;
mod exchange;
#[cfg(fuzzing)]
#[doc(hidden)]
pub mod fuzzing;
mod guard;
mod http;
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
mod starts;
mod stderr;
mod supervisor;
mod tap;
mod tool;
mod unreadable;
mod upstream;

pub use config::{ConfigError, Limits, Timing, Transport, UpstreamConfig};
pub use guard::{Guard, guard_main};
pub use process::{ProcessTree, TreeCommand, ending, find_program};
pub use resource::{upstream_uri, wrapped_uri};
pub use snapshot::{Snapshot, State};
pub use starts::max_starts;
pub use upstream::{ChildEnvironment, ServerMemory, Surroundings, Upstream};
