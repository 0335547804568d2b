//! An internal component crate of onetool: Python in caged child processes.
//!
//! A [`Sandbox`] starts one *zygote*, a process with a warm interpreter, and has it fork a child for every run. The
//! child shuts itself in (resource limits, no new privileges, Landlock, seccomp), runs one program, and ends. One child
//! is forked ahead and waits, so that a run begins at once. Code
//! reaches the outside only by calls that the [`Host`] answers. The crate knows no tools.

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

pub use crate::host::{Beside, Host, HostAnswer, HostCall, HostError, NameKind};
pub use crate::limits::{LimitKind, Limits};
pub use crate::outcome::{Completion, Input, Outcome, Program, RunError};
pub use crate::sandbox::Sandbox;
#[cfg(feature = "interpreter")]
pub use crate::zygote::zygote_main;
pub use onetool_cage::{CageReport, Layer, SlotError, SlotLimits, Slots, WorkerCommand};
