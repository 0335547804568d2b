//! Ends long work when its time is over, or when nobody waits for it any more.

use std::time::{Duration, Instant};

use tokio_util::sync::{CancellationToken, DropGuard};

use super::error::QueryError;

/// What long work asks between two small pieces of it.
pub(super) struct Stop {
    deadline: Instant,
    limit: Duration,
    given_up: CancellationToken,
}

impl Stop {
    /// Makes one that ends the work after `limit`, or when the guard is dropped.
    pub(super) fn new(limit: Duration) -> (Self, DropGuard) {
        let given_up = CancellationToken::new();
        let guard = given_up.clone().drop_guard();
        (Self { deadline: Instant::now() + limit, limit, given_up }, guard)
    }

    /// Returns an error if the work has to end.
    pub(super) fn check(&self) -> Result<(), QueryError> {
        if self.given_up.is_cancelled() {
            return Err(QueryError::GivenUp);
        }
        if Instant::now() >= self.deadline {
            return Err(QueryError::TooSlow { seconds: self.limit.as_secs() });
        }
        Ok(())
    }
}
