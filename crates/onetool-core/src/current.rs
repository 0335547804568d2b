//! A value in force that a reload can replace.

use crate::sync::Unpoisoned as _;
use std::sync::{Arc, RwLock, Weak};

/// A value in force. Clones share it; whoever has got it keeps what was in force at that moment.
#[derive(Debug, Default)]
pub struct Current<T>(Arc<RwLock<Arc<T>>>);

impl<T> Clone for Current<T> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<T> Current<T> {
    /// Makes a value that is in force.
    pub fn new(value: T) -> Self {
        Self(Arc::new(RwLock::new(Arc::new(value))))
    }

    /// Returns the value in force.
    pub fn get(&self) -> Arc<T> {
        self.0.read().unpoisoned().clone()
    }

    /// Puts another value in force.
    pub fn set(&self, value: T) {
        *self.0.write().unpoisoned() = Arc::new(value);
    }

    /// Makes a handle that does not keep the value.
    pub fn downgrade(&self) -> WeakCurrent<T> {
        WeakCurrent(Arc::downgrade(&self.0))
    }
}

/// A handle of a value in force that does not keep it.
#[derive(Debug)]
pub struct WeakCurrent<T>(Weak<RwLock<Arc<T>>>);

impl<T> WeakCurrent<T> {
    /// Returns the value, if anybody still holds it.
    pub fn upgrade(&self) -> Option<Current<T>> {
        self.0.upgrade().map(Current)
    }
}
