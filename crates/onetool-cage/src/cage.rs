//! The cage: layers that restrict a process to computing and using its open descriptors.

use std::io;
use std::path::PathBuf;

use rustix::process::{Resource, Rlimit, setrlimit};
use rustix::thread::CapabilitySet;

use crate::filters::Filters;
use crate::report::{CageReport, Layer};
use crate::{capabilities, files};

/// The layers that restrict a process and its children.
///
/// If a layer that the kernel supports cannot be applied, entering the cage fails; it is never skipped silently. A layer
/// that the kernel does not support is reported as missing, and the caller decides whether that is acceptable.
pub struct Cage {
    /// The layers of this process, which its children inherit.
    outer: CageReport,
    /// The filters that a child installs.
    inner: Option<Filters>,
}

impl Cage {
    /// Cages this process permanently. It can still fork, monitor its children and pass messages.
    ///
    /// `namespaces` is the result of [`isolate`](crate::isolate).
    ///
    /// # Errors
    /// If a layer that the kernel supports cannot be applied.
    pub fn enter(namespaces: Layer) -> io::Result<Self> {
        let capabilities = capabilities::drop_all_but(CapabilitySet::empty())?;
        rustix::thread::set_no_new_privs(true)?;
        let landlock = files::restrict_to(&[])?;
        let inner = if has_seccomp() { Some(install_filters()?) } else { None };
        let seccomp = if inner.is_some() { Layer::Applied } else { Layer::Missing };
        let no_new_privs = Layer::Applied;
        let outer =
            CageReport { rlimits: Layer::Missing, no_new_privs, capabilities, namespaces, landlock, seccomp };
        Ok(Self { outer, inner })
    }

    /// Closes the cage around this process: a child of the process that entered it, or that process itself if it needs no
    /// children. `address_space` is the maximum size of its address space, in bytes.
    ///
    /// # Errors
    /// If a layer that the kernel supports cannot be applied; the caller must exit.
    pub fn close(&self, address_space: u64) -> io::Result<CageReport> {
        limit_resources(address_space)?;
        if let Some(inner) = &self.inner {
            inner.install()?;
        }
        Ok(CageReport { rlimits: Layer::Applied, ..self.outer })
    }
}

/// Cages this process permanently, except that it can read and write files in `directories`, with its user's
/// permissions. It cannot use the network, start programs, or access other processes.
///
/// # Errors
/// If a layer that the kernel supports cannot be applied; the caller must exit.
pub(crate) fn enter_with_files(directories: &[PathBuf], address_space: u64) -> io::Result<()> {
    // No user namespace, because it would change which files the process may open. Without this capability, root could
    // not open other users' files.
    capabilities::drop_all_but(CapabilitySet::DAC_OVERRIDE)?;
    rustix::thread::set_no_new_privs(true)?;
    files::restrict_to(directories)?;
    limit(Resource::As, address_space)?;
    limit(Resource::Core, 0)?;
    limit(Resource::Nofile, 64)?;
    if has_seccomp() {
        Filters::with_files().map_err(io::Error::other)?.install()?;
    }
    Ok(())
}

/// Returns whether this kernel has seccomp.
fn has_seccomp() -> bool {
    rustix::thread::secure_computing_mode().is_ok()
}

/// Installs the outer filters and returns the inner ones.
fn install_filters() -> io::Result<Filters> {
    let (outer, inner) = (Filters::outer(), Filters::inner());
    outer.map_err(io::Error::other)?.install()?;
    inner.map_err(io::Error::other)
}

fn limit_resources(address_space: u64) -> io::Result<()> {
    limit(Resource::As, address_space)?;
    limit(Resource::Core, 0)?;
    limit(Resource::Fsize, 0)?;
    // About the number of open descriptors, which keep working; with 0, `poll` would reject them. The number of processes
    // needs no limit: seccomp allows only threads, and each one uses memory.
    limit(Resource::Nofile, 8)
}

fn limit(resource: Resource, value: u64) -> io::Result<()> {
    setrlimit(resource, Rlimit { current: Some(value), maximum: Some(value) }).map_err(io::Error::from)
}
