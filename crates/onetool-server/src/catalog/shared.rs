//! The current snapshot, and notifications of its changes.

use std::sync::{Arc, RwLock};

use onetool_core::sync::Unpoisoned as _;
use tokio::sync::watch;

use super::{ActiveSets, Catalog};

/// The number of changes of each kind since the server started.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Change {
    pub(crate) tools: u64,
    pub(crate) resources: u64,
    pub(crate) prompts: u64,
}

impl Change {
    pub(crate) const TOOLS: Self = Self { tools: 1, resources: 0, prompts: 0 };
    pub(crate) const RESOURCES: Self = Self { tools: 0, resources: 1, prompts: 0 };
    pub(crate) const PROMPTS: Self = Self { tools: 0, resources: 0, prompts: 1 };
}

/// The current snapshot. New requests use it; in-flight requests keep the one they started with.
pub struct SharedCatalog {
    current: RwLock<Arc<Catalog>>,
    changes: watch::Sender<Change>,
    active: ActiveSets,
}

impl SharedCatalog {
    pub(crate) fn new(catalog: Catalog, active: ActiveSets) -> Self {
        let changes = watch::Sender::new(Change::default());
        Self { current: RwLock::new(Arc::new(catalog)), changes, active }
    }

    pub(crate) fn snapshot(&self) -> Arc<Catalog> {
        self.current.read().unpoisoned().clone()
    }

    /// Returns what sessions loaded.
    pub(crate) fn active(&self) -> &ActiveSets {
        &self.active
    }

    pub(crate) fn subscribe(&self) -> watch::Receiver<Change> {
        self.changes.subscribe()
    }

    /// Makes a change that either succeeds or leaves the catalog unchanged. Copies the snapshot only if it is in use.
    pub(crate) fn edit<T, E>(
        &self,
        change: Change,
        edit: impl FnOnce(&mut Catalog) -> Result<T, E>,
    ) -> Result<T, E> {
        let mut current = self.current.write().unpoisoned();
        let done = edit(Arc::make_mut(&mut current))?;
        drop(current);
        self.announce(change);
        Ok(done)
    }

    /// Makes a change in several steps on a copy, which replaces the snapshot only if all steps succeed.
    pub fn replace<T, E>(&self, edit: impl FnOnce(&mut Catalog) -> Result<T, E>) -> Result<T, E> {
        let mut current = self.current.write().unpoisoned();
        let mut next = Catalog::clone(&current);
        let done = edit(&mut next)?;
        let change = next.difference(&current, &self.active);
        *current = Arc::new(next);
        drop(current);
        self.announce(change);
        Ok(done)
    }

    fn announce(&self, change: Change) {
        if change == Change::default() {
            return;
        }
        self.changes.send_modify(|count| {
            count.tools += change.tools;
            count.resources += change.resources;
            count.prompts += change.prompts;
        });
    }
}
