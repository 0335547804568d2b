//! Who gets a slot, who waits, who is refused.

use std::sync::Arc;

use super::{SlotError, SlotLimits, Slots, Work};

const MB: u64 = 1 << 20;
const PROGRAM: Work = Work::Program { depth: 0 };

fn slots(running: usize, memory: u64, waiting: usize) -> Arc<Slots> {
    Arc::new(Slots::new(SlotLimits { running, memory, waiting }))
}

#[tokio::test]
async fn h9_programs_beyond_the_count_wait_for_one_to_end() {
    let slots = slots(2, 1024 * MB, 10);
    let first = slots.take(PROGRAM, MB).await.unwrap();
    let _second = slots.take(PROGRAM, MB).await.unwrap();
    let third = tokio::spawn({
        let slots = slots.clone();
        async move { slots.take(PROGRAM, MB).await }
    });
    tokio::task::yield_now().await;
    assert!(!third.is_finished());
    drop(first);
    third.await.unwrap().unwrap();
}

#[tokio::test]
async fn h9_programs_beyond_the_memory_wait_for_one_to_end() {
    // Half of 800 MB is for programs that no other program called.
    let slots = slots(100, 800 * MB, 0);
    let first = slots.take(PROGRAM, 256 * MB).await.unwrap();
    assert_eq!(slots.take(PROGRAM, 256 * MB).await.unwrap_err(), SlotError { waiting: 0 });
    let small = slots.take(PROGRAM, 100 * MB).await.unwrap();
    drop((first, small));
    slots.take(PROGRAM, 256 * MB).await.unwrap();
}

#[tokio::test]
async fn h9_a_program_that_needs_more_than_there_is_runs_alone() {
    let slots = slots(100, 800 * MB, 0);
    let large = slots.take(PROGRAM, 10_000 * MB).await.unwrap();
    assert!(slots.take(PROGRAM, MB).await.is_err());
    drop(large);
    assert!(slots.take(PROGRAM, MB).await.is_ok());
}

#[tokio::test]
async fn h9_the_queue_is_bounded_and_a_caller_that_leaves_makes_room() {
    let slots = slots(1, 1024 * MB, 1);
    let _running = slots.take(PROGRAM, MB).await.unwrap();
    {
        let mut waits = polled(slots.take(PROGRAM, MB));
        assert!(waits.is_pending());
        let error = slots.take(PROGRAM, MB).await.unwrap_err();
        assert_eq!(error.to_string(), "too many programs at once: 1 are waiting already; try again later");
        waits.drop_it();
    }
    let mut waits = polled(slots.take(PROGRAM, MB));
    assert!(waits.is_pending());
}

#[tokio::test]
async fn h9_programs_that_programs_call_never_wait_for_their_callers() {
    let slots = slots(1, 1024 * MB, 10);
    let mut held = Vec::new();
    for depth in 0..3 {
        held.push(slots.take(Work::Program { depth }, MB).await.unwrap());
    }
    held.push(slots.take(Work::Document, MB).await.unwrap());
    for depth in 2..9 {
        assert!(slots.take(Work::Program { depth }, MB).await.is_err(), "it would wait for itself");
    }
}

#[tokio::test]
async fn h9_new_limits_hold_for_the_next_program() {
    let slots = slots(1, 1024 * MB, 0);
    let _first = slots.take(PROGRAM, MB).await.unwrap();
    assert!(slots.take(PROGRAM, MB).await.is_err());
    slots.set_limits(SlotLimits { running: 2, memory: 1024 * MB, waiting: 0 });
    slots.take(PROGRAM, MB).await.unwrap();
}

/// A future that was polled once.
struct Polled<'a, T>(Option<std::pin::Pin<Box<dyn Future<Output = T> + 'a>>>);

fn polled<'a, T>(future: impl Future<Output = T> + 'a) -> Polled<'a, T> {
    Polled(Some(Box::pin(future)))
}

impl<T> Polled<'_, T> {
    fn is_pending(&mut self) -> bool {
        let mut context = std::task::Context::from_waker(std::task::Waker::noop());
        self.0.as_mut().is_some_and(|future| future.as_mut().poll(&mut context).is_pending())
    }

    fn drop_it(&mut self) {
        self.0 = None;
    }
}
