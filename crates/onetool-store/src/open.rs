//! Where a store is, and how to open it.

use std::path::PathBuf;
use std::sync::Arc;

use crate::local::LocalState;
use crate::memory::MemoryStore;
use crate::sqlite::SqliteStore;
use crate::store::Store;

/// Where a store is.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum StoreLocation {
    /// In the memory of the process.
    #[default]
    Memory,
    /// In a SQLite file, which is created when it is first needed.
    Sqlite(PathBuf),
}

/// Opens a store. What only this process shares is in `local`.
pub fn open(location: &StoreLocation, local: Arc<LocalState>) -> Arc<dyn Store> {
    match location {
        StoreLocation::Memory => Arc::new(MemoryStore::default().with_local(local)),
        StoreLocation::Sqlite(path) => Arc::new(SqliteStore::at(path).with_local(local)),
    }
}
