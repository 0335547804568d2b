//! Blocking work on a separate thread, stopped when its call is canceled.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use onetool_core::ToolError;

use crate::tool::tool_error;

/// Signals that the call was canceled. Cheap to clone.
#[derive(Clone, Default)]
pub(crate) struct Stop(Arc<AtomicBool>);

impl Stop {
    pub(crate) fn is_set(&self) -> bool {
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

/// Runs `work` on a thread that may block. If the call is canceled, `work` stops the next time it checks.
pub(crate) async fn blocking<T, E, F>(work: F) -> Result<T, ToolError>
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
        Ok(done) => done.map_err(|error| tool_error(error.into())),
        Err(error) => Err(ToolError::failed(format!("the call was interrupted: {error}"))),
    }
}
