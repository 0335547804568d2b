//! What outlives a call or is shared between servers, as one trait.

mod events;
mod handle;
mod health;
mod history;
mod legacy_servers;
mod queries;
mod results;
mod switches;

use std::ops::Range;
use std::path::PathBuf;

use onetool_core::Caller;
use onetool_core::clock::Timestamp;
use onetool_core::state::{Reply, SessionStore};
use tokio::sync::watch;

use crate::events::Batch;

pub use events::{DaySum, EventSums, RunSum, SessionSum, ToolSum};
pub use handle::ResultHandle;
pub use health::StoreHealth;
pub use history::{
    CallContent, CallFeed, CallFilter, CallRecord, CallWatch, MAX_CALLS, MAX_PINNED_CALLS, NewCall, PastCall,
    Surface,
};
pub use legacy_servers::MAX_LEGACY_SERVERS;
pub use queries::{MAX_QUERIES, RememberedQuery};
pub use results::{KeptResult, KeptText, ResultInfo, ResultPart};
pub use switches::SourceSwitches;

/// Everything that outlives a call, and everything that servers share.
///
/// A gateway gets one from outside and does everything through it. Several gateways may use the same store, in one process
/// or in many, and then see the same results, statistics, sessions and switches.
///
/// These rules hold for every method that returns a [`Reply`], unless its description says otherwise:
///
/// - Anyone may call it, from any thread, with or without an async runtime. It does not block.
/// - The operation is submitted when the method is called. Operations that are submitted one after the other take effect in
///   this order; a read sees every write that was submitted before it through the same store.
/// - Dropping the reply does not cancel the operation.
/// - An error means that the operation had no effect, or that nothing could be read. A store whose database cannot be
///   used keeps what it can in bounded memory, reports the problem once in the log and in [`Store::health`], and
///   returns to the database when that works again; it returns an error only if memory does not help either.
///
/// Times are passed in, so that they come from one clock.
pub trait Store: SessionStore {
    /// Returns the maximum size of one result in bytes.
    fn max_result(&self) -> u64;

    /// Keeps a result of `owner`. Deletes the text of the oldest results of all owners until all text together has at
    /// most `max_total` bytes; those results then answer as expired.
    ///
    /// # Errors
    /// [`TooLarge`](onetool_core::state::StoreError::TooLarge) if the result alone is larger than that or than
    /// [`Store::max_result`]; if there is a result with the same handle.
    fn add_result(&self, owner: &Caller, result: KeptResult, max_total: u64) -> Reply<()>;

    /// Keeps a part of a result. The result itself follows with [`Store::add_result`] when all parts are there; nobody can
    /// read the parts before.
    fn add_result_part(&self, handle: &ResultHandle, part: ResultPart, at: Timestamp) -> Reply<()>;

    /// Deletes the parts of a result that was not completed.
    fn drop_result_parts(&self, handle: &ResultHandle) -> Reply<()>;

    /// Returns a result, if `owner` owns it.
    fn result(&self, owner: &Caller, handle: &ResultHandle) -> Reply<Option<KeptResult>>;

    /// Returns the parts of a result that contain any of these lines, in order. The first line is 0. Returns nothing if
    /// `owner` does not own the result.
    fn result_parts(
        &self,
        owner: &Caller,
        handle: &ResultHandle,
        lines: Range<usize>,
    ) -> Reply<Vec<ResultPart>>;

    /// Returns the results of `owner` that can still be read at `now`, the newest first.
    fn results(&self, owner: &Caller, now: Timestamp) -> Reply<Vec<ResultInfo>>;

    /// Deletes the text of results that expired by `now`, everything about those that expired by `forget`, and parts that
    /// are older than `forget` and belong to no result.
    fn expire_results(&self, now: Timestamp, forget: Timestamp) -> Reply<()>;

    /// Keeps events, all of a batch or none, and marks the batch as written.
    fn add_events(&self, batch: Batch) -> Reply<()>;

    /// Adds up the events since a moment, of all tools or of one.
    fn event_sums(&self, since: Option<Timestamp>, tool: Option<&str>) -> Reply<EventSums>;

    /// Remembers that a query led to a tool. Keeps the `max_per_tool` latest queries of the tool, and [`MAX_QUERIES`] in
    /// all.
    fn remember_query(&self, tool: &str, query: &str, at: Timestamp, max_per_tool: usize) -> Reply<()>;

    /// Returns all remembered queries, the oldest first.
    fn remembered_queries(&self) -> Reply<Vec<RememberedQuery>>;

    /// Returns the version of the server that a command started last, if that server must be started with `initialize`
    /// because it exits when it gets a newer request. `command` identifies the command without revealing it.
    fn legacy_server(&self, command: &str) -> Reply<Option<String>>;

    /// Remembers which version of a server must be started with `initialize`, or with `None` forgets it. Keeps the
    /// [`MAX_LEGACY_SERVERS`] latest.
    fn set_legacy_server(&self, command: &str, version: Option<&str>, at: Timestamp) -> Reply<()>;

    /// Returns the sources that a person switched on or off, whatever the configuration says.
    fn source_switches(&self) -> Reply<SourceSwitches>;

    /// Switches a source on or off.
    fn set_source_switch(&self, source: &str, is_enabled: bool) -> Reply<()>;

    /// Returns a version number of the switches that grows with every change. It says that something changed, not what.
    fn watch_source_switches(&self) -> watch::Receiver<u64>;

    /// Adds a call that ended to the history of its caller's principal, and announces it to [`Store::watch_calls`]. A call
    /// without content is announced and not kept.
    ///
    /// The history keeps the latest [`MAX_CALLS`] calls of all owners, and in addition the pinned ones.
    fn add_call(&self, owner: &Caller, call: NewCall) -> Reply<()>;

    /// Returns calls of the owner's principal, the newest first.
    fn calls(&self, owner: &Caller, filter: &CallFilter) -> Reply<Vec<PastCall>>;

    /// Returns a call of the owner's principal with its content.
    fn call(&self, owner: &Caller, id: &str) -> Reply<Option<CallRecord>>;

    /// Pins a call, so that it stays when newer ones come, or unpins it. At most [`MAX_PINNED_CALLS`] calls are pinned;
    /// beyond that the call does not change. Returns the call after the change, if it is the owner's.
    fn pin_call(&self, owner: &Caller, id: &str, is_pinned: bool) -> Reply<Option<PastCall>>;

    /// Deletes the calls of the owner's principal that are not pinned.
    fn clear_calls(&self, owner: &Caller) -> Reply<()>;

    /// Starts to listen to the calls of the owner's principal.
    fn watch_calls(&self, owner: &Caller) -> CallWatch;

    /// Returns how the store is, as far as it is known without asking.
    fn health(&self) -> StoreHealth;

    /// Returns the files of this machine that belong to the store. No tool may open them.
    fn files(&self) -> Vec<PathBuf> {
        Vec::new()
    }

    /// Does what was submitted, and releases what the store holds open. The store can be used afterwards, which opens it
    /// again.
    fn close(&self) -> Reply<()>;
}
