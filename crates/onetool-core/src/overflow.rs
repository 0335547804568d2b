//! Storage for results that are too large for memory.

use serde_json::Value;

use crate::{BoxFuture, Caller, ToolError};

/// Stores results that are too large for memory. A server that has a store passes it to every call.
pub trait OverflowStore: Send + Sync + 'static {
    /// Starts storing a result for `caller`; `is_json` is whether the result is JSON.
    fn begin(&self, caller: &Caller, is_json: bool) -> Box<dyn Overflow>;
}

/// A result that is stored while it arrives. Dropping it before [`finish`](Self::finish) discards it.
pub trait Overflow: Send {
    /// Appends UTF-8 bytes; a character may be split between two writes.
    fn write<'a>(&'a mut self, bytes: &'a [u8]) -> BoxFuture<'a, Result<(), ToolError>>;

    /// Completes the result and returns its replacement for the caller: a handle, and how to read it.
    fn finish(self: Box<Self>) -> BoxFuture<'static, Result<Value, ToolError>>;
}
