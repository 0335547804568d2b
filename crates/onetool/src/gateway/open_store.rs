//! Opens the store of a gateway.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use onetool_store::{LocalState, Store, StoreLocation};

use crate::config::StorageConfig;

type Open = dyn Fn(&StorageConfig, Arc<LocalState>) -> Arc<dyn Store> + Send + Sync;

/// Opens the store of a gateway: when the gateway starts, and again when a reload changes `storage`.
///
/// The default is the SQLite file from the configuration, or an in-memory store if it does not name a file.
#[derive(Clone)]
pub struct OpenStore {
    open: Arc<Open>,
    default: StoreLocation,
}

impl OpenStore {
    /// Opens stores with a function. A store that does not share its sessions, switches and history with other processes
    /// keeps them in the [`LocalState`] that it is given, so that they survive a reload.
    ///
    /// ```
    /// use std::sync::Arc;
    ///
    /// use onetool::store::MemoryStore;
    /// use onetool::{GatewayOptions, OpenStore};
    ///
    /// let mut options = GatewayOptions::default();
    /// options.store = OpenStore::new(|_config, local| Arc::new(MemoryStore::default().with_local(local)));
    /// ```
    pub fn new(
        open: impl Fn(&StorageConfig, Arc<LocalState>) -> Arc<dyn Store> + Send + Sync + 'static,
    ) -> Self {
        Self { open: Arc::new(open), default: StoreLocation::Memory }
    }

    /// Uses the SQLite file from the configuration, or `file` if the configuration does not name one.
    pub fn sqlite(file: impl Into<PathBuf>) -> Self {
        Self::at(StoreLocation::Sqlite(file.into()))
    }

    fn at(default: StoreLocation) -> Self {
        let location = default.clone();
        let opened = Self::new(move |config, local| {
            onetool_store::open(config.location().as_ref().unwrap_or(&location), local)
        });
        Self { default, ..opened }
    }

    /// Returns the file to use if the configuration does not name one. It may contain data of an earlier run.
    pub(super) fn default_file(&self) -> Option<&Path> {
        match &self.default {
            StoreLocation::Sqlite(file) => Some(file),
            _ => None,
        }
    }

    pub(super) fn open(&self, config: &StorageConfig, local: &Arc<LocalState>) -> Arc<dyn Store> {
        (self.open)(config, local.clone())
    }
}

impl Default for OpenStore {
    fn default() -> Self {
        Self::at(StoreLocation::Memory)
    }
}
