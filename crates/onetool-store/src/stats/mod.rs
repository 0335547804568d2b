//! Statistics: what was called, how it ended, and what that saved or cost.

mod error;
mod html;
mod report;

#[cfg(test)]
mod tests;

use std::collections::HashSet;
use std::hash::{BuildHasher as _, RandomState};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use onetool_core::clock::{Clock, Timestamp};
use onetool_core::current::Current;
use onetool_core::state::Reply;
use onetool_core::sync::Unpoisoned as _;
use schemars::JsonSchema;
use serde::Deserialize;
use tokio::runtime::Handle;

use crate::store::Store;

pub use crate::events::{Event, Outcome, RunId};
pub use error::StatsError;
pub use html::{START, html};
pub use report::{
    ContextParts, DayStats, PackStats, Period, PeriodError, RunStats, StatsReport, TimeParts, ToolStats,
    tokens,
};

use crate::events::{Account, Batch};

/// Maximum time that an event waits before it is written.
const DELAY: Duration = Duration::from_millis(100);
/// Maximum number of events that are written together.
const BATCH: usize = 1000;
/// Maximum number of sessions that are remembered, so that each counts once.
const SESSIONS_MAX: usize = 100_000;

/// Statistics of calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[non_exhaustive]
pub struct StatsOptions {
    /// Whether statistics are recorded.
    pub enabled: bool,
    /// Duration of one model turn in milliseconds, for the estimate of saved time (`time_saved_ms`).
    pub turn_ms: u64,
}

impl Default for StatsOptions {
    fn default() -> Self {
        Self { enabled: true, turn_ms: 4000 }
    }
}

/// Records what happens and adds it up; clones share it.
///
/// Events wait in memory for at most 100 ms and are written together. [`Stats::report`] writes them first;
/// [`Stats::flush`] does before the gateway stops.
#[derive(Clone)]
pub struct Stats(Arc<Shared>);

struct Shared {
    store: Arc<dyn Store>,
    clock: Clock,
    options: Current<StatsOptions>,
    buffer: Mutex<Buffer>,
    account: Arc<Account>,
    kept_out: AtomicU64,
    own: AtomicU64,
    sessions: Mutex<HashSet<u64>>,
    hasher: RandomState,
}

#[derive(Debug, Default)]
struct Buffer {
    events: Vec<(Timestamp, Event)>,
    /// Whether a task is going to write them.
    is_scheduled: bool,
}

impl Stats {
    /// Keeps statistics in `store`.
    pub fn new(store: Arc<dyn Store>, clock: Clock, options: StatsOptions) -> Self {
        Self(Arc::new(Shared {
            store,
            clock,
            options: Current::new(options),
            buffer: Mutex::default(),
            account: Arc::default(),
            kept_out: AtomicU64::new(0),
            own: AtomicU64::new(0),
            sessions: Mutex::default(),
            hasher: RandomState::new(),
        }))
    }

    /// Replaces the options; what was recorded stays.
    pub fn set_options(&self, options: StatsOptions) {
        self.0.options.set(options);
    }

    /// Records that something happened now. It neither waits nor fails; events that are too many are dropped and counted.
    pub fn record(&self, event: Event) {
        let shared = &*self.0;
        if !shared.options.get().enabled {
            return;
        }
        if !shared.account.admit() {
            return;
        }
        let event = (shared.clock.now(), Event::with_short_names(event));
        let mut buffer = shared.buffer();
        buffer.events.push(event);
        if buffer.events.len() >= BATCH {
            drop(shared.hand_over(&mut buffer));
        } else if !buffer.is_scheduled
            && let Ok(runtime) = Handle::try_current()
        {
            buffer.is_scheduled = true;
            drop(buffer);
            let stats = self.clone();
            runtime.spawn(async move {
                tokio::time::sleep(DELAY).await;
                stats.flush().await;
            });
        }
    }

    /// Says how many tokens the definitions of all tools behind the gateway have, which clients do not get, and how
    /// many those of our own tools have, which they get instead. Sessions from now on count with these numbers.
    pub fn set_definition_tokens(&self, kept_out: u64, own: u64) {
        self.0.kept_out.store(kept_out, Ordering::Relaxed);
        self.0.own.store(own, Ordering::Relaxed);
    }

    /// Notes that a session is there; call it on every request.
    ///
    /// A client holds the definitions of its tools once in each session, so each session counts once: the first time
    /// that its key is seen by this gateway, with the numbers of [`Stats::set_definition_tokens`] at that moment. The
    /// key is the session's id where the protocol has one, else the caller; such a caller counts once however many
    /// conversations it has, which errs on the modest side. Keys are not written anywhere.
    pub fn saw_session(&self, key: &str, client: Option<&str>) {
        let shared = &*self.0;
        if !shared.options.get().enabled {
            return;
        }
        let mut sessions = shared.sessions.lock().unpoisoned();
        if sessions.len() >= SESSIONS_MAX {
            sessions.clear();
        }
        let is_new = sessions.insert(shared.hasher.hash_one(key));
        drop(sessions);
        if is_new {
            let (kept_out, own) = (&shared.kept_out, &shared.own);
            self.record(Event::Session {
                client: client.map(str::to_owned),
                kept_out: kept_out.load(Ordering::Relaxed),
                own: own.load(Ordering::Relaxed),
            });
        }
    }

    /// Writes everything that was recorded so far.
    pub async fn flush(&self) {
        let pending = {
            let mut buffer = self.0.buffer();
            buffer.is_scheduled = false;
            self.0.hand_over(&mut buffer)
        };
        if let Err(error) = pending.await {
            tracing::debug!("statistics were not written: {error}");
        }
    }

    /// Adds up a period, for all tools or for the one of that canonical name. The tool narrows the totals too.
    ///
    /// # Errors
    /// When statistics are disabled or cannot be read.
    pub async fn report(&self, period: Period, tool: Option<&str>) -> Result<StatsReport, StatsError> {
        let shared = &*self.0;
        if !shared.options.get().enabled {
            return Err(StatsError::Disabled);
        }
        self.flush().await;
        let sums = shared.store.event_sums(period.since(shared.clock.now()), tool).await?;
        Ok(StatsReport::new(period, tool, &sums, shared.options.get().turn_ms, self.dropped()))
    }

    /// Returns how many events were lost since the start.
    pub fn dropped(&self) -> u64 {
        self.0.account.dropped()
    }
}

impl Shared {
    fn buffer(&self) -> MutexGuard<'_, Buffer> {
        self.buffer.lock().unpoisoned()
    }

    /// Submits what was buffered to the store. The buffer stays locked meanwhile, so that anyone who finds it empty knows that
    /// everything was submitted.
    fn hand_over(&self, buffer: &mut Buffer) -> Reply<()> {
        let events = std::mem::take(&mut buffer.events);
        self.store.add_events(Batch::new(events, self.account.clone()))
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        let events = std::mem::take(&mut self.buffer.get_mut().unpoisoned().events);
        if !events.is_empty() {
            drop(self.store.add_events(Batch::new(events, self.account.clone())));
        }
    }
}
