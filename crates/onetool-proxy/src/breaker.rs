//! A circuit breaker: after repeated failures, calls fail immediately until a probe call succeeds.

use std::sync::Mutex;
use std::time::Duration;

use onetool_core::sync::Unpoisoned as _;
use tokio::time::Instant;

/// Counts consecutive failures and decides which calls to admit.
pub(crate) struct Breaker {
    threshold: u32,
    pause: Duration,
    inner: Mutex<Inner>,
}

#[derive(Default)]
struct Inner {
    failures: u32,
    reason: String,
    /// When the next probe call is admitted; set while the breaker is open.
    probe_at: Option<Instant>,
    is_probing: bool,
}

/// Permission to make one call.
///
/// Dropping it without reporting a result, as a canceled call does, counts as neither success nor failure.
pub(crate) struct Permit<'a> {
    breaker: &'a Breaker,
    is_probe: bool,
    is_settled: bool,
}

impl Breaker {
    pub(crate) fn new(threshold: u32, pause: Duration) -> Self {
        Self { threshold: threshold.max(1), pause, inner: Mutex::default() }
    }

    /// Admits a call, or returns why not.
    pub(crate) fn admit(&self) -> Result<Permit<'_>, String> {
        let mut inner = self.lock();
        let Some(probe_at) = inner.probe_at else {
            return Ok(Permit { breaker: self, is_probe: false, is_settled: false });
        };
        let wait = probe_at.saturating_duration_since(Instant::now());
        if inner.is_probing || !wait.is_zero() {
            let next = if inner.is_probing {
                "a probe call is running now".to_owned()
            } else {
                format!("next attempt in {:.1} s", wait.as_secs_f64())
            };
            let Inner { failures, reason, .. } = &*inner;
            return Err(format!(
                "the last {failures} calls failed, most recently because it {reason}; {next}"
            ));
        }
        inner.is_probing = true;
        Ok(Permit { breaker: self, is_probe: true, is_settled: false })
    }

    /// Closes the breaker, for example after a new connection.
    pub(crate) fn reset(&self) {
        *self.lock() = Inner::default();
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Inner> {
        self.inner.lock().unpoisoned()
    }
}

impl Permit<'_> {
    pub(crate) fn succeeded(mut self) {
        self.is_settled = true;
        self.breaker.reset();
    }

    pub(crate) fn failed(mut self, reason: &str) {
        self.is_settled = true;
        let mut inner = self.breaker.lock();
        inner.failures += 1;
        reason.clone_into(&mut inner.reason);
        if self.is_probe {
            inner.is_probing = false;
        }
        if self.is_probe || inner.failures >= self.breaker.threshold {
            inner.probe_at = Some(Instant::now() + self.breaker.pause);
        }
    }
}

impl Drop for Permit<'_> {
    fn drop(&mut self) {
        if self.is_probe && !self.is_settled {
            self.breaker.lock().is_probing = false;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn r5_the_breaker_opens_after_consecutive_failures_probes_once_and_closes_on_success() {
        let breaker = Breaker::new(2, Duration::from_secs(10));
        breaker.admit().unwrap().failed("did not respond");
        breaker.admit().unwrap().succeeded();
        breaker.admit().unwrap().failed("did not respond");
        breaker.admit().unwrap().failed("did not respond");
        let refusal = breaker.admit().err().unwrap();
        assert_eq!(
            refusal,
            "the last 2 calls failed, most recently because it did not respond; next attempt in 10.0 s"
        );
        tokio::time::advance(Duration::from_secs(10)).await;
        let probe = breaker.admit().unwrap();
        assert!(breaker.admit().err().unwrap().contains("a probe call is running now"));
        probe.failed("disconnected");
        assert!(breaker.admit().err().unwrap().contains("disconnected"));
        tokio::time::advance(Duration::from_secs(10)).await;
        drop(breaker.admit().unwrap());
        breaker.admit().unwrap().succeeded();
        breaker.admit().unwrap();
    }
}
