//! What a process shares only with itself, and loses when it ends: sessions, source switches and the call history.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard};

use onetool_core::Caller;
use onetool_core::state::{LocalSessions, Reply, ready};
use onetool_core::sync::Unpoisoned as _;
use tokio::sync::watch;

use crate::store::{
    CallFeed, CallFilter, CallRecord, CallWatch, MAX_CALLS, MAX_PINNED_CALLS, NewCall, PastCall,
    SourceSwitches,
};

/// What stores without a shared database keep in the memory of the process.
///
/// It outlives the store that uses it: when a gateway moves to another file, sessions, switches and history stay.
#[derive(Default)]
pub struct LocalState {
    pub(crate) sessions: LocalSessions,
    switches: Mutex<SourceSwitches>,
    switch_version: watch::Sender<u64>,
    history: Mutex<History>,
    calls: CallFeed,
}

#[derive(Default)]
struct History {
    last_id: u64,
    /// The newest call is at the end.
    calls: VecDeque<OwnedCall>,
}

struct OwnedCall {
    principal: Arc<str>,
    record: CallRecord,
}

impl OwnedCall {
    fn is(&self, owner: &Caller, id: &str) -> bool {
        self.principal == owner.principal && self.record.call.id == id
    }
}

impl History {
    fn keep(&mut self, call: OwnedCall) {
        self.calls.push_back(call);
        if self.calls.len() - self.pinned() > MAX_CALLS
            && let Some(oldest) = self.calls.iter().position(|it| !it.record.call.is_pinned)
        {
            self.calls.remove(oldest);
        }
    }

    fn pinned(&self) -> usize {
        self.calls.iter().filter(|it| it.record.call.is_pinned).count()
    }
}

impl LocalState {
    pub(crate) fn source_switches(&self) -> Reply<SourceSwitches> {
        ready(Ok(self.switches.lock().unpoisoned().clone()))
    }

    pub(crate) fn set_source_switch(&self, source: &str, is_enabled: bool) -> Reply<()> {
        let before = self.switches.lock().unpoisoned().insert(source.into(), is_enabled);
        if before != Some(is_enabled) {
            self.switch_version.send_modify(|version| *version += 1);
        }
        ready(Ok(()))
    }

    pub(crate) fn watch_source_switches(&self) -> watch::Receiver<u64> {
        self.switch_version.subscribe()
    }

    pub(crate) fn add_call(&self, owner: &Caller, new: NewCall) -> Reply<()> {
        if new.content.is_none() && !self.calls.has_listeners() {
            return ready(Ok(()));
        }
        let NewCall { tool, at, duration, is_error, surface, content } = new;
        let mut history = self.history();
        history.last_id += 1;
        let id = history.last_id.to_string();
        let call = PastCall { id, tool, at, duration, is_error, surface, is_pinned: false };
        if let Some(content) = content {
            let record = CallRecord { call: call.clone(), content };
            history.keep(OwnedCall { principal: owner.principal.clone(), record });
        }
        drop(history);
        self.calls.announce(owner, call);
        ready(Ok(()))
    }

    pub(crate) fn calls(&self, owner: &Caller, filter: &CallFilter) -> Reply<Vec<PastCall>> {
        let history = self.history();
        let is_wanted = |it: &&OwnedCall| {
            it.principal == owner.principal
                && filter.tool.as_ref().is_none_or(|tool| *tool == it.record.call.tool.as_str())
        };
        let calls = history.calls.iter().rev().filter(is_wanted).map(|it| it.record.call.clone());
        ready(Ok(calls.take(filter.limit.unwrap_or(usize::MAX)).collect()))
    }

    pub(crate) fn call(&self, owner: &Caller, id: &str) -> Reply<Option<CallRecord>> {
        let history = self.history();
        ready(Ok(history.calls.iter().find(|it| it.is(owner, id)).map(|it| it.record.clone())))
    }

    pub(crate) fn pin_call(&self, owner: &Caller, id: &str, is_pinned: bool) -> Reply<Option<PastCall>> {
        let mut history = self.history();
        let has_room = history.pinned() < MAX_PINNED_CALLS;
        let found = history.calls.iter_mut().find(|it| it.is(owner, id)).map(|it| &mut it.record.call);
        ready(Ok(found.map(|call| {
            call.is_pinned = is_pinned && (has_room || call.is_pinned);
            call.clone()
        })))
    }

    pub(crate) fn clear_calls(&self, owner: &Caller) -> Reply<()> {
        let is_kept = |it: &OwnedCall| it.principal != owner.principal || it.record.call.is_pinned;
        self.history().calls.retain(is_kept);
        ready(Ok(()))
    }

    pub(crate) fn watch_calls(&self, owner: &Caller) -> CallWatch {
        self.calls.watch(owner)
    }

    fn history(&self) -> MutexGuard<'_, History> {
        self.history.lock().unpoisoned()
    }
}

/// Implements `SessionStore` for a store that keeps its sessions in its field `local`.
macro_rules! local_sessions {
    ($store:ty) => {
        impl onetool_core::state::SessionStore for $store {
            fn active(&self, session: &SessionKey) -> Reply<Arc<ActiveSet>> {
                self.local.sessions.active(session)
            }

            fn change_active(
                &self,
                session: &SessionKey,
                load: &[ToolName],
                unload: &[ToolName],
            ) -> Reply<bool> {
                self.local.sessions.change_active(session, load, unload)
            }

            fn may_be_active(&self, tool: &ToolName) -> bool {
                self.local.sessions.may_be_active(tool)
            }

            fn watch_active(&self, sessions: Vec<SessionKey>) -> SessionWatch {
                self.local.sessions.watch_active(sessions)
            }

            fn sealing_keys(&self) -> Reply<Arc<SealingKeys>> {
                self.local.sessions.sealing_keys()
            }

            fn session(&self, id: &SessionId) -> Reply<Option<Arc<SessionState>>> {
                self.local.sessions.session(id)
            }

            fn save_session(&self, id: &SessionId, state: SessionState) -> Reply<()> {
                self.local.sessions.save_session(id, state)
            }

            fn end_session(&self, id: &SessionId) -> Reply<()> {
                self.local.sessions.end_session(id)
            }
        }
    };
}

/// Implements the methods of `Store` about switches and calls for a store that keeps them in its field `local`.
macro_rules! local_methods {
    () => {
        fn source_switches(&self) -> Reply<SourceSwitches> {
            self.local.source_switches()
        }

        fn set_source_switch(&self, source: &str, is_enabled: bool) -> Reply<()> {
            self.local.set_source_switch(source, is_enabled)
        }

        fn watch_source_switches(&self) -> watch::Receiver<u64> {
            self.local.watch_source_switches()
        }

        fn add_call(&self, owner: &Caller, call: NewCall) -> Reply<()> {
            self.local.add_call(owner, call)
        }

        fn calls(&self, owner: &Caller, filter: &CallFilter) -> Reply<Vec<PastCall>> {
            self.local.calls(owner, filter)
        }

        fn call(&self, owner: &Caller, id: &str) -> Reply<Option<CallRecord>> {
            self.local.call(owner, id)
        }

        fn pin_call(&self, owner: &Caller, id: &str, is_pinned: bool) -> Reply<Option<PastCall>> {
            self.local.pin_call(owner, id, is_pinned)
        }

        fn clear_calls(&self, owner: &Caller) -> Reply<()> {
            self.local.clear_calls(owner)
        }

        fn watch_calls(&self, owner: &Caller) -> CallWatch {
            self.local.watch_calls(owner)
        }
    };
}

pub(crate) use {local_methods, local_sessions};
