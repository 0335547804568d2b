//! Which processes get a slot, which wait, and which are rejected.

use std::sync::Arc;

use super::{SlotError, SlotKind, SlotLimits, Slots};

const MB: u64 = 1 << 20;
const PROGRAM: SlotKind = SlotKind::Program { depth: 0 };

fn slots(running: usize, memory: u64, waiting: usize) -> Arc<Slots> {
    Arc::new(Slots::new(SlotLimits { running, memory, waiting }))
}

#[tokio::test]
async fn h9_programs_beyond_the_count_wait_for_one_to_end() {
    let slots = slots(2, 1024 * MB, 10);
    let first = slots.acquire(PROGRAM, MB).await.unwrap();
    let _second = slots.acquire(PROGRAM, MB).await.unwrap();
    let third = tokio::spawn({
        let slots = slots.clone();
        async move { slots.acquire(PROGRAM, MB).await }
    });
    tokio::task::yield_now().await;
    assert!(!third.is_finished());
    drop(first);
    third.await.unwrap().unwrap();
}

#[tokio::test]
async fn h9_programs_beyond_the_memory_wait_for_one_to_end() {
    // Half of the 800 MB is for top-level programs.
    let slots = slots(100, 800 * MB, 0);
    let first = slots.acquire(PROGRAM, 256 * MB).await.unwrap();
    assert_eq!(slots.acquire(PROGRAM, 256 * MB).await.unwrap_err(), SlotError { waiting: 0 });
    let small = slots.acquire(PROGRAM, 100 * MB).await.unwrap();
    drop((first, small));
    slots.acquire(PROGRAM, 256 * MB).await.unwrap();
}

#[tokio::test]
async fn h9_a_program_that_needs_more_than_the_pool_runs_alone() {
    let slots = slots(100, 800 * MB, 0);
    let large = slots.acquire(PROGRAM, 10_000 * MB).await.unwrap();
    assert!(slots.acquire(PROGRAM, MB).await.is_err());
    drop(large);
    assert!(slots.acquire(PROGRAM, MB).await.is_ok());
}

#[tokio::test]
async fn h9_the_queue_is_bounded_and_a_caller_that_leaves_makes_room() {
    let slots = slots(1, 1024 * MB, 1);
    let _running = slots.acquire(PROGRAM, MB).await.unwrap();
    {
        let mut waiting = Pollable::new(slots.acquire(PROGRAM, MB));
        assert!(waiting.is_pending());
        let error = slots.acquire(PROGRAM, MB).await.unwrap_err();
        assert_eq!(error.to_string(), "too many concurrent programs: 1 already waiting; retry later");
    }
    let mut waiting = Pollable::new(slots.acquire(PROGRAM, MB));
    assert!(waiting.is_pending());
}

#[tokio::test]
async fn h9_programs_that_programs_call_never_wait_for_their_callers() {
    let slots = slots(1, 1024 * MB, 10);
    let mut held = Vec::new();
    for depth in 0..3 {
        held.push(slots.acquire(SlotKind::Program { depth }, MB).await.unwrap());
    }
    held.push(slots.acquire(SlotKind::Document, MB).await.unwrap());
    for depth in 2..9 {
        assert!(slots.acquire(SlotKind::Program { depth }, MB).await.is_err(), "it would wait for itself");
    }
}

#[tokio::test]
async fn h9_new_limits_apply_to_the_next_program() {
    let slots = slots(1, 1024 * MB, 0);
    let _first = slots.acquire(PROGRAM, MB).await.unwrap();
    assert!(slots.acquire(PROGRAM, MB).await.is_err());
    slots.set_limits(SlotLimits { running: 2, memory: 1024 * MB, waiting: 0 });
    slots.acquire(PROGRAM, MB).await.unwrap();
}

/// A future that is polled by hand.
struct Pollable<'a, T>(std::pin::Pin<Box<dyn Future<Output = T> + 'a>>);

impl<'a, T> Pollable<'a, T> {
    fn new(future: impl Future<Output = T> + 'a) -> Self {
        Self(Box::pin(future))
    }

    fn is_pending(&mut self) -> bool {
        let mut context = std::task::Context::from_waker(std::task::Waker::noop());
        self.0.as_mut().poll(&mut context).is_pending()
    }
}
