//! An internal component crate of onetool: Python in caged child processes.
//!
//! A [`Sandbox`] starts a *zygote*, a process with a warm interpreter, which forks a child for every run. The child cages
//! itself (resource limits, no new privileges, Landlock, seccomp), runs one program, and exits. One child is forked in
//! advance, so that a run starts immediately. Code reaches the outside only through calls that the [`Host`] handles. The
//! crate itself has no tools.

#[cfg(not(target_os = "linux"))]
compile_error!(
    "onetool-sandbox forks caged processes and needs Linux; build without the `python` feature elsewhere"
);

#[cfg(feature = "interpreter")]
mod child;
mod control;
#[cfg(any(test, fuzzing))]
#[doc(hidden)]
pub mod fuzzing;
mod host;
mod limits;
mod link;
mod outcome;
mod sandbox;
mod session;
mod wire;
mod worker;
#[cfg(feature = "interpreter")]
mod zygote;

pub use crate::host::{ExtraContent, Host, HostCall, HostError, HostReply, NameKind};
pub use crate::limits::{LimitKind, Limits};
pub use crate::outcome::{Completion, Input, Outcome, Program, RunError};
pub use crate::sandbox::Sandbox;
#[cfg(feature = "interpreter")]
pub use crate::zygote::zygote_main;
pub use onetool_cage::{CageReport, Layer, SlotError, SlotLimits, Slots, WorkerCommand};
