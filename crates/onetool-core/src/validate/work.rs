//! Enforces the work limit of a validation.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::time::Instant;

use super::{WorkLimit, WorkLimitExceeded};

thread_local! {
    /// The validation that runs on this thread. Validation is synchronous, so there is at most one.
    static CURRENT: Cell<Option<Budget>> = const { Cell::new(None) };
}

/// Number of steps between two reads of the clock, because a read takes as long as several steps.
const STEPS_PER_CLOCK_READ: u64 = 64;

/// What remains of a validation's limit.
#[derive(Clone, Copy)]
pub(super) struct Budget {
    steps: u64,
    /// The lowest address that the stack may reach.
    lowest_address: usize,
    deadline: Instant,
}

/// The panic payload that stops a validation from inside the validator, which cannot be canceled otherwise.
struct Stopped;

/// Runs `work`, and stops it if it exceeds `limit`.
pub(super) fn within<T>(limit: &WorkLimit, work: impl FnOnce() -> T) -> Result<T, WorkLimitExceeded> {
    let deadline = Instant::now() + limit.time;
    let lowest_address = stack_address().saturating_sub(limit.stack_bytes);
    let previous = CURRENT.replace(Some(Budget { steps: limit.steps, lowest_address, deadline }));
    let result = catch_unwind(AssertUnwindSafe(work));
    CURRENT.set(previous);
    result.map_err(|panic| match panic.downcast::<Stopped>() {
        Ok(_) => WorkLimitExceeded,
        Err(panic) => resume_unwind(panic),
    })
}

/// Counts one step of the validation on this thread.
pub(super) fn step() {
    let Some(mut budget) = CURRENT.get() else { return };
    let is_late = budget.steps % STEPS_PER_CLOCK_READ == 0 && Instant::now() >= budget.deadline;
    if budget.steps == 0 || is_late || stack_address() < budget.lowest_address {
        // Unlike `panic!`, this prints no message. `within` always catches it.
        resume_unwind(Box::new(Stopped));
    }
    budget.steps -= 1;
    CURRENT.set(Some(budget));
}

/// Returns the approximate end of this thread's stack, which grows downwards.
#[inline(never)]
fn stack_address() -> usize {
    let here = 0_u8;
    std::ptr::from_ref(std::hint::black_box(&here)).addr()
}
