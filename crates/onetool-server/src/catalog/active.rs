//! The tools that each session loaded onto its list.

use std::sync::Arc;

use onetool_core::state::{ActiveSet, SessionKey, SessionStore, SessionWatch, StoreError};
use onetool_core::{Caller, ToolName, error_chain};

/// The tools that sessions loaded, in the order of loading.
#[derive(Clone)]
pub struct ActiveSets(Arc<dyn SessionStore>);

/// The tools on a session's list in addition to those that every client has.
pub struct OwnList {
    every: Arc<ActiveSet>,
    own: Arc<ActiveSet>,
}

impl OwnList {
    /// Returns the tools: first those that the caller has in every session, then those of this one.
    pub fn iter(&self) -> impl Iterator<Item = &ToolName> {
        self.every.iter().chain(self.own.iter().filter(|name| !self.every.contains(*name)))
    }

    /// Returns whether a tool is on the list.
    pub fn contains(&self, name: &str) -> bool {
        self.every.contains(name) || self.own.contains(name)
    }
}

impl ActiveSets {
    pub(crate) fn new(sessions: Arc<dyn SessionStore>) -> Self {
        Self(sessions)
    }

    /// Returns the tools that a session loaded; some may no longer exist. If the store fails, the set is empty.
    pub async fn of(&self, session: &SessionKey) -> Arc<ActiveSet> {
        self.0.active(session).await.unwrap_or_else(|error| {
            tracing::warn!("cannot read the loaded tools of a session: {}", error_chain(&error));
            Arc::default()
        })
    }

    /// Returns the tools on a session's list: those that the caller has in every session, which are chosen on the page,
    /// and those that the session loaded.
    pub async fn on_list(&self, session: &SessionKey, caller: &Caller) -> OwnList {
        let every = self.of(&SessionKey::Every(caller.clone())).await;
        OwnList { every, own: self.of(session).await }
    }

    /// Watches the lists of some sessions.
    pub fn watch(&self, sessions: Vec<SessionKey>) -> SessionWatch {
        self.0.watch_active(sessions)
    }

    /// Removes tools from a session's list, then adds others, and notifies the session if anything changed.
    ///
    /// # Errors
    /// If the store fails; then nothing is changed.
    pub async fn change(
        &self,
        session: &SessionKey,
        load: &[ToolName],
        unload: &[ToolName],
    ) -> Result<bool, StoreError> {
        self.0.change_active(session, load, unload).await
    }

    /// Returns whether some session may have loaded a tool.
    pub(super) fn may_contain(&self, tool: &ToolName) -> bool {
        self.0.may_be_active(tool)
    }
}
