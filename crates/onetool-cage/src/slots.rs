//! How many caged processes exist at once, and how much memory they may use together.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, PoisonError, RwLock};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::total_memory;

/// How many caged processes may exist at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SlotLimits {
    /// Processes of one kind that run at the same time.
    pub running: usize,
    /// Bytes of memory that all of them may use together.
    pub memory: u64,
    /// Processes that wait until another one ends; further ones are refused.
    pub waiting: usize,
}

impl Default for SlotLimits {
    fn default() -> Self {
        Self { running: 32, memory: total_memory(), waiting: 64 }
    }
}

/// What a process is for.
///
/// A program may call a tool that is itself a program. If all took from one pool, programs could fill it and then wait
/// for each other forever. So each kind has its own share, and no kind waits for one that may wait for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Work {
    /// A program.
    Program {
        /// How many programs called it, one inside the other.
        depth: usize,
    },
    /// A document to read. It calls nothing.
    Document,
}

impl Work {
    fn pool(self) -> usize {
        match self {
            Self::Program { depth } => depth.min(DEEP),
            Self::Document => DEEP + 1,
        }
    }

    /// Programs from this depth on share a pool, so they must not wait for it.
    fn may_wait(self) -> bool {
        !matches!(self, Self::Program { depth } if depth >= DEEP)
    }
}

const DEEP: usize = 2;
/// The share of all memory that each pool gets, in eighths: programs by depth, then documents.
const SHARES: [u64; DEEP + 2] = [4, 1, 1, 2];
/// The unit in which memory is handed out.
const UNIT: u64 = 1 << 20;

/// Hands out the right to have a caged process.
pub struct Slots {
    current: RwLock<Arc<Pools>>,
}

struct Pools {
    limits: SlotLimits,
    by_kind: [Pool; SHARES.len()],
    waiting: AtomicUsize,
}

struct Pool {
    running: Arc<Semaphore>,
    memory: Arc<Semaphore>,
    units: u32,
}

/// The right to have one caged process; dropping it gives it back.
#[derive(Debug)]
pub struct Slot {
    _permits: [OwnedSemaphorePermit; 2],
}

/// Too many processes exist already.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("too many programs at once: {waiting} are waiting already; try again later")]
pub struct SlotError {
    /// How many wait.
    pub waiting: usize,
}

impl Default for Slots {
    fn default() -> Self {
        Self::new(SlotLimits::default())
    }
}

impl Slots {
    /// Creates slots within `limits`.
    pub fn new(limits: SlotLimits) -> Self {
        Self { current: RwLock::new(Arc::new(Pools::new(limits))) }
    }

    /// Sets other limits. Processes that exist already are not counted against them.
    pub fn set_limits(&self, limits: SlotLimits) {
        let mut current = self.current.write().unwrap_or_else(PoisonError::into_inner);
        if current.limits != limits {
            *current = Arc::new(Pools::new(limits));
        }
    }

    /// Returns how many wait.
    pub fn waiting(&self) -> usize {
        self.current.read().unwrap_or_else(PoisonError::into_inner).waiting.load(Ordering::Relaxed)
    }

    /// Waits until a process with `memory` bytes may be started. One that needs more than there is runs alone.
    ///
    /// # Errors
    /// When too many wait already.
    pub async fn take(&self, work: Work, memory: u64) -> Result<Slot, SlotError> {
        let pools = self.current.read().unwrap_or_else(PoisonError::into_inner).clone();
        pools.take(work, memory).await
    }
}

impl Pools {
    fn new(limits: SlotLimits) -> Self {
        let pool = |share: u64| {
            let units = u32::try_from(limits.memory / 8 * share / UNIT).unwrap_or(u32::MAX).max(1);
            let semaphore = |permits: usize| Arc::new(Semaphore::new(permits.min(Semaphore::MAX_PERMITS)));
            Pool { running: semaphore(limits.running.max(1)), memory: semaphore(units as usize), units }
        };
        Self { limits, by_kind: SHARES.map(pool), waiting: AtomicUsize::new(0) }
    }

    async fn take(&self, work: Work, memory: u64) -> Result<Slot, SlotError> {
        let pool = &self.by_kind[work.pool()];
        let units = u32::try_from(memory / UNIT).unwrap_or(u32::MAX).clamp(1, pool.units);
        // Nobody jumps the queue.
        if self.waiting.load(Ordering::Relaxed) == 0
            && let Some(slot) = pool.try_take(units)
        {
            return Ok(slot);
        }
        if !work.may_wait() {
            return pool.try_take(units).ok_or(SlotError { waiting: self.waiting.load(Ordering::Relaxed) });
        }
        let _waiting = self.wait()?;
        // Always in this order, so that two processes never wait for what the other one has.
        let running = pool.running.clone().acquire_owned().await;
        let memory = pool.memory.clone().acquire_many_owned(units).await;
        match (running, memory) {
            (Ok(running), Ok(memory)) => Ok(Slot { _permits: [running, memory] }),
            // The semaphores are never closed.
            _ => Err(SlotError { waiting: 0 }),
        }
    }

    fn wait(&self) -> Result<Waiting<'_>, SlotError> {
        let waiting = self.waiting.fetch_add(1, Ordering::Relaxed);
        let guard = Waiting(&self.waiting);
        if waiting >= self.limits.waiting { Err(SlotError { waiting }) } else { Ok(guard) }
    }
}

impl Pool {
    /// Takes what is free.
    fn try_take(&self, units: u32) -> Option<Slot> {
        let running = self.running.clone().try_acquire_owned().ok()?;
        let memory = self.memory.clone().try_acquire_many_owned(units).ok()?;
        Some(Slot { _permits: [running, memory] })
    }
}

/// Counts one that waits until it is dropped.
struct Waiting<'a>(&'a AtomicUsize);

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests;
