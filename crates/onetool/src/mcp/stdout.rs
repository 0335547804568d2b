//! Notices that nobody reads standard output any more.

use std::io;
use std::os::fd::AsFd as _;

use tokio::io::Interest;
use tokio::io::unix::AsyncFd;

/// Waits until the other end of standard output is closed. A file or a device has no other end: then for ever.
pub(super) async fn closed() {
    let watched = io::stdout()
        .as_fd()
        .try_clone_to_owned()
        .and_then(|stdout| AsyncFd::with_interest(stdout, Interest::ERROR));
    if let Ok(watched) = watched
        && watched.ready(Interest::ERROR).await.is_ok()
    {
        return;
    }
    std::future::pending().await
}
