//! Limits how many programs start at the same time: more than the processors can handle only slow each other down.

use std::sync::{Arc, LazyLock};
use std::time::Duration;

use tokio::sync::Semaphore;
use tokio_util::task::AbortOnDropHandle;

/// How long a program that has not responded keeps its slot, so that one that hangs does not block the others.
const MAX_HELD: Duration = Duration::from_secs(5);

/// The slots of this process.
pub(crate) static START_SLOTS: LazyLock<StartSlots> =
    LazyLock::new(|| StartSlots::new(max_concurrent_starts()));

/// Returns how many programs may start at the same time.
pub fn max_concurrent_starts() -> usize {
    let processors = std::thread::available_parallelism().map_or(2, usize::from);
    (2 * processors).max(4)
}

pub(crate) struct StartSlots(Arc<Semaphore>);

/// A slot, held until this is dropped or [`MAX_HELD`] has passed.
pub(crate) struct StartSlot(
    #[expect(dead_code, reason = "dropping it frees the slot")] Option<AbortOnDropHandle<()>>,
);

impl StartSlots {
    fn new(count: usize) -> Self {
        Self(Arc::new(Semaphore::new(count)))
    }

    /// Waits for a free slot.
    pub(crate) async fn acquire(&self) -> StartSlot {
        // The semaphore is never closed.
        let Ok(permit) = self.0.clone().acquire_owned().await else { return StartSlot(None) };
        StartSlot(Some(AbortOnDropHandle::new(tokio::spawn(async move {
            tokio::time::sleep(MAX_HELD).await;
            drop(permit);
        }))))
    }
}

#[cfg(test)]
mod tests {
    use tokio::time::{Instant, timeout};

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn seam_12_a_few_programs_start_at_a_time_and_one_that_hangs_does_not_block_the_others_for_long() {
        let slots = StartSlots::new(2);
        let (first, _hangs) = (slots.acquire().await, slots.acquire().await);
        assert!(timeout(MAX_HELD / 2, slots.acquire()).await.is_err(), "both slots are taken");
        drop(first);
        let start = Instant::now();
        let _third = slots.acquire().await;
        assert!(start.elapsed() < MAX_HELD / 10, "a slot that was released is free immediately");
        let _fourth = slots.acquire().await;
        assert!(start.elapsed() <= MAX_HELD, "the program that hangs has lost its slot");
    }
}
