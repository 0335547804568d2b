//! Returns memory to the system after large values have been freed.

use std::fs;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use onetool_cage::process::trim_heap;

/// Growth since the last trim that is worth another trim, in pages: 64 MiB with pages of 4 KiB.
const GROWTH: usize = 16 * 1024;
/// Delay between a call and the check that follows it.
const PAUSE: Duration = Duration::from_secs(2);

/// Records that a call was made, and schedules a check of the heap.
///
/// Large values leave holes in the heap that the allocator keeps. Without trimming, a gateway would stay at its peak
/// size forever.
pub(crate) fn note_call() {
    static IS_DUE: AtomicBool = AtomicBool::new(false);
    if IS_DUE.swap(true, Ordering::Relaxed) {
        return;
    }
    tokio::spawn(async {
        tokio::time::sleep(PAUSE).await;
        IS_DUE.store(false, Ordering::Relaxed);
        // Nothing depends on the result.
        drop(tokio::task::spawn_blocking(trim_if_grown));
    });
}

fn trim_if_grown() {
    /// The size after the last trim, so that memory in use does not trigger trim after trim.
    static PAGES: AtomicUsize = AtomicUsize::new(0);
    let Some(pages) = resident_pages() else { return };
    if pages > PAGES.load(Ordering::Relaxed).saturating_add(GROWTH) {
        trim_heap();
        PAGES.store(resident_pages().unwrap_or(pages), Ordering::Relaxed);
    }
}

/// Returns the resident set size of this process, in pages.
fn resident_pages() -> Option<usize> {
    fs::read_to_string("/proc/self/statm").ok()?.split(' ').nth(1)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn h5_memory_freed_by_large_values_returns_to_the_system() {
        trim_if_grown();
        let before = resident_pages().unwrap();
        // Many small blocks, the last of which stays allocated, so that the heap cannot simply shrink at its end.
        let mut pieces: Vec<Box<[u8; 1024]>> = (0..200_000).map(|_| Box::new([1; 1024])).collect();
        let kept = pieces.pop();
        assert!(resident_pages().unwrap() > before + 2 * GROWTH);
        drop(pieces);
        trim_if_grown();
        assert!(resident_pages().unwrap() < before + GROWTH);
        drop(kept);
    }
}
