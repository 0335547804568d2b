//! Everything that outlives a call or is shared between servers: the trait [`Store`], its implementations, and the results
//! and statistics that are built on it.
//!
//! [`SqliteStore`] is for programs that run once, [`MemoryStore`] for those that keep nothing. An implementation for
//! another database runs the tests in `suite` (feature `suite`).

pub mod events;
mod local;
mod memory;
mod open;
pub mod results;
mod shared;
mod sqlite;
pub mod stats;
pub mod store;
#[cfg(any(test, feature = "suite"))]
pub mod suite;

pub use onetool_core::state::{Reply, SessionStore, StoreError};

pub use local::LocalState;
pub use memory::MemoryStore;
pub use open::{StoreLocation, open};
pub use shared::SharedStore;
pub use sqlite::SqliteStore;
pub use store::Store;
