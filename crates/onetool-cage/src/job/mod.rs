//! Jobs: bytes in, bytes out, in a caged process that exists for one job only.
//!
//! This is how documents from outside are read. Their parsers were not written for hostile input, and need not be: one
//! that overflows its stack, fills its memory or never ends takes its own process with it and nothing else.

mod inside;
mod outside;

pub use inside::{Job, job_main};
pub use outside::{JobError, JobLimits, Jobs};

/// How a process of ours says, on stderr, that it ran out of memory or stack; Rust's runtime writes both.
pub fn limit_in(stderr: &str) -> Option<ProcessLimit> {
    let is_said = |text| stderr.contains(text);
    if is_said("memory allocation of") {
        Some(ProcessLimit::Memory)
    } else if is_said("has overflowed its stack") || is_said("failed to allocate stack") {
        Some(ProcessLimit::Stack)
    } else {
        None
    }
}

/// A limit that ends a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProcessLimit {
    /// Memory.
    Memory,
    /// The stack.
    Stack,
}
