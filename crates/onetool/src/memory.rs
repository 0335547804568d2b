//! Gives memory back to the system after something large has passed through.

use std::fs;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use onetool_cage::process::trim_heap;

/// How many pages more than last time are worth the work: 64 MiB where a page has 4 KiB.
const GROWTH: usize = 16 * 1024;
/// How long calls go on before somebody looks.
const PAUSE: Duration = Duration::from_secs(2);

/// Notes that a call was made, and looks a moment later at what it left behind.
///
/// Large values leave holes in the heap that the allocator keeps: a gateway would stay as large as the largest values
/// that were ever in it at the same time.
pub(crate) fn note_call() {
    static IS_DUE: AtomicBool = AtomicBool::new(false);
    if IS_DUE.swap(true, Ordering::Relaxed) {
        return;
    }
    tokio::spawn(async {
        tokio::time::sleep(PAUSE).await;
        IS_DUE.store(false, Ordering::Relaxed);
        // Nothing waits for it, and nothing depends on it.
        drop(tokio::task::spawn_blocking(give_back_if_grown));
    });
}

fn give_back_if_grown() {
    /// The size after the last time, so that what is in use is not looked through again and again.
    static PAGES: AtomicUsize = AtomicUsize::new(0);
    let Some(pages) = resident_pages() else { return };
    if pages > PAGES.load(Ordering::Relaxed).saturating_add(GROWTH) {
        trim_heap();
        PAGES.store(resident_pages().unwrap_or(pages), Ordering::Relaxed);
    }
}

/// Returns how many pages of memory this process has.
fn resident_pages() -> Option<usize> {
    fs::read_to_string("/proc/self/statm").ok()?.split(' ').nth(1)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn h5_memory_that_large_values_leave_behind_goes_back_to_the_system() {
        give_back_if_grown();
        let before = resident_pages().unwrap();
        // Small pieces with one in between that stays, so that the heap cannot simply become shorter.
        let mut pieces: Vec<Box<[u8; 1024]>> = (0..200_000).map(|_| Box::new([1; 1024])).collect();
        let kept = pieces.pop();
        assert!(resident_pages().unwrap() > before + 2 * GROWTH);
        drop(pieces);
        give_back_if_grown();
        assert!(resident_pages().unwrap() < before + GROWTH);
        drop(kept);
    }
}
