//! A store in memory, for programs that keep nothing and for tests.

mod events;
mod legacy_servers;
mod queries;
mod results;

use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard};

use onetool_core::clock::Timestamp;
use onetool_core::state::{
    ActiveSet, Reply, SealingKeys, SessionKey, SessionState, SessionWatch, StoreError, ready,
};
use onetool_core::sync::Unpoisoned as _;
use onetool_core::{Caller, SessionId, ToolName};
use tokio::sync::watch;

use crate::events::Batch;
use crate::local::{LocalState, local_methods, local_sessions};
use crate::store::{
    CallFilter, CallRecord, CallWatch, EventSums, KeptResult, NewCall, PastCall, RememberedQuery,
    ResultHandle, ResultInfo, ResultPart, SourceSwitches, Store, StoreHealth,
};
use events::Events;
use legacy_servers::LegacyServers;
use queries::Queries;
use results::Results;

/// Maximum size in bytes of all kept results together, whatever is configured.
const MAX_RESULTS: u64 = 256 << 20;

/// Keeps everything in memory, until it is dropped.
#[derive(Default)]
pub struct MemoryStore {
    local: Arc<LocalState>,
    kept: Mutex<Kept>,
}

#[derive(Default)]
struct Kept {
    results: Results,
    events: Events,
    queries: Queries,
    legacy_servers: LegacyServers,
}

impl MemoryStore {
    /// Uses sessions, switches and history that outlive the store.
    #[must_use]
    pub fn with_local(self, local: Arc<LocalState>) -> Self {
        Self { local, ..self }
    }

    fn kept(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unpoisoned()
    }
}

local_sessions!(MemoryStore);

impl Store for MemoryStore {
    fn max_result(&self) -> u64 {
        MAX_RESULTS
    }

    fn add_result(&self, owner: &Caller, result: KeptResult, max_total: u64) -> Reply<()> {
        let (size, max) = (result.info.size_bytes, max_total.min(MAX_RESULTS));
        if size > max {
            return ready(Err(StoreError::TooLarge { size, max }));
        }
        ready(self.kept().results.add(owner, result, max))
    }

    fn add_result_part(&self, handle: &ResultHandle, part: ResultPart, at: Timestamp) -> Reply<()> {
        ready(self.kept().results.add_part(handle, part, at))
    }

    fn drop_result_parts(&self, handle: &ResultHandle) -> Reply<()> {
        self.kept().results.drop_parts(handle);
        ready(Ok(()))
    }

    fn result(&self, owner: &Caller, handle: &ResultHandle) -> Reply<Option<KeptResult>> {
        ready(Ok(self.kept().results.get(owner, handle).cloned()))
    }

    fn result_parts(
        &self,
        owner: &Caller,
        handle: &ResultHandle,
        lines: Range<usize>,
    ) -> Reply<Vec<ResultPart>> {
        ready(Ok(self.kept().results.parts(owner, handle, lines)))
    }

    fn results(&self, owner: &Caller, now: Timestamp) -> Reply<Vec<ResultInfo>> {
        ready(Ok(self.kept().results.list(owner, now)))
    }

    fn expire_results(&self, now: Timestamp, forget: Timestamp) -> Reply<()> {
        self.kept().results.expire(now, forget);
        ready(Ok(()))
    }

    fn add_events(&self, batch: Batch) -> Reply<()> {
        self.kept().events.add(batch.events());
        batch.set_written();
        ready(Ok(()))
    }

    fn event_sums(&self, since: Option<Timestamp>, tool: Option<&str>) -> Reply<EventSums> {
        ready(Ok(self.kept().events.sums(since, tool)))
    }

    fn remember_query(&self, tool: &str, query: &str, at: Timestamp, max_per_tool: usize) -> Reply<()> {
        self.kept().queries.remember(tool, query, at, max_per_tool);
        ready(Ok(()))
    }

    fn remembered_queries(&self) -> Reply<Vec<RememberedQuery>> {
        ready(Ok(self.kept().queries.all()))
    }

    fn legacy_server(&self, command: &str) -> Reply<Option<String>> {
        ready(Ok(self.kept().legacy_servers.get(command)))
    }

    fn set_legacy_server(&self, command: &str, version: Option<&str>, at: Timestamp) -> Reply<()> {
        self.kept().legacy_servers.set(command, version, at);
        ready(Ok(()))
    }

    local_methods!();

    fn health(&self) -> StoreHealth {
        StoreHealth::default()
    }

    fn close(&self) -> Reply<()> {
        ready(Ok(()))
    }
}
