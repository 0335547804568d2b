//! Ignores lock poisoning: our critical sections never leave a value half-updated, even on panic.

use std::sync::{LockResult, PoisonError};

/// Locks despite a panic in another thread that held the lock.
pub trait Unpoisoned {
    /// The lock guard.
    type Guard;

    /// Returns the guard, whether or not the lock is poisoned.
    fn unpoisoned(self) -> Self::Guard;
}

impl<G> Unpoisoned for LockResult<G> {
    type Guard = G;

    fn unpoisoned(self) -> G {
        self.unwrap_or_else(PoisonError::into_inner)
    }
}
