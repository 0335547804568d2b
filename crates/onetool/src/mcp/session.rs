//! What belongs to one session: its number, its log level and the resources it watches.

use std::collections::HashSet;
use std::sync::{Mutex, PoisonError};

use onetool_core::LogLevel;

use crate::catalog::SessionKey;

/// The state of one session. Sessionless revisions get a fresh one with every request.
pub(super) struct Session {
    number: u64,
    log_level: Mutex<Option<LogLevel>>,
    watched: Mutex<HashSet<String>>,
}

impl Session {
    pub(super) fn new(number: u64) -> Self {
        Self { number, log_level: Mutex::default(), watched: Mutex::default() }
    }

    pub(super) fn number(&self) -> u64 {
        self.number
    }

    pub(super) fn key(&self) -> SessionKey {
        SessionKey::Session(self.number)
    }

    pub(super) fn log_level(&self) -> Option<LogLevel> {
        *self.log_level.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn set_log_level(&self, level: LogLevel) {
        *self.log_level.lock().unwrap_or_else(PoisonError::into_inner) = Some(level);
    }

    pub(super) fn watch(&self, uri: String) {
        self.watched.lock().unwrap_or_else(PoisonError::into_inner).insert(uri);
    }

    pub(super) fn unwatch(&self, uri: &str) {
        self.watched.lock().unwrap_or_else(PoisonError::into_inner).remove(uri);
    }

    pub(super) fn is_watching(&self, uri: &str) -> bool {
        self.watched.lock().unwrap_or_else(PoisonError::into_inner).contains(uri)
    }
}
