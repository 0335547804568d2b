//! Locks after a panic: what they guard is whole here, because nobody leaves it half changed.

use std::sync::{LockResult, PoisonError};

/// Takes a lock although somebody panicked while holding it.
pub trait Unpoisoned {
    /// What guards the value.
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
