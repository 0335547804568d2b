//! Jobs: bytes in, bytes out, each in its own caged process.
//!
//! Untrusted documents are parsed this way. Their parsers were not written for hostile input and need not be: a parser
//! that overflows its stack, exhausts its memory or never returns only affects its own process.

mod client;
mod worker;

pub use client::{JobError, JobLimits, Jobs};
pub use worker::{Job, job_main};

/// Returns the limit that a Rust process hit, according to the message that the Rust runtime wrote to stderr.
pub fn limit_from_stderr(stderr: &str) -> Option<ProcessLimit> {
    if stderr.contains("memory allocation of") {
        Some(ProcessLimit::Memory)
    } else if stderr.contains("has overflowed its stack") || stderr.contains("failed to allocate stack") {
        Some(ProcessLimit::Stack)
    } else {
        None
    }
}

/// A limit that aborts a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProcessLimit {
    /// Memory.
    Memory,
    /// The stack.
    Stack,
}
