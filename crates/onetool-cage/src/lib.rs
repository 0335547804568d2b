//! An internal component crate of onetool: processes that can compute and do nothing else.
//!
//! A [`Cage`] is a stack of layers (resource limits, no new privileges, no capabilities, namespaces, Landlock, seccomp)
//! that a process puts around itself. [`Jobs`] has documents from outside read in such a process, and the Python sandbox
//! forks its programs inside one. [`Slots`] bounds how many there are.

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
pub use job::{Job, JobError, JobLimits, Jobs, ProcessLimit, job_main, limit_in};
pub use memory::{be_first_to_go, total_memory};
pub use namespaces::isolate;
pub use report::{CageReport, Layer};
pub use slots::{Slot, SlotError, SlotLimits, Slots, Work};
