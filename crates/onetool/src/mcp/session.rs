//! What belongs to one session: its log level and the resources it watches.

use std::collections::HashSet;
use std::sync::{Mutex, PoisonError};

use onetool_core::LogLevel;

/// The state of one session. Sessionless revisions get a fresh one with every request.
#[derive(Default)]
pub(super) struct Session {
    log_level: Mutex<Option<LogLevel>>,
    watched: Mutex<HashSet<String>>,
}

impl Session {
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
