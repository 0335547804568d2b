//! Work that would hold up the runtime, on a thread of its own, told to stop when nobody waits for it any more.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use onetool_core::ToolError;

/// Tells work that nobody waits for its answer any more. Cheap to clone.
#[derive(Clone, Default)]
pub(super) struct Stop(Arc<AtomicBool>);

impl Stop {
    pub(super) fn is_set(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// Stops the work when it is dropped.
struct StopOnDrop(Stop);

impl Drop for StopOnDrop {
    fn drop(&mut self) {
        self.0.0.store(true, Ordering::Relaxed);
    }
}

/// Does `work` on a thread where it may take its time. A call that is given up stops it at its next look.
pub(super) async fn blocking<T, E, F>(work: F) -> Result<T, ToolError>
where
    T: Send + 'static,
    E: std::error::Error + Send + Sync + 'static,
    F: FnOnce(&Stop) -> Result<T, E> + Send + 'static,
{
    let stop = Stop::default();
    let guard = StopOnDrop(stop.clone());
    let done = tokio::task::spawn_blocking(move || work(&stop)).await;
    drop(guard);
    match done {
        Ok(done) => done.map_err(|error| super::make::told(error.into())),
        Err(error) => Err(ToolError::failed(format!("the work broke off: {error}"))),
    }
}
