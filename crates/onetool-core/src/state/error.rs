//! Why a store could not do something.

use crate::BoxError;

/// An operation that a store could not carry out.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// The database or whatever is behind the store failed.
    #[error("the store failed")]
    Failed(#[source] BoxError),
    /// Something is larger than the store.
    #[error("{size} bytes do not fit into the store (maximum {max} bytes)")]
    TooLarge {
        /// Its size in bytes.
        size: u64,
        /// The maximum size in bytes.
        max: u64,
    },
    /// The store has stopped.
    #[error("the store has stopped")]
    Stopped,
}
