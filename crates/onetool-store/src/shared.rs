//! A store that can be replaced by another one while it is in use.

use std::ops::Range;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, RwLock};

use onetool_core::clock::Timestamp;
use onetool_core::state::{
    ActiveSet, Reply, SealingKeys, SessionKey, SessionState, SessionStore, SessionWatch,
};
use onetool_core::sync::Unpoisoned as _;
use onetool_core::{Caller, SessionId, ToolName};
use tokio::sync::watch;

use crate::events::Batch;
use crate::store::{
    CallFilter, CallRecord, CallWatch, EventSums, KeptResult, NewCall, PastCall, RememberedQuery,
    ResultHandle, ResultInfo, ResultPart, SourceSwitches, Store, StoreHealth,
};

/// Hands every operation to the current store.
///
/// What was submitted to an earlier store is still done there. Watches belong to the store that made them; stores with the
/// same [`LocalState`](crate::LocalState) share theirs.
pub struct SharedStore {
    current: RwLock<Arc<dyn Store>>,
    /// The ends of earlier stores, for those who wait for everything.
    closing: Mutex<Vec<Reply<()>>>,
}

impl SharedStore {
    /// Begins with a store.
    pub fn new(store: Arc<dyn Store>) -> Self {
        Self { current: RwLock::new(store), closing: Mutex::default() }
    }

    /// Returns the current store.
    pub fn current(&self) -> Arc<dyn Store> {
        self.current.read().unpoisoned().clone()
    }

    /// Uses another store from now on. What is in the old one stays there.
    pub fn replace(&self, store: Arc<dyn Store>) {
        let old = std::mem::replace(&mut *self.current.write().unpoisoned(), store);
        self.closing.lock().unpoisoned().push(old.close());
    }
}

impl SessionStore for SharedStore {
    fn active(&self, session: &SessionKey) -> Reply<Arc<ActiveSet>> {
        self.current().active(session)
    }

    fn change_active(&self, session: &SessionKey, load: &[ToolName], unload: &[ToolName]) -> Reply<bool> {
        self.current().change_active(session, load, unload)
    }

    fn may_be_active(&self, tool: &ToolName) -> bool {
        self.current().may_be_active(tool)
    }

    fn watch_active(&self, sessions: Vec<SessionKey>) -> SessionWatch {
        self.current().watch_active(sessions)
    }

    fn sealing_keys(&self) -> Reply<Arc<SealingKeys>> {
        self.current().sealing_keys()
    }

    fn session(&self, id: &SessionId) -> Reply<Option<Arc<SessionState>>> {
        self.current().session(id)
    }

    fn save_session(&self, id: &SessionId, state: SessionState) -> Reply<()> {
        self.current().save_session(id, state)
    }

    fn end_session(&self, id: &SessionId) -> Reply<()> {
        self.current().end_session(id)
    }
}

impl Store for SharedStore {
    fn max_result(&self) -> u64 {
        self.current().max_result()
    }

    fn add_result(&self, owner: &Caller, result: KeptResult, max_total: u64) -> Reply<()> {
        self.current().add_result(owner, result, max_total)
    }

    fn add_result_part(&self, handle: &ResultHandle, part: ResultPart, at: Timestamp) -> Reply<()> {
        self.current().add_result_part(handle, part, at)
    }

    fn drop_result_parts(&self, handle: &ResultHandle) -> Reply<()> {
        self.current().drop_result_parts(handle)
    }

    fn result(&self, owner: &Caller, handle: &ResultHandle) -> Reply<Option<KeptResult>> {
        self.current().result(owner, handle)
    }

    fn result_parts(
        &self,
        owner: &Caller,
        handle: &ResultHandle,
        lines: Range<usize>,
    ) -> Reply<Vec<ResultPart>> {
        self.current().result_parts(owner, handle, lines)
    }

    fn results(&self, owner: &Caller, now: Timestamp) -> Reply<Vec<ResultInfo>> {
        self.current().results(owner, now)
    }

    fn expire_results(&self, now: Timestamp, forget: Timestamp) -> Reply<()> {
        self.current().expire_results(now, forget)
    }

    fn add_events(&self, batch: Batch) -> Reply<()> {
        self.current().add_events(batch)
    }

    fn event_sums(&self, since: Option<Timestamp>, tool: Option<&str>) -> Reply<EventSums> {
        self.current().event_sums(since, tool)
    }

    fn remember_query(&self, tool: &str, query: &str, at: Timestamp, max_per_tool: usize) -> Reply<()> {
        self.current().remember_query(tool, query, at, max_per_tool)
    }

    fn remembered_queries(&self) -> Reply<Vec<RememberedQuery>> {
        self.current().remembered_queries()
    }

    fn legacy_server(&self, command: &str) -> Reply<Option<String>> {
        self.current().legacy_server(command)
    }

    fn set_legacy_server(&self, command: &str, version: Option<&str>, at: Timestamp) -> Reply<()> {
        self.current().set_legacy_server(command, version, at)
    }

    fn source_switches(&self) -> Reply<SourceSwitches> {
        self.current().source_switches()
    }

    fn set_source_switch(&self, source: &str, is_enabled: bool) -> Reply<()> {
        self.current().set_source_switch(source, is_enabled)
    }

    fn watch_source_switches(&self) -> watch::Receiver<u64> {
        self.current().watch_source_switches()
    }

    fn add_call(&self, owner: &Caller, call: NewCall) -> Reply<()> {
        self.current().add_call(owner, call)
    }

    fn calls(&self, owner: &Caller, filter: &CallFilter) -> Reply<Vec<PastCall>> {
        self.current().calls(owner, filter)
    }

    fn call(&self, owner: &Caller, id: &str) -> Reply<Option<CallRecord>> {
        self.current().call(owner, id)
    }

    fn pin_call(&self, owner: &Caller, id: &str, is_pinned: bool) -> Reply<Option<PastCall>> {
        self.current().pin_call(owner, id, is_pinned)
    }

    fn clear_calls(&self, owner: &Caller) -> Reply<()> {
        self.current().clear_calls(owner)
    }

    fn watch_calls(&self, owner: &Caller) -> CallWatch {
        self.current().watch_calls(owner)
    }

    fn health(&self) -> StoreHealth {
        self.current().health()
    }

    fn files(&self) -> Vec<PathBuf> {
        self.current().files()
    }

    fn close(&self) -> Reply<()> {
        let mut closing = std::mem::take(&mut *self.closing.lock().unpoisoned());
        closing.push(self.current().close());
        Box::pin(async move {
            let mut outcome = Ok(());
            for closed in closing {
                outcome = outcome.and(closed.await);
            }
            outcome
        })
    }
}
