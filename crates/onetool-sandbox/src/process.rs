//! The few calls that need `unsafe`: fork, immediate exit, the allocator's arenas, and advice about pages.
#![expect(
    unsafe_code,
    reason = "fork, _exit, mallopt and madvise have no safe wrapper; the arguments stand at each call"
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

/// Has the kernel keep the heap in large pages, where it can.
///
/// A fork copies one entry per page, and the end of a child takes each away again: with large pages that is two thirds
/// of what a run costs the system. A child that writes still copies only the small pages that it writes to.
pub(crate) fn keep_heap_in_large_pages() {
    let mappings = std::fs::read_to_string("/proc/self/maps").unwrap_or_default();
    let Some((start, length)) = mappings.lines().find(|line| line.ends_with("[heap]")).and_then(range) else {
        return;
    };
    // SAFETY: collapsing changes how the pages are kept, not what stands in them. A kernel that cannot refuses.
    unsafe {
        libc::madvise(std::ptr::with_exposed_provenance_mut(start), length, libc::MADV_COLLAPSE);
    }
}

/// Lets go of the pages of this program's own file that are in memory and were never changed.
///
/// Starting reads through much of the program once. The kernel keeps those pages as it keeps any file, and maps them
/// again where they are touched again.
pub fn give_program_pages_back() {
    let Ok(program) = std::fs::read_link("/proc/self/exe") else { return };
    let mappings = std::fs::read_to_string("/proc/self/smaps").unwrap_or_default();
    for (start, length) in unchanged_mappings(&mappings, &program.to_string_lossy()) {
        // SAFETY: the mapping is one of the program's file, which stays where it is until the process ends. It cannot
        // be written to and has no page of its own (`Anonymous: 0`), so whatever is read there next, by any thread, is
        // what was there before.
        unsafe {
            libc::madvise(std::ptr::with_exposed_provenance_mut(start), length, libc::MADV_DONTNEED);
        }
    }
}

/// Finds in the text of `/proc/self/smaps` where a file is mapped, read-only and unchanged.
fn unchanged_mappings(mappings: &str, file: &str) -> Vec<(usize, usize)> {
    let mut found = Vec::new();
    let mut current = None;
    for line in mappings.lines() {
        if let Some(range) = range(line) {
            let is_read_only = matches!(line.split(' ').nth(1), Some("r--p" | "r-xp"));
            current = (is_read_only && line.ends_with(file)).then_some(range);
        } else if let Some(rest) = line.strip_prefix("Anonymous:")
            && let Some(range) = current.take()
            && rest.trim() == "0 kB"
        {
            found.push(range);
        }
    }
    found
}

/// Reads where a mapping begins and how many bytes it has from its line: `start-end permissions offset device inode path`.
fn range(line: &str) -> Option<(usize, usize)> {
    let (start, end) = line.split(' ').next()?.split_once('-')?;
    let number = |text| usize::from_str_radix(text, 16).ok();
    let (start, end) = (number(start)?, number(end)?);
    Some((start, end.saturating_sub(start)))
}

/// Tells whether this process has exactly one thread.
pub(crate) fn has_one_thread() -> bool {
    std::fs::read_dir("/proc/self/task").map_or(true, |tasks| tasks.count() == 1)
}

#[cfg(test)]
mod tests;
