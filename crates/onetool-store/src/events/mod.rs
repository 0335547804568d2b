//! What happened, and how it gets into the store.

mod batch;
mod event;

pub use batch::{Account, Batch};
pub(crate) use event::MAX_AMOUNT;
pub use event::{Event, Outcome, RunId};
