//! The few calls that need `unsafe`: fork, immediate exit, descriptors, namespaces, the allocator and memory advice.
#![expect(unsafe_code, reason = "these calls have no safe wrapper; each has a safety comment")]

use std::io;

use rustix::process::Pid;
use rustix::thread::UnshareFlags;

/// The process in which a fork returned.
pub enum ForkResult {
    /// The process that forked, with the child's id.
    Parent(Pid),
    /// The new process.
    Child,
}

/// Proof that this process has a single thread, which makes it safe to fork.
///
/// With a single thread, no lock of the allocator, the standard library or an interpreter can be held by a thread that
/// does not exist in the child, so the child can continue normally. Code that holds this proof must not start threads.
#[derive(Clone, Copy)]
pub struct SingleThreaded(());

impl SingleThreaded {
    /// Checks that this process has a single thread.
    ///
    /// # Errors
    /// If it has several, or `/proc` is not available.
    pub fn check() -> io::Result<Self> {
        match std::fs::read_dir("/proc/self/task")?.count() {
            1 => Ok(Self(())),
            count => Err(io::Error::other(format!("cannot fork: the process has {count} threads"))),
        }
    }

    /// Forks this process.
    ///
    /// # Errors
    /// If the system call fails.
    pub fn fork(self) -> io::Result<ForkResult> {
        // SAFETY: `fork` takes no arguments and does not touch our memory. There is a single thread, as checked above,
        // so the child's copy of the memory is consistent.
        match unsafe { libc::fork() } {
            -1 => Err(io::Error::last_os_error()),
            0 => Ok(ForkResult::Child),
            child => Pid::from_raw(child)
                .map(ForkResult::Parent)
                .ok_or_else(|| io::Error::other("fork returned no process id")),
        }
    }
}

/// Exits this process immediately, without destructors, exit handlers, or waiting for other threads.
pub fn exit_immediately(code: i32) -> ! {
    // SAFETY: `_exit` only ends the process.
    unsafe { libc::_exit(code) }
}

/// Makes all threads of this process share one malloc arena.
///
/// Each additional arena reserves 64 MB of address space, which would count against a child's memory limit.
pub fn use_single_malloc_arena() {
    #[cfg(target_env = "gnu")]
    // SAFETY: `mallopt` with M_ARENA_MAX sets one number, and this process has a single thread.
    unsafe {
        libc::mallopt(libc::M_ARENA_MAX, 1);
    }
}

/// Returns unused heap pages to the system.
pub fn trim_heap() {
    #[cfg(target_env = "gnu")]
    // SAFETY: `malloc_trim` takes the allocator locks that it needs, and touches only free memory.
    unsafe {
        libc::malloc_trim(0);
    }
}

/// Asks the kernel to use huge pages for the heap.
///
/// A fork copies one page table entry per page, and the exit of the child frees each of them, which is a large part of a
/// run's system time; with huge pages there are far fewer. A child still copies only the small pages that it writes to.
pub fn use_huge_pages_for_heap() {
    let mappings = std::fs::read_to_string("/proc/self/maps").unwrap_or_default();
    let Some((start, length)) = mappings.lines().find(|line| line.ends_with("[heap]")).and_then(range) else {
        return;
    };
    // SAFETY: collapsing changes how the pages are mapped, not their contents. A kernel without support returns an error.
    unsafe {
        libc::madvise(std::ptr::with_exposed_provenance_mut(start), length, libc::MADV_COLLAPSE);
    }
}

/// Unmaps the unmodified pages of this program's executable.
///
/// Startup reads much of the executable once. The kernel keeps those pages in its page cache and maps them again when
/// they are accessed.
pub fn release_program_pages() {
    let Ok(program) = std::fs::read_link("/proc/self/exe") else { return };
    let mappings = std::fs::read_to_string("/proc/self/smaps").unwrap_or_default();
    for (start, length) in unchanged_mappings(&mappings, &program.to_string_lossy()) {
        // SAFETY: the mapping belongs to the executable and exists until the process ends. It is read-only and has no
        // private pages (`Anonymous: 0`), so any thread that reads it later gets the same contents from the file.
        unsafe {
            libc::madvise(std::ptr::with_exposed_provenance_mut(start), length, libc::MADV_DONTNEED);
        }
    }
}

/// Finds the read-only, unmodified mappings of a file in the text of `/proc/self/smaps`.
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

/// Parses the start and length of a mapping from its line: `start-end permissions offset device inode path`.
fn range(line: &str) -> Option<(usize, usize)> {
    let (start, end) = line.split(' ').next()?.split_once('-')?;
    let number = |text| usize::from_str_radix(text, 16).ok();
    let (start, end) = (number(start)?, number(end)?);
    Some((start, end.saturating_sub(start)))
}

/// Returns the size of this process's address space in bytes.
///
/// # Errors
/// If `/proc` is not available.
pub fn address_space() -> io::Result<u64> {
    let pages = std::fs::read_to_string("/proc/self/statm")?;
    let pages: u64 = pages.split(' ').next().and_then(|pages| pages.parse().ok()).unwrap_or_default();
    Ok(pages * rustix::param::page_size() as u64)
}

/// Closes all descriptors from `first` on. Only for a process that no longer uses any of them.
///
/// # Errors
/// If the system call fails.
pub fn close_descriptors_from(first: u32) -> io::Result<()> {
    close_range(first, 0)
}

/// Marks all open descriptors except the standard three as close-on-exec, so that programs we start do not inherit them.
///
/// # Errors
/// If the system call fails.
pub fn close_inherited_on_exec() -> io::Result<()> {
    close_range(3, libc::CLOSE_RANGE_CLOEXEC)
}

fn close_range(first: u32, flags: libc::c_uint) -> io::Result<()> {
    // SAFETY: touches no memory. With the flag nothing is closed; without it, the caller guarantees that this process no
    // longer uses those descriptors.
    match unsafe { libc::syscall(libc::SYS_close_range, first, libc::c_uint::MAX, flags) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

/// Moves this process, or its future children, into new namespaces.
pub(crate) fn unshare(namespaces: UnshareFlags) -> io::Result<()> {
    debug_assert!(!namespaces.contains(UnshareFlags::FILES));
    // SAFETY: unsafe only for `FILES`, which would split the descriptor table between threads.
    unsafe { rustix::thread::unshare_unsafe(namespaces) }.map_err(io::Error::from)
}

#[cfg(test)]
mod tests;
