//! An internal component crate of onetool: processes that can compute and do nothing else.
//!
//! A [`Cage`] is a stack of layers (resource limits, no new privileges, no capabilities, namespaces, Landlock, seccomp)
//! that a process applies to itself. [`Jobs`] parses untrusted documents in such a process, and the Python sandbox forks
//! its programs in one. [`Slots`] limits the number of these processes.

#[cfg(not(target_os = "linux"))]
compile_error!("onetool-cage needs Linux");

mod cage;
mod capabilities;
mod command;
mod files;
mod filters;
mod job;
mod memory;
mod namespaces;
pub mod process;
mod report;
mod slots;

pub use cage::Cage;
pub use command::WorkerCommand;
pub use job::{Job, JobError, JobLimits, Jobs, ProcessLimit, job_main, limit_from_stderr};
pub use memory::{raise_oom_score, total_memory};
pub use namespaces::isolate;
pub use report::{CageReport, Layer};
pub use slots::{Slot, SlotError, SlotKind, SlotLimits, Slots};
