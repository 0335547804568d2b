//! The work that one check does, and its end when that is too much.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::time::Instant;

use super::{OutOfWork, WorkLimit};

thread_local! {
    /// The check that this thread does; a check never waits, so there is one at most.
    static CURRENT: Cell<Option<Work>> = const { Cell::new(None) };
}

/// Looking at the clock takes as long as several steps.
const STEPS_PER_LOOK: u64 = 64;

/// What is left of a check's limit.
#[derive(Clone, Copy)]
pub(super) struct Work {
    steps: u64,
    /// The address below which the stack must not grow.
    lowest: usize,
    until: Instant,
}

/// Ends a check from inside the validator, which has no way to be told so.
struct Stopped;

/// Does `work`, and ends it once it takes more than `limit`.
pub(super) fn within<T>(limit: &WorkLimit, work: impl FnOnce() -> T) -> Result<T, OutOfWork> {
    let until = Instant::now() + limit.time;
    let lowest = stack_address().saturating_sub(limit.stack_bytes);
    let before = CURRENT.replace(Some(Work { steps: limit.steps, lowest, until }));
    let done = catch_unwind(AssertUnwindSafe(work));
    CURRENT.set(before);
    done.map_err(|panic| match panic.downcast::<Stopped>() {
        Ok(_) => OutOfWork,
        Err(panic) => resume_unwind(panic),
    })
}

/// Counts one step of the check that this thread does.
pub(super) fn step() {
    let Some(mut work) = CURRENT.get() else { return };
    let is_late = work.steps % STEPS_PER_LOOK == 0 && Instant::now() >= work.until;
    if work.steps == 0 || is_late || stack_address() < work.lowest {
        // No message is printed for it: it is caught in `within`, always.
        resume_unwind(Box::new(Stopped));
    }
    work.steps -= 1;
    CURRENT.set(Some(work));
}

/// Returns about where the stack of this thread ends now; it grows downwards.
#[inline(never)]
fn stack_address() -> usize {
    let here = 0_u8;
    std::ptr::from_ref(std::hint::black_box(&here)).addr()
}
