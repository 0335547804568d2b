//! Clients and servers for onetool's own tests.
//!
//! [`Client`] is the official SDK's client, which reads messages like any other client. [`RawClient`] writes and reads
//! lines, for messages that no correct client sends and fields that the SDK's types drop.

mod client;
mod http;
mod logs;
mod raw;
mod worker;

pub use client::{Client, Era, MinLogLevel, Notification, RpcError};
pub use http::HttpServer;
pub use logs::CapturedLogs;
pub use raw::RawClient;
pub use worker::{scripted_upstream, worker, worker_without};
