//! Events on their way into the store, and the count of those that got lost.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use super::Event;
use onetool_core::clock::Timestamp;

/// Maximum number of events that wait to be written; more are dropped and counted.
const WAITING_MAX: u64 = 65_536;

/// Counts events that wait, and those that were lost.
#[derive(Debug, Default)]
pub struct Account {
    waiting: AtomicU64,
    dropped: AtomicU64,
}

impl Account {
    /// Counts an event, if there is room for it.
    pub fn admit(&self) -> bool {
        if self.waiting.fetch_add(1, Ordering::Relaxed) < WAITING_MAX {
            return true;
        }
        self.waiting.fetch_sub(1, Ordering::Relaxed);
        self.lose(1, "they come faster than they can be written");
        false
    }

    /// Returns how many events were lost.
    pub fn dropped(&self) -> u64 {
        self.dropped.load(Ordering::Relaxed)
    }

    /// Counts lost events, and logs the first time.
    fn lose(&self, events: u64, why: &str) {
        if self.dropped.fetch_add(events, Ordering::Relaxed) == 0 {
            tracing::warn!("some events are missing in the statistics: {why}; the report says how many");
        }
    }
}

/// Events that are written together. When it is dropped, its events are on the account: written, or lost.
#[derive(Debug)]
pub struct Batch {
    events: Vec<(Timestamp, Event)>,
    account: Arc<Account>,
    is_written: AtomicBool,
}

impl Batch {
    /// Creates a batch whose events are on an account.
    pub fn new(events: Vec<(Timestamp, Event)>, account: Arc<Account>) -> Self {
        Self { events, account, is_written: AtomicBool::new(false) }
    }

    /// Returns the events, each with its time.
    pub fn events(&self) -> &[(Timestamp, Event)] {
        &self.events
    }

    /// Notes that all events are written.
    pub fn set_written(&self) {
        self.is_written.store(true, Ordering::Relaxed);
    }
}

impl Drop for Batch {
    fn drop(&mut self) {
        let count = self.events.len() as u64;
        self.account.waiting.fetch_sub(count, Ordering::Relaxed);
        if count > 0 && !*self.is_written.get_mut() {
            self.account.lose(count, "the store failed");
        }
    }
}
