//! How a store is.

/// How a store is, as far as it is known without asking.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct StoreHealth {
    /// What is wrong at present, and what that means for what is kept.
    pub problem: Option<String>,
    /// How many bytes the store takes on disk, if it is a file that exists.
    pub size_bytes: Option<u64>,
}
