//! Operator actions on a source: reconnecting it, enabling or disabling it, and reading its stderr.

use std::sync::{Arc, Weak};

use futures::FutureExt as _;
use indexmap::IndexMap;
use onetool_core::error_chain;
use onetool_core::state::StoreError;
use onetool_store::store::SourceSwitches;
use tokio::sync::watch;

#[cfg(feature = "web")]
use super::sources::Work;
use super::sources::{Sources, Table};

/// A failed action on a source.
#[derive(Debug, thiserror::Error)]
pub(super) enum SourceError {
    /// The configuration does not name it.
    #[cfg(feature = "web")]
    #[error("there is no server or API '{name}' in the configuration")]
    Unknown { name: String },
    /// The switch could not be stored or read.
    #[error("cannot store the switch")]
    Store(#[from] StoreError),
}

#[cfg(feature = "web")]
impl Sources {
    /// Reconnects a source: immediately if it waits or failed, and also if it is connected.
    pub(super) fn reconnect(self: &Arc<Self>, name: &str) -> Result<(), SourceError> {
        let mut table = self.lock();
        table.check_known(name)?;
        match table.running.get(name).map(|it| &it.work) {
            Some(Work::Connection(upstream)) => upstream.reconnect(),
            // The description is loaded again from scratch; the old tools stay until it is loaded.
            Some(Work::Load { .. }) | None => {
                let ended = table.running.shift_remove(name);
                self.start_missing(&mut table);
                if let (Some(ended), Some(started)) = (ended, table.running.get_mut(name)) {
                    started.offer = ended.offer;
                }
            }
            Some(Work::Nothing) => {}
        }
        Ok(())
    }

    /// Enables or disables a source, overriding the configuration, and returns when that has taken effect. Idempotent.
    pub(super) async fn set_enabled(
        self: &Arc<Self>,
        name: &str,
        is_enabled: bool,
    ) -> Result<(), SourceError> {
        self.lock().check_known(name)?;
        self.store.set_source_switch(name, is_enabled).await?;
        self.read_switches().await
    }

    /// Returns the latest lines of a server's stderr, or the notes about an API.
    pub(super) fn last_lines(&self, name: &str) -> Result<Vec<String>, SourceError> {
        let table = self.lock();
        table.check_known(name)?;
        let running = table.running.get(name);
        Ok(running.map_or_else(Vec::new, |it| match &it.work {
            Work::Connection(upstream) => upstream.stderr_lines(),
            _ => it.notes.clone(),
        }))
    }
}

#[cfg(feature = "web")]
impl Table {
    fn check_known(&self, name: &str) -> Result<(), SourceError> {
        if self.configured.contains_key(name) {
            return Ok(());
        }
        Err(SourceError::Unknown { name: name.to_owned() })
    }
}

impl Sources {
    /// Applies the switches from now on, including changes by other gateways with the same store.
    ///
    /// Reads them immediately if the store has them in memory; otherwise, sources start once they have been read.
    pub(super) fn follow_switches(self: &Arc<Self>, table: &mut Table) {
        if std::mem::replace(&mut table.follows_switches, true) {
            return;
        }
        let changes = self.store.watch_source_switches();
        if let Some(Ok(switches)) = self.store.source_switches().now_or_never() {
            self.apply_switches(table, switches);
        }
        tokio::spawn(follow(Arc::downgrade(self), changes));
    }

    /// Waits until the switches have been read for the first time.
    pub(super) async fn switches_read(self: &Arc<Self>) {
        let has_read = self.lock().switched.is_some();
        if !has_read && let Err(error) = self.read_switches().await {
            tracing::warn!(
                "cannot read which sources are switched on or off; using the configuration: {}",
                error_chain(&error)
            );
            let mut table = self.lock();
            if table.switched.is_none() {
                self.apply_switches(&mut table, SourceSwitches::default());
            }
        }
    }

    /// Reads the switches and applies them.
    async fn read_switches(self: &Arc<Self>) -> Result<(), SourceError> {
        // One after the other, so that older switches are never applied after newer ones.
        let _turn = self.switching.lock().await;
        let switches = self.store.source_switches().await?;
        self.apply_switches(&mut self.lock(), switches);
        Ok(())
    }

    /// Stops sources that were switched off, and starts those that were switched on.
    fn apply_switches(self: &Arc<Self>, table: &mut Table, switches: SourceSwitches) {
        let Table { configured, running, .. } = &mut *table;
        let (mut switched, mut ended) = (Vec::new(), IndexMap::new());
        for (name, source) in configured {
            if let Some(is_enabled) = switches.get(name).filter(|it| **it != source.is_enabled()) {
                source.set_enabled(*is_enabled);
                switched.push(source.source(name));
                ended.extend(running.shift_remove_entry(name));
            }
        }
        let is_first = table.switched.replace(switches).is_none();
        if switched.is_empty() && !is_first {
            return;
        }
        self.end(ended);
        if !switched.is_empty() {
            let Ok(()) = self.server.shared_catalog().replace(|catalog| {
                for source in &switched {
                    catalog.remove_source(source);
                }
                Ok::<_, std::convert::Infallible>(())
            });
        }
        self.start_missing(table);
        self.after_change(table);
    }
}

/// Applies the switches whenever they change.
async fn follow(sources: Weak<Sources>, mut changes: watch::Receiver<u64>) {
    if let Some(sources) = sources.upgrade() {
        sources.switches_read().await;
    }
    while changes.changed().await.is_ok() {
        let Some(sources) = sources.upgrade() else { return };
        if let Err(error) = sources.read_switches().await {
            tracing::warn!("cannot read which sources are switched on or off: {}", error_chain(&error));
        }
    }
}
