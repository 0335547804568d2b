//! Runs the suite against every store of this crate.

use std::path::PathBuf;
use std::sync::Arc;

use onetool_core::state::MAX_SESSIONS;
use tempfile::TempDir;

use super::{StoreFactory, Survival};
use crate::{MemoryStore, SharedStore, SqliteStore, Store, StoreLocation, open};

/// Makes every store with a function.
struct Stores(fn() -> Arc<dyn Store>);

impl StoreFactory for Stores {
    fn open(&self) -> Arc<dyn Store> {
        self.0()
    }

    fn survival(&self) -> Survival {
        Survival { records: false, shared_state: false }
    }

    fn max_sessions(&self) -> Option<usize> {
        Some(MAX_SESSIONS)
    }
}

/// Opens the same file every time.
struct Files(TempDir);

impl Files {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn path(&self) -> PathBuf {
        self.0.path().join("onetool.db")
    }
}

impl StoreFactory for Files {
    fn open(&self) -> Arc<dyn Store> {
        open(&StoreLocation::Sqlite(self.path()), Arc::default())
    }

    fn survival(&self) -> Survival {
        Survival { records: true, shared_state: false }
    }

    fn max_sessions(&self) -> Option<usize> {
        Some(MAX_SESSIONS)
    }
}

mod memory {
    use super::*;

    crate::store_suite!(Stores(|| Arc::new(MemoryStore::default())));
}

mod sqlite_file {
    use super::*;

    crate::store_suite!(Files::new());
}

mod sqlite_memory {
    use super::*;

    crate::store_suite!(Stores(|| Arc::new(SqliteStore::in_memory())));
}

mod shared {
    use super::*;

    crate::store_suite!(Stores(|| Arc::new(SharedStore::new(Arc::new(MemoryStore::default())))));
}

/// A store is one object that anything can be built on.
#[tokio::test]
async fn str_3_a_store_is_one_object_that_also_serves_as_the_store_of_sessions() {
    let store: Arc<dyn Store> = Arc::new(MemoryStore::default());
    let sessions: Arc<dyn crate::SessionStore> = store.clone();
    let keys = sessions.sealing_keys().await.unwrap();
    assert!(Arc::ptr_eq(&keys, &store.sealing_keys().await.unwrap()));
}
