//! Namespaces: hide other processes and the network from a caged process.

use std::io;

use rustix::process::{Signal, WaitOptions, WaitStatus, set_parent_process_death_signal, waitpid};
use rustix::thread::UnshareFlags;

use crate::process::{self, ForkResult, SingleThreaded};
use crate::report::Layer;

/// Moves this program into its own namespaces, if the system allows it.
///
/// A process cannot change its own PID namespace, only that of its children. So this function forks: it returns in the
/// child, while the calling process waits for the child and exits with its status. Call it from a single-threaded process
/// that does not hold resources that must not be duplicated.
///
/// # Errors
/// If the process has several threads or cannot be forked.
pub fn isolate() -> io::Result<Layer> {
    let single_threaded = SingleThreaded::check()?;
    let namespaces = UnshareFlags::NEWPID | UnshareFlags::NEWNET | UnshareFlags::NEWIPC;
    // An ordinary user needs a user namespace to create the others. Root may be denied that one but not the others.
    let is_allowed =
        process::unshare(UnshareFlags::NEWUSER | namespaces).is_ok() || process::unshare(namespaces).is_ok();
    if !is_allowed {
        return Ok(Layer::Missing);
    }
    match single_threaded.fork()? {
        ForkResult::Child => {
            set_parent_process_death_signal(Some(Signal::KILL))?;
            Ok(Layer::Applied)
        }
        ForkResult::Parent(child) => {
            // The child has these too; a second copy here would keep its peers from noticing its exit.
            process::close_descriptors_from(0)?;
            let status = rustix::io::retry_on_intr(|| waitpid(Some(child), WaitOptions::empty()))?;
            process::exit_immediately(status.map_or(1, |(_, status)| exit_code(status)))
        }
    }
}

/// Returns the exit code for a process status, as shells define it.
fn exit_code(status: WaitStatus) -> i32 {
    status.exit_status().or_else(|| status.terminating_signal().map(|signal| 128 + signal)).unwrap_or(1)
}
