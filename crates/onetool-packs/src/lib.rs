//! The built-in packs of tools. Each is a module with its options and its tools, and a line in `kinds`.
//!
//! The options of a pack are a struct. Its fields are the keys under `packs:`, its doc comments are the descriptions in
//! the JSON Schema, and its implementation of `PackOptions` checks the options and builds the pack.
#![cfg_attr(
    not(all(
        feature = "brave",
        feature = "db",
        feature = "file",
        feature = "llm",
        feature = "package",
        feature = "ripgrep",
        feature = "web"
    )),
    allow(dead_code, reason = "a helper may be used only by packs that this build does not have")
)]

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
mod options;
mod own_files;
#[cfg(feature = "package")]
mod package;
#[cfg(feature = "ripgrep")]
mod ripgrep;
#[cfg(any(feature = "file", feature = "ripgrep"))]
mod roots;
#[cfg(feature = "_service")]
mod service;
#[cfg(all(test, feature = "_pack"))]
mod testing;
#[cfg(feature = "_pack")]
mod tool;
#[cfg(feature = "web")]
mod web;

pub use config::{NameUse, PacksConfig};
pub use options::PackContext;
pub use own_files::{OwnFiles, OwnPaths, ProtectedFiles, ProtectedReason};

/// The jobs that the worker process runs for packs.
pub const JOBS: &[(&str, onetool_cage::Job)] = &[
    #[cfg(feature = "db")]
    db::JOB,
    #[cfg(feature = "web")]
    web::JOB,
];
