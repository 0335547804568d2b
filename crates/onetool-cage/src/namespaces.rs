//! Namespaces: a caged process sees no other process and no network.

use std::io;

use rustix::process::{Signal, WaitOptions, WaitStatus, set_parent_process_death_signal, waitpid};
use rustix::thread::UnshareFlags;

use crate::process::{self, OneThread, Side};
use crate::report::Layer;

/// Moves this program into namespaces of its own, where this system allows it.
///
/// A process cannot change its own process namespace, only that of its children. So the caller forks: this function
/// returns in the child, and the process that called it waits and exits as the child does. Call it from a process with
/// one thread, before it holds anything that must exist once only.
///
/// # Errors
/// When the process has several threads or cannot be forked.
pub fn isolate() -> io::Result<Layer> {
    let one_thread = OneThread::check()?;
    let namespaces = UnshareFlags::NEWPID | UnshareFlags::NEWNET | UnshareFlags::NEWIPC;
    // An ordinary user needs a user namespace for the others. Root may be forbidden that one but not the others.
    let is_allowed =
        process::unshare(UnshareFlags::NEWUSER | namespaces).is_ok() || process::unshare(namespaces).is_ok();
    if !is_allowed {
        return Ok(Layer::Missing);
    }
    match one_thread.fork()? {
        Side::Child => {
            set_parent_process_death_signal(Some(Signal::KILL))?;
            Ok(Layer::Applied)
        }
        Side::Parent(child) => {
            // The child has these; a second copy here would keep its peers from noticing that it is gone.
            process::close_descriptors_from(0)?;
            let status = rustix::io::retry_on_intr(|| waitpid(Some(child), WaitOptions::empty()))?;
            process::exit_now(status.map_or(1, |(_, status)| exit_code(status)))
        }
    }
}

/// The exit code that stands for how a process ended, as shells write it.
fn exit_code(status: WaitStatus) -> i32 {
    status.exit_status().or_else(|| status.terminating_signal().map(|signal| 128 + signal)).unwrap_or(1)
}
