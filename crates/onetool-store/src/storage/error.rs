//! Why something could not be kept or read.

/// Why the storage could not do its work, not even in memory.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StorageError {
    /// The database refused.
    #[error("the storage failed")]
    Failed(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// Something is larger than all the room there is.
    #[error("{size} bytes are more than the storage can hold ({max} bytes)")]
    TooLarge {
        /// The size of the thing.
        size: u64,
        /// The room there is.
        max: u64,
    },
    /// The thread that does the work is gone.
    #[error("the storage has stopped")]
    Stopped,
}

impl From<rusqlite::Error> for StorageError {
    fn from(error: rusqlite::Error) -> Self {
        Self::Failed(Box::new(error))
    }
}
