//! The few calls that need `unsafe`: fork, immediate exit, descriptors, namespaces, the allocator, and advice about pages.
#![expect(unsafe_code, reason = "these calls have no safe wrapper; each has its safety argument beside it")]

use std::io;

use rustix::process::Pid;
use rustix::thread::UnshareFlags;

/// Which side of a fork the caller is on.
pub enum Side {
    /// The process that forked, with the child's id.
    Parent(Pid),
    /// The new process.
    Child,
}

/// Proof that this process has one thread, which makes it safe to fork.
///
/// With one thread, no lock of the allocator, the standard library or an interpreter can be held by a thread that does
/// not exist in the child, so the child can carry on as if nothing had happened. Whoever keeps the proof starts no thread.
#[derive(Clone, Copy)]
pub struct OneThread(());

impl OneThread {
    /// Counts the threads of this process.
    ///
    /// # Errors
    /// When there are several, or nothing to count them by.
    pub fn check() -> io::Result<Self> {
        match std::fs::read_dir("/proc/self/task")?.count() {
            1 => Ok(Self(())),
            count => Err(io::Error::other(format!("the process has {count} threads and cannot be forked"))),
        }
    }

    /// Forks this process.
    ///
    /// # Errors
    /// When the system refuses.
    pub fn fork(self) -> io::Result<Side> {
        // SAFETY: `fork` takes no arguments and touches no memory of ours; there is one thread, as checked above, so
        // the child's copy of the memory is consistent.
        match unsafe { libc::fork() } {
            -1 => Err(io::Error::last_os_error()),
            0 => Ok(Side::Child),
            child => Pid::from_raw(child)
                .map(Side::Parent)
                .ok_or_else(|| io::Error::other("fork returned no process id")),
        }
    }
}

/// Ends this process at once: no destructors, no exit handlers, no other thread in the way.
pub fn exit_now(code: i32) -> ! {
    // SAFETY: `_exit` only ends the process.
    unsafe { libc::_exit(code) }
}

/// Keeps all threads of this process in one malloc arena.
///
/// Every further arena reserves 64 MB of addresses, which would count against a child's memory limit.
pub fn use_one_arena() {
    #[cfg(target_env = "gnu")]
    // SAFETY: `mallopt` with M_ARENA_MAX sets one number; this process has one thread.
    unsafe {
        libc::mallopt(libc::M_ARENA_MAX, 1);
    }
}

/// Gives the pages of the heap that hold nothing any more back to the system.
pub fn give_freed_memory_back() {
    #[cfg(target_env = "gnu")]
    // SAFETY: `malloc_trim` takes the locks of the allocator that it needs, and touches only memory that is free.
    unsafe {
        libc::malloc_trim(0);
    }
}

/// Has the kernel keep the heap in large pages, where it can.
///
/// A fork copies one entry per page, and the end of a child takes each away again: with large pages that is two thirds
/// of what a run costs the system. A child that writes still copies only the small pages that it writes to.
pub fn keep_heap_in_large_pages() {
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

/// Returns how many bytes of addresses this process uses.
///
/// # Errors
/// When there is no `/proc` to ask.
pub fn address_space() -> io::Result<u64> {
    let pages = std::fs::read_to_string("/proc/self/statm")?;
    let pages: u64 = pages.split(' ').next().and_then(|pages| pages.parse().ok()).unwrap_or_default();
    Ok(pages * rustix::param::page_size() as u64)
}

/// Closes all descriptors from `first` on. Only for a process that uses none of them any more.
///
/// # Errors
/// When the system cannot close a range.
pub fn close_descriptors_from(first: u32) -> io::Result<()> {
    close_range(first, 0)
}

/// Keeps descriptors that this program was started with, beyond the standard three, from every program that it starts.
///
/// # Errors
/// When the system cannot mark a range.
pub fn keep_inherited_descriptors() -> io::Result<()> {
    close_range(3, libc::CLOSE_RANGE_CLOEXEC)
}

fn close_range(first: u32, flags: libc::c_uint) -> io::Result<()> {
    // SAFETY: touches no memory. With the flag nothing is closed; without it, the caller says that nothing in this
    // process uses those descriptors any more.
    match unsafe { libc::syscall(libc::SYS_close_range, first, libc::c_uint::MAX, flags) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

/// Moves this process, or its future children, into new namespaces.
pub(crate) fn unshare(namespaces: UnshareFlags) -> io::Result<()> {
    debug_assert!(!namespaces.contains(UnshareFlags::FILES));
    // SAFETY: unsafe only for `FILES`, which would split the table of descriptors between threads.
    unsafe { rustix::thread::unshare_unsafe(namespaces) }.map_err(io::Error::from)
}

#[cfg(test)]
mod tests;
