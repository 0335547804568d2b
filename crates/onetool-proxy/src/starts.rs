//! How many programs start at the same time: more than the processors can serve only make each other late.

use std::sync::{Arc, LazyLock};
use std::time::Duration;

use tokio::sync::Semaphore;
use tokio_util::task::AbortOnDropHandle;

/// How long a program that has not answered yet keeps others from starting. One that hangs holds up nobody for longer.
const TURN: Duration = Duration::from_secs(5);

/// The starts of this process.
pub(crate) static STARTS: LazyLock<Starts> = LazyLock::new(|| Starts::new(max_starts()));

/// Returns how many programs start at the same time.
pub fn max_starts() -> usize {
    let processors = std::thread::available_parallelism().map_or(2, usize::from);
    (2 * processors).max(4)
}

pub(crate) struct Starts(Arc<Semaphore>);

/// A program's turn, until this is dropped or the turn is over.
pub(crate) struct Turn(
    #[expect(dead_code, reason = "kept until it is dropped")] Option<AbortOnDropHandle<()>>,
);

impl Starts {
    fn new(count: usize) -> Self {
        Self(Arc::new(Semaphore::new(count)))
    }

    /// Waits for a turn.
    pub(crate) async fn turn(&self) -> Turn {
        // Nobody closes it.
        let Ok(permit) = self.0.clone().acquire_owned().await else { return Turn(None) };
        Turn(Some(AbortOnDropHandle::new(tokio::spawn(async move {
            tokio::time::sleep(TURN).await;
            drop(permit);
        }))))
    }
}

#[cfg(test)]
mod tests {
    use tokio::time::{Instant, timeout};

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn seam_12_programs_start_a_few_at_a_time_and_one_that_hangs_holds_up_nobody_for_long() {
        let starts = Starts::new(2);
        let (first, _hangs) = (starts.turn().await, starts.turn().await);
        assert!(timeout(TURN / 2, starts.turn()).await.is_err(), "both turns are taken");
        drop(first);
        let begun = Instant::now();
        let _third = starts.turn().await;
        assert!(begun.elapsed() < TURN / 10, "a turn that was given back is there at once");
        let _fourth = starts.turn().await;
        assert!(begun.elapsed() <= TURN, "the turn of the one that hangs is over");
    }
}
