//! Limits on the number of concurrent caged processes and their total memory.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, PoisonError, RwLock};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::total_memory;

/// Limits on caged processes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SlotLimits {
    /// Maximum number of concurrent processes of one kind.
    pub running: usize,
    /// Maximum memory of all processes together, in bytes.
    pub memory: u64,
    /// Maximum number of processes that wait for another one to end; further ones are rejected.
    pub waiting: usize,
}

impl Default for SlotLimits {
    fn default() -> Self {
        Self { running: 32, memory: total_memory(), waiting: 64 }
    }
}

/// The kind of a caged process.
///
/// A program can call a tool that is itself a program. With a single pool, programs could fill it and then wait for each
/// other forever. So each kind has its own pool, and no kind waits for one that may wait for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SlotKind {
    /// Runs a program.
    Program {
        /// The number of programs that called it, one inside the other.
        depth: usize,
    },
    /// Parses a document. It calls no tools.
    Document,
}

impl SlotKind {
    fn pool(self) -> usize {
        match self {
            Self::Program { depth } => depth.min(DEEP),
            Self::Document => DEEP + 1,
        }
    }

    /// Returns whether this kind may wait for a slot. Deep programs share a pool with their callers, so they must not.
    fn may_wait(self) -> bool {
        !matches!(self, Self::Program { depth } if depth >= DEEP)
    }
}

/// Programs from this depth on share a pool.
const DEEP: usize = 2;
/// Each pool's share of the memory, in eighths: programs by depth, then documents.
const SHARES: [u64; DEEP + 2] = [4, 1, 1, 2];
/// The unit of memory permits, in bytes.
const UNIT: u64 = 1 << 20;

/// Grants slots for caged processes.
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

/// Permission to run one caged process; dropping it releases the slot.
#[derive(Debug)]
pub struct Slot {
    _permits: [OwnedSemaphorePermit; 2],
}

/// All slots are in use and the queue is full.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("too many concurrent programs: {waiting} already waiting; retry later")]
pub struct SlotError {
    /// The number of waiting processes.
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

    /// Changes the limits. Existing processes do not count against the new ones.
    pub fn set_limits(&self, limits: SlotLimits) {
        let mut current = self.current.write().unwrap_or_else(PoisonError::into_inner);
        if current.limits != limits {
            *current = Arc::new(Pools::new(limits));
        }
    }

    /// Returns the number of waiting processes.
    pub fn waiting(&self) -> usize {
        self.current.read().unwrap_or_else(PoisonError::into_inner).waiting.load(Ordering::Relaxed)
    }

    /// Waits for a slot for a process with `memory` bytes. A process that needs more than the whole pool runs alone.
    ///
    /// # Errors
    /// If the queue is full.
    pub async fn acquire(&self, kind: SlotKind, memory: u64) -> Result<Slot, SlotError> {
        let pools = self.current.read().unwrap_or_else(PoisonError::into_inner).clone();
        pools.acquire(kind, memory).await
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

    async fn acquire(&self, kind: SlotKind, memory: u64) -> Result<Slot, SlotError> {
        let pool = &self.by_kind[kind.pool()];
        let units = u32::try_from(memory / UNIT).unwrap_or(u32::MAX).clamp(1, pool.units);
        // A process must not overtake the ones in the queue.
        if self.waiting.load(Ordering::Relaxed) == 0
            && let Some(slot) = pool.try_acquire(units)
        {
            return Ok(slot);
        }
        if !kind.may_wait() {
            let error = || SlotError { waiting: self.waiting.load(Ordering::Relaxed) };
            return pool.try_acquire(units).ok_or_else(error);
        }
        let _waiting = self.wait()?;
        // Always in this order, to avoid a deadlock between two processes that each hold one permit.
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
    /// Acquires a slot if one is free.
    fn try_acquire(&self, units: u32) -> Option<Slot> {
        let running = self.running.clone().try_acquire_owned().ok()?;
        let memory = self.memory.clone().try_acquire_many_owned(units).ok()?;
        Some(Slot { _permits: [running, memory] })
    }
}

/// Counts a waiting process until it is dropped.
struct Waiting<'a>(&'a AtomicUsize);

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests;
