//! Which tools each session has loaded onto its own list.

use std::collections::HashSet;
use std::sync::{Mutex, MutexGuard};

use indexmap::{IndexMap, IndexSet};
use onetool_core::sync::Unpoisoned as _;
use onetool_core::{CallContext, Caller, ToolName};
use tokio::sync::broadcast;

/// Sessions whose loaded tools are kept; the one that loaded nothing for the longest time makes room for a new one.
const MAX_SESSIONS: usize = 20_000;
/// News that a session may be behind before it takes them for its own.
const BACKLOG: usize = 256;

/// A session of the protocol; where the revision has none, the caller is one.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum SessionKey {
    /// A session of the protocol, by its number in this process.
    Session(u64),
    /// Everything that one caller sends.
    Caller(Caller),
    /// No session, but every one of a caller: what a person has chosen on the page.
    Every(Caller),
}

impl SessionKey {
    /// Returns the session that a call belongs to.
    pub fn of(cx: &CallContext) -> Self {
        cx.session().map_or_else(|| Self::Caller(cx.caller().clone()), Self::Session)
    }
}

/// The tools that sessions have loaded, in the order of loading.
pub struct ActiveSets {
    sets: Mutex<IndexMap<SessionKey, IndexSet<ToolName>>>,
    changes: broadcast::Sender<SessionKey>,
}

impl Default for ActiveSets {
    fn default() -> Self {
        Self { sets: Mutex::default(), changes: broadcast::Sender::new(BACKLOG) }
    }
}

impl ActiveSets {
    /// Returns what a session has loaded; some of it may not be there any more.
    pub fn of(&self, session: &SessionKey) -> IndexSet<ToolName> {
        self.lock().get(session).cloned().unwrap_or_default()
    }

    /// Returns what a session has on its list: what it loaded itself, and before that what its caller has for every
    /// session, which a person chooses on the page.
    pub fn on_list(&self, session: &SessionKey, caller: &Caller) -> IndexSet<ToolName> {
        let mut names = self.of(&SessionKey::Every(caller.clone()));
        names.extend(self.of(session));
        names
    }

    /// Hears of every session whose list changed.
    pub fn subscribe(&self) -> broadcast::Receiver<SessionKey> {
        self.changes.subscribe()
    }

    /// Takes tools off a session's list, then puts others on it; tells the session if anything changed.
    pub fn change(&self, session: &SessionKey, load: &[ToolName], unload: &[ToolName]) {
        let mut sets = self.lock();
        let before = sets.shift_remove(session).unwrap_or_default();
        let mut after = before.clone();
        let unload: HashSet<&ToolName> = unload.iter().collect();
        after.retain(|name| !unload.contains(name));
        after.extend(load.iter().cloned());
        let differs = after != before;
        if !after.is_empty() {
            // Behind all others: it was used last.
            sets.insert(session.clone(), after);
        }
        if sets.len() > MAX_SESSIONS {
            sets.shift_remove_index(0);
        }
        drop(sets);
        if differs {
            // Nobody may be listening, which is fine.
            let _ = self.changes.send(session.clone());
        }
    }

    /// Forgets a session that has ended.
    pub(crate) fn forget(&self, session: &SessionKey) {
        self.lock().shift_remove(session);
    }

    /// Returns every tool that any session has loaded.
    pub(super) fn all(&self) -> IndexSet<ToolName> {
        self.lock().values().flatten().cloned().collect()
    }

    fn lock(&self) -> MutexGuard<'_, IndexMap<SessionKey, IndexSet<ToolName>>> {
        self.sets.lock().unpoisoned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_session_that_is_idle_for_longest_makes_room() {
        let sets = ActiveSets::default();
        let names = [ToolName::new("a.b")];
        for number in 0..=MAX_SESSIONS as u64 {
            sets.change(&SessionKey::Session(number), &names, &[]);
        }
        assert!(sets.of(&SessionKey::Session(0)).is_empty());
        assert_eq!(sets.of(&SessionKey::Session(1)).len(), 1);
    }

    #[test]
    fn only_a_change_is_news() {
        let sets = ActiveSets::default();
        let mut news = sets.subscribe();
        let (session, names) = (SessionKey::Session(1), [ToolName::new("a.b")]);
        sets.change(&session, &names, &[]);
        assert_eq!(news.try_recv(), Ok(session.clone()));
        sets.change(&session, &names, &[]);
        sets.change(&session, &names, &names);
        assert!(news.try_recv().is_err());
        sets.change(&session, &[], &names);
        assert_eq!(news.try_recv(), Ok(session.clone()));
        assert!(sets.of(&session).is_empty());
    }
}
