//! Detects when the reader of standard output is closed.

use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};

/// Time between two checks.
const INTERVAL: Duration = Duration::from_millis(100);

/// Waits until the other end of standard output is closed. A file or device has no other end, so this waits forever.
///
/// This polls because the runtime can watch only descriptors that it owns. It runs only after the end of input.
pub(super) async fn closed() {
    while !is_closed() {
        tokio::time::sleep(INTERVAL).await;
    }
}

fn is_closed() -> bool {
    let stdout = std::io::stdout();
    let mut watched = [PollFd::new(&stdout, PollFlags::empty())];
    let no_wait = Timespec::default();
    poll(&mut watched, Some(&no_wait)).is_ok()
        && watched[0].revents().intersects(PollFlags::ERR | PollFlags::HUP)
}
