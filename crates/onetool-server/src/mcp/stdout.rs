//! Notices that nobody reads standard output any more.

use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};

/// How often it is looked at.
const INTERVAL: Duration = Duration::from_millis(100);

/// Waits until the other end of standard output is closed. A file or a device has no other end: then for ever.
///
/// It looks now and then instead of being told: a runtime can watch only a descriptor that is its own, and this one
/// belongs to whoever writes to it. Nobody waits here but after the end of input.
pub(super) async fn closed() {
    while !is_closed() {
        tokio::time::sleep(INTERVAL).await;
    }
}

fn is_closed() -> bool {
    let stdout = std::io::stdout();
    let mut watched = [PollFd::new(&stdout, PollFlags::empty())];
    let at_once = Timespec::default();
    poll(&mut watched, Some(&at_once)).is_ok()
        && watched[0].revents().intersects(PollFlags::ERR | PollFlags::HUP)
}
