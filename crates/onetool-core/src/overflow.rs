//! Where an answer goes that is too large to be held in memory.

use serde_json::Value;

use crate::{BoxFuture, Caller, ToolError};

/// A place for answers that are too large; a server that has one hands it to every call.
pub trait OverflowStore: Send + Sync + 'static {
    /// Begins an answer for `caller`; `is_json` says that it will be JSON.
    fn begin(&self, caller: &Caller, is_json: bool) -> Box<dyn Overflow>;
}

/// An answer that is stored as it comes in. Dropping it before its end throws it away.
pub trait Overflow: Send {
    /// Adds the next bytes, in UTF-8; a character may be cut by their end.
    fn write<'a>(&'a mut self, bytes: &'a [u8]) -> BoxFuture<'a, Result<(), ToolError>>;

    /// Ends the answer; returns what the caller gets in its place: a handle, and how to read it.
    fn finish(self: Box<Self>) -> BoxFuture<'static, Result<Value, ToolError>>;
}
