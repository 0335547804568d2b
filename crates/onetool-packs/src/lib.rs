//! The built-in packs of tools. Each is a directory with its options and its tools, and one line in [`mod@kinds`].
//!
//! A pack's options are a struct: its fields are the keys under `packs:`, their comments the texts of the JSON Schema,
//! and its [`PackOptions`](options::PackOptions) implementation checks and builds the pack.

#[cfg(any(feature = "brave", feature = "llm"))]
mod api_key;
#[cfg(any(feature = "brave", feature = "llm", feature = "package"))]
mod base_url;
#[cfg(any(feature = "db", feature = "file", feature = "ripgrep"))]
mod blocking;
#[cfg(feature = "brave")]
mod brave;
mod config;
#[cfg(feature = "db")]
mod db;
#[cfg(feature = "file")]
mod file;
mod kinds;
#[cfg(feature = "llm")]
mod llm;
#[cfg_attr(not(feature = "_pack"), expect(dead_code, reason = "a build without packs uses a part of it"))]
mod options;
mod own_files;
#[cfg(feature = "package")]
mod package;
#[cfg(feature = "ripgrep")]
mod ripgrep;
#[cfg(any(feature = "file", feature = "ripgrep"))]
#[cfg_attr(
    not(all(feature = "file", feature = "ripgrep")),
    expect(dead_code, reason = "each of the two packs uses a part of it")
)]
mod roots;
#[cfg(feature = "_service")]
mod service;
#[cfg(feature = "_pack")]
mod tool;
#[cfg(feature = "web")]
mod web;

pub use config::{NameUse, PacksConfig};
pub use options::PackContext;
pub use own_files::{ClosedFiles, ClosedReason, OwnFiles, OwnPaths};

/// What the worker process does for the packs.
pub const JOBS: &[(&str, onetool_cage::Job)] = &[
    #[cfg(feature = "db")]
    db::JOB,
    #[cfg(feature = "web")]
    web::JOB,
];
