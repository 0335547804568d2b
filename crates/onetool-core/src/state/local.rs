//! The state of sessions in the memory of one process.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock};

use indexmap::IndexMap;

use super::{
    ActiveSet, Reply, SealingKeys, SessionFeed, SessionKey, SessionState, SessionStore, SessionWatch, ready,
};
use crate::sync::Unpoisoned as _;
use crate::{SessionId, ToolName};

/// Maximum number of sessions whose loaded tools are kept, and of sessions whose state is.
///
/// The list that has not changed for the longest time, or the oldest session, is deleted first.
pub const MAX_SESSIONS: usize = 20_000;

/// Keeps what sessions share until the process ends.
#[derive(Default)]
pub struct LocalSessions {
    lists: Mutex<Lists>,
    states: Mutex<IndexMap<SessionId, Arc<SessionState>>>,
    keys: OnceLock<Arc<SealingKeys>>,
    feed: SessionFeed,
}

#[derive(Default)]
struct Lists {
    /// The list that changed last is at the end.
    by_session: IndexMap<SessionKey, Arc<ActiveSet>>,
    /// On how many lists each tool is.
    counts: HashMap<ToolName, usize>,
    empty: Arc<ActiveSet>,
}

impl Lists {
    fn remove(&mut self, session: &SessionKey) -> Option<Arc<ActiveSet>> {
        let removed = self.by_session.shift_remove(session)?;
        self.uncount(&removed);
        Some(removed)
    }

    fn insert(&mut self, session: SessionKey, list: Arc<ActiveSet>) {
        for name in &*list {
            *self.counts.entry(name.clone()).or_default() += 1;
        }
        self.by_session.insert(session, list);
        if self.by_session.len() > MAX_SESSIONS
            && let Some((_, oldest)) = self.by_session.shift_remove_index(0)
        {
            self.uncount(&oldest);
        }
    }

    fn uncount(&mut self, list: &ActiveSet) {
        for name in list {
            if let Some(count) = self.counts.get_mut(name) {
                *count -= 1;
                if *count == 0 {
                    self.counts.remove(name);
                }
            }
        }
    }

    /// Changes a list; returns whether it is different.
    fn change(&mut self, session: &SessionKey, load: &[ToolName], unload: &[ToolName]) -> bool {
        let before = self.remove(session).unwrap_or_default();
        let unload: HashSet<&ToolName> = unload.iter().collect();
        let kept = before.iter().filter(|name| !unload.contains(name));
        let after: ActiveSet = kept.chain(load).cloned().collect();
        let differs = after != *before;
        if !after.is_empty() {
            let list = if differs { Arc::new(after) } else { before };
            self.insert(session.clone(), list);
        }
        differs
    }
}

impl LocalSessions {
    fn lists(&self) -> MutexGuard<'_, Lists> {
        self.lists.lock().unpoisoned()
    }
}

impl SessionStore for LocalSessions {
    fn active(&self, session: &SessionKey) -> Reply<Arc<ActiveSet>> {
        let lists = self.lists();
        ready(Ok(lists.by_session.get(session).unwrap_or(&lists.empty).clone()))
    }

    fn change_active(&self, session: &SessionKey, load: &[ToolName], unload: &[ToolName]) -> Reply<bool> {
        let differs = self.lists().change(session, load, unload);
        if differs {
            self.feed.notify(session);
        }
        ready(Ok(differs))
    }

    fn may_be_active(&self, tool: &ToolName) -> bool {
        self.lists().counts.contains_key(tool)
    }

    fn watch_active(&self, sessions: Vec<SessionKey>) -> SessionWatch {
        self.feed.watch(sessions)
    }

    fn sealing_keys(&self) -> Reply<Arc<SealingKeys>> {
        ready(Ok(self.keys.get_or_init(|| Arc::new(SealingKeys::random())).clone()))
    }

    fn session(&self, id: &SessionId) -> Reply<Option<Arc<SessionState>>> {
        ready(Ok(self.states.lock().unpoisoned().get(id).cloned()))
    }

    fn save_session(&self, id: &SessionId, state: SessionState) -> Reply<()> {
        let mut states = self.states.lock().unpoisoned();
        states.insert(id.clone(), Arc::new(state));
        if states.len() > MAX_SESSIONS {
            states.shift_remove_index(0);
        }
        ready(Ok(()))
    }

    fn end_session(&self, id: &SessionId) -> Reply<()> {
        self.states.lock().unpoisoned().shift_remove(id);
        self.lists().remove(&SessionKey::Session(id.clone()));
        ready(Ok(()))
    }
}
