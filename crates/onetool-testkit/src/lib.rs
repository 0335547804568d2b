//! Clients and servers that onetool's own tests talk to.
//!
//! [`Client`] is the official SDK's client, so that what it reads is what any client would read. [`RawClient`] writes
//! and reads lines, for what no proper client would send and for fields that the SDK's types drop.

mod client;
mod http;
mod logs;
mod raw;
mod worker;

pub use client::{Client, Era, LogFloor, Notice, RpcError};
pub use http::HttpServer;
pub use logs::CapturedLogs;
pub use raw::RawClient;
pub use worker::{scripted_upstream, worker, worker_without};
