//! The layers around a process: it can compute and use its open descriptors, and do nothing else.

use std::io;
use std::path::PathBuf;

use rustix::process::{Resource, Rlimit, setrlimit};
use rustix::thread::CapabilitySet;

use crate::filters::Filters;
use crate::report::{CageReport, Layer};
use crate::{capabilities, files};

/// The layers around a process and its children.
///
/// A layer that this kernel offers is applied, or entering fails: there is no quiet way to run without one. What the
/// kernel does not offer is reported as missing, and whoever starts the process decides whether that is acceptable.
pub struct Cage {
    /// What is in place around this process, and so around every child.
    outer: CageReport,
    /// The filters that a child installs.
    inner: Option<Filters>,
}

impl Cage {
    /// Cages this process, for good. It can still fork, watch its children and pass messages.
    ///
    /// `namespaces` is what [`isolate`](crate::isolate) returned before.
    ///
    /// # Errors
    /// When a layer that the kernel offers cannot be applied.
    pub fn enter(namespaces: Layer) -> io::Result<Self> {
        let capabilities = capabilities::drop_all_but(CapabilitySet::empty())?;
        rustix::thread::set_no_new_privs(true)?;
        let landlock = files::forbid_all_but(&[])?;
        let inner = if has_seccomp() { Some(filters()?) } else { None };
        let seccomp = if inner.is_some() { Layer::Applied } else { Layer::Missing };
        let no_new_privs = Layer::Applied;
        let outer =
            CageReport { rlimits: Layer::Missing, no_new_privs, capabilities, namespaces, landlock, seccomp };
        Ok(Self { outer, inner })
    }

    /// Closes the cage around this process, a child of the one that entered it (or that process itself, if it needs no
    /// children). `address_space` is how many bytes of addresses it may use.
    ///
    /// # Errors
    /// When a layer that the kernel offers cannot be applied; the caller must exit.
    pub fn close(&self, address_space: u64) -> io::Result<CageReport> {
        limit_resources(address_space)?;
        if let Some(inner) = &self.inner {
            inner.install()?;
        }
        Ok(CageReport { rlimits: Layer::Applied, ..self.outer })
    }
}

/// Cages this process, for good, but for files in `directories`: it can read and write those, as its user may. It cannot
/// use the network, start programs, or touch other processes.
///
/// # Errors
/// When a layer that the kernel offers cannot be applied; the caller must exit.
pub(crate) fn enter_with_files(directories: &[PathBuf], address_space: u64) -> io::Result<()> {
    // A user namespace would change whose files it may open. Root without this one could not open those of others.
    capabilities::drop_all_but(CapabilitySet::DAC_OVERRIDE)?;
    rustix::thread::set_no_new_privs(true)?;
    files::forbid_all_but(directories)?;
    limit(Resource::As, address_space)?;
    limit(Resource::Core, 0)?;
    limit(Resource::Nofile, 64)?;
    if has_seccomp() {
        Filters::with_files().map_err(io::Error::other)?.install()?;
    }
    Ok(())
}

/// Tells whether this kernel has seccomp.
fn has_seccomp() -> bool {
    rustix::thread::secure_computing_mode().is_ok()
}

/// Installs the outer filters and returns the inner ones.
fn filters() -> io::Result<Filters> {
    let (outer, inner) = (Filters::outer(), Filters::inner());
    outer.map_err(io::Error::other)?.install()?;
    inner.map_err(io::Error::other)
}

fn limit_resources(address_space: u64) -> io::Result<()> {
    limit(Resource::As, address_space)?;
    limit(Resource::Core, 0)?;
    limit(Resource::Fsize, 0)?;
    // Roughly what is open already, which keeps working. (At 0, `poll` would refuse to wait on any.) The number of
    // processes needs no limit: only threads can be created, and each one uses memory.
    limit(Resource::Nofile, 8)
}

fn limit(resource: Resource, value: u64) -> io::Result<()> {
    setrlimit(resource, Rlimit { current: Some(value), maximum: Some(value) }).map_err(io::Error::from)
}
