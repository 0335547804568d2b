//! Gives memory back to the system after something large has passed through.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use onetool_cage::process::give_freed_memory_back;

/// What a value has to take to leave something behind that is worth the work.
const LARGE: usize = 4 << 20;
/// By then, whoever the value was for has it.
const PAUSE: Duration = Duration::from_secs(1);

/// Notes that a value of so many bytes is on its way out.
///
/// A large one leaves holes in the heap that the allocator keeps: a gateway would stay as large as the largest values
/// that were ever in it at the same time.
pub(crate) fn note_passing(bytes: usize) {
    static IS_DUE: AtomicBool = AtomicBool::new(false);
    if bytes < LARGE || IS_DUE.swap(true, Ordering::Relaxed) {
        return;
    }
    tokio::spawn(async {
        tokio::time::sleep(PAUSE).await;
        IS_DUE.store(false, Ordering::Relaxed);
        // Nothing waits for it, and nothing depends on it.
        drop(tokio::task::spawn_blocking(give_freed_memory_back));
    });
}
