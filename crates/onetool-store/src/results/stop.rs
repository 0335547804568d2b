//! Ends long work when its time is over, or when nobody waits for it any more.

use std::time::{Duration, Instant};

use tokio_util::sync::{CancellationToken, DropGuard};

use super::error::QueryError;

/// What long work asks between two small pieces of it.
pub(super) struct Stop {
    deadline: Instant,
    limit: Duration,
    canceled: CancellationToken,
}

impl Stop {
    /// Makes one that ends the work after `limit`, or when the guard is dropped.
    pub(super) fn new(limit: Duration) -> (Self, DropGuard) {
        let canceled = CancellationToken::new();
        let guard = canceled.clone().drop_guard();
        (Self { deadline: Instant::now() + limit, limit, canceled }, guard)
    }

    /// Returns an error if the work has to end.
    pub(super) fn check(&self) -> Result<(), QueryError> {
        if self.canceled.is_cancelled() {
            return Err(QueryError::Canceled);
        }
        if Instant::now() >= self.deadline {
            return Err(QueryError::TooSlow { seconds: self.limit.as_secs() });
        }
        Ok(())
    }
}
