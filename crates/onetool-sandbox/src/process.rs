//! The four calls that need `unsafe`: fork, immediate exit, the allocator's arenas, and giving pages back.
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

/// Lets go of the pages of files, such as this program's own, that are mapped and were never changed.
///
/// Starting reads through much of the program once. The kernel keeps those pages as it keeps any file, and maps them
/// again where they are touched again.
pub(crate) fn give_file_pages_back() {
    let mappings = std::fs::read_to_string("/proc/self/smaps").unwrap_or_default();
    for (start, length) in unchanged_file_mappings(&mappings) {
        // SAFETY: the mapping is one of a file, cannot be written to, and has no page of its own (`Anonymous: 0`), so
        // whatever is read there next is what was there before. No other thread changes mappings: there is none.
        unsafe {
            libc::madvise(std::ptr::with_exposed_provenance_mut(start), length, libc::MADV_DONTNEED);
        }
    }
}

/// Finds them in the text of `/proc/self/smaps`: where each begins and how many bytes it has.
fn unchanged_file_mappings(mappings: &str) -> Vec<(usize, usize)> {
    let mut found = Vec::new();
    let mut current = None;
    for line in mappings.lines() {
        if let Some(range) = read_only_file(line) {
            current = Some(range);
        } else if line.split(' ').next().is_some_and(|word| word.contains('-')) {
            // Another kind of mapping begins.
            current = None;
        } else if let Some(rest) = line.strip_prefix("Anonymous:")
            && let Some(range) = current.take()
            && rest.trim() == "0 kB"
        {
            found.push(range);
        }
    }
    found
}

/// Reads the first line of a mapping: `start-end permissions offset device inode path`.
fn read_only_file(line: &str) -> Option<(usize, usize)> {
    let mut words = line.split_ascii_whitespace();
    let (start, end) = words.next()?.split_once('-')?;
    let is_read_only = matches!(words.next()?, "r--p" | "r-xp");
    let is_file = words.nth(3)?.starts_with('/');
    let number = |text| usize::from_str_radix(text, 16).ok();
    let (start, end) = (number(start)?, number(end)?);
    (is_read_only && is_file).then(|| (start, end.saturating_sub(start)))
}

/// Tells whether this process has exactly one thread.
pub(crate) fn has_one_thread() -> bool {
    std::fs::read_dir("/proc/self/task").map_or(true, |tasks| tasks.count() == 1)
}

#[cfg(test)]
mod tests;
