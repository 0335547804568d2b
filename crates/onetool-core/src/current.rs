//! A shared value that a reload can replace.

use crate::sync::Unpoisoned as _;
use std::sync::{Arc, RwLock, Weak};

/// A shared value that can be replaced. Clones share it; a value returned by [`get`](Self::get) does not change.
#[derive(Debug, Default)]
pub struct Current<T>(Arc<RwLock<Arc<T>>>);

impl<T> Clone for Current<T> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<T> Current<T> {
    /// Creates a shared value.
    pub fn new(value: T) -> Self {
        Self(Arc::new(RwLock::new(Arc::new(value))))
    }

    /// Returns the current value.
    pub fn get(&self) -> Arc<T> {
        self.0.read().unpoisoned().clone()
    }

    /// Replaces the value.
    pub fn set(&self, value: T) {
        *self.0.write().unpoisoned() = Arc::new(value);
    }

    /// Returns a handle that does not keep the value alive.
    pub fn downgrade(&self) -> WeakCurrent<T> {
        WeakCurrent(Arc::downgrade(&self.0))
    }
}

/// A handle to a [`Current`] that does not keep it alive.
#[derive(Debug)]
pub struct WeakCurrent<T>(Weak<RwLock<Arc<T>>>);

impl<T> WeakCurrent<T> {
    /// Returns the shared value, if it still exists.
    pub fn upgrade(&self) -> Option<Current<T>> {
        self.0.upgrade().map(Current)
    }
}
