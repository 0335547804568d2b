//! A memory budget that large requests share, so that concurrent ones cannot use all memory.

use std::sync::Arc;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// Requests up to this size, in bytes, are always accepted; the limit on connections bounds their number.
const SMALL: usize = 64 * 1024;
/// Maximum memory of all larger requests together, from their first byte to the end of their responses, in bytes.
const TOTAL: usize = 512 << 20;
const UNIT: usize = 1024;

/// The shared budget.
#[derive(Clone)]
pub(super) struct MemoryBudget(Arc<Semaphore>);

/// Memory reserved for a request, released on drop.
pub(super) struct Reservation {
    budget: MemoryBudget,
    bytes: usize,
    permit: Option<OwnedSemaphorePermit>,
}

impl Default for MemoryBudget {
    fn default() -> Self {
        Self(Arc::new(Semaphore::new(TOTAL / UNIT)))
    }
}

impl MemoryBudget {
    /// Reserves memory, or returns `None` if there is currently not enough.
    pub(super) fn reserve(&self, bytes: usize) -> Option<Reservation> {
        let mut reservation = Reservation { budget: self.clone(), bytes: 0, permit: None };
        reservation.grow_to(bytes).then_some(reservation)
    }
}

impl Reservation {
    /// Increases the reservation to `bytes`; returns whether there is enough memory.
    pub(super) fn grow_to(&mut self, bytes: usize) -> bool {
        if bytes <= SMALL || bytes <= self.bytes {
            return true;
        }
        let units = |bytes: usize| bytes.div_ceil(UNIT);
        let Ok(missing) = u32::try_from(units(bytes) - units(self.bytes)) else { return false };
        let Ok(more) = self.budget.0.clone().try_acquire_many_owned(missing) else { return false };
        match &mut self.permit {
            Some(permit) => permit.merge(more),
            None => self.permit = Some(more),
        }
        self.bytes = bytes;
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn low_2_large_requests_share_a_memory_budget_and_small_ones_do_not_need_it() {
        let budget = MemoryBudget::default();
        let mut first = budget.reserve(TOTAL / 2).unwrap();
        let second = budget.reserve(TOTAL / 2).unwrap();
        assert!(budget.reserve(SMALL + 1).is_none());
        assert!(!first.grow_to(TOTAL));
        assert!(budget.reserve(SMALL).is_some());
        drop(second);
        assert!(first.grow_to(TOTAL));
        assert!(first.grow_to(1), "a reservation does not shrink");
        drop(first);
        assert!(budget.reserve(TOTAL).is_some());
    }
}
