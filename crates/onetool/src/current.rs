//! A value in force that a reload can replace.

use std::sync::{Arc, PoisonError, RwLock, Weak};

/// A value in force. Clones share it; whoever has got it keeps what was in force at that moment.
#[derive(Debug, Default)]
pub(crate) struct Current<T>(Arc<RwLock<Arc<T>>>);

impl<T> Clone for Current<T> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<T> Current<T> {
    pub(crate) fn new(value: T) -> Self {
        Self(Arc::new(RwLock::new(Arc::new(value))))
    }

    pub(crate) fn get(&self) -> Arc<T> {
        self.0.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(crate) fn set(&self, value: T) {
        *self.0.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(value);
    }

    /// Makes a handle that does not keep the value.
    pub(crate) fn downgrade(&self) -> WeakCurrent<T> {
        WeakCurrent(Arc::downgrade(&self.0))
    }
}

/// A handle of a value in force that does not keep it.
#[derive(Debug)]
pub(crate) struct WeakCurrent<T>(Weak<RwLock<Arc<T>>>);

impl<T> WeakCurrent<T> {
    pub(crate) fn upgrade(&self) -> Option<Current<T>> {
        self.0.upgrade().map(Current)
    }
}
