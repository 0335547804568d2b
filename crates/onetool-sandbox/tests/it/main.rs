//! The sandbox through its public API, against the real worker process.

#![expect(clippy::unwrap_used, reason = "a panic fails the test")]

mod calls;
mod coverage;
mod escapes;
mod limits;
mod processes;
mod programs;
mod running;
mod support;
