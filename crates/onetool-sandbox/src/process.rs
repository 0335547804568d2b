//! The three calls that need `unsafe`: fork, immediate exit, and the allocator's arenas.
#![expect(
    unsafe_code,
    reason = "fork, _exit and mallopt have no safe wrapper; the arguments stand at each call"
)]

use std::io;

use rustix::process::Pid;

/// Which side of a fork the caller is on.
pub(crate) enum Side {
    /// The process that forked, with the child's id.
    Parent(Pid),
    /// The new process.
    Child,
}

/// Forks this process.
///
/// Only for the zygote: a process with exactly one thread. That is the safety argument: with one thread no lock of
/// the allocator, of the standard library or of the interpreter can be held by a thread that does not exist in the
/// child, so the child may go on as if nothing had happened.
pub(crate) fn fork() -> io::Result<Side> {
    // SAFETY: `fork` takes no arguments and touches no memory of ours; the caller has one thread (checked below in
    // `has_one_thread`, which `zygote_main` calls before its loop), so the child's copy of the memory is consistent.
    match unsafe { libc::fork() } {
        -1 => Err(io::Error::last_os_error()),
        0 => Ok(Side::Child),
        child => {
            Pid::from_raw(child).map(Side::Parent).ok_or_else(|| io::Error::other("fork gave no process id"))
        }
    }
}

/// Ends this process at once: no destructors, no exit handlers, no other thread in the way.
pub(crate) fn exit_now(code: i32) -> ! {
    // SAFETY: `_exit` only ends the process.
    unsafe { libc::_exit(code) }
}

/// Keeps all threads of this process in one malloc arena.
///
/// Every further arena reserves 64 MB of addresses, which would count against a child's memory limit.
pub(crate) fn use_one_arena() {
    #[cfg(target_env = "gnu")]
    // SAFETY: `mallopt` with M_ARENA_MAX sets one number; this process has one thread.
    unsafe {
        libc::mallopt(libc::M_ARENA_MAX, 1);
    }
}

/// Tells whether this process has exactly one thread.
pub(crate) fn has_one_thread() -> bool {
    std::fs::read_dir("/proc/self/task").map_or(true, |tasks| tasks.count() == 1)
}
