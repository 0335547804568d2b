//! A zygote with a spare child, so that a run does not have to wait for a fork.

use std::io;
use std::os::fd::{AsFd as _, OwnedFd};
use std::os::unix::net::UnixStream as StdUnixStream;
use std::sync::Mutex;

use onetool_core::sync::Unpoisoned as _;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::pipe::{PipeFlags, pipe_with};
use tokio::net::UnixStream;

use crate::link::{ChildGuard, Link};
use crate::{CageReport, RunError, WorkerCommand};

/// A running zygote and at most one spare child. Dropping it ends both, and all other children.
pub(crate) struct Worker {
    link: Link,
    spare: Mutex<Option<WaitingChild>>,
}

/// A child waiting for its program.
pub(crate) struct WaitingChild {
    pub(crate) socket: UnixStream,
    pub(crate) child: ChildGuard,
    pub(crate) stderr: OwnedFd,
    /// Its memory limit, which cannot be changed once it is caged.
    memory_bytes: u64,
}

impl Worker {
    /// Starts a zygote.
    pub(crate) fn start(command: &WorkerCommand) -> Result<Self, RunError> {
        Ok(Self { link: Link::start(command)?, spare: Mutex::default() })
    }

    /// Returns whether the zygote can fork more children.
    pub(crate) fn is_usable(&self) -> bool {
        self.link.is_usable()
    }

    /// Waits until the zygote is warm.
    pub(crate) async fn ready(&self) -> Result<CageReport, RunError> {
        self.link.ready().await
    }

    /// Returns the spare child if its limit matches, or else a new child. If this fails, no code has run.
    pub(crate) async fn child(&self, memory_bytes: u64) -> Result<WaitingChild, RunError> {
        let spare = self.spare.lock().unpoisoned().take();
        if let Some(spare) = spare.filter(|spare| spare.memory_bytes == memory_bytes && spare.is_alive()) {
            return Ok(spare);
        }
        let streams = ChildStreams::new().map_err(unavailable)?;
        let descriptors = [streams.child_socket.as_fd(), streams.child_stderr.as_fd()];
        let child = self.link.fork(memory_bytes, descriptors).await?;
        Ok(WaitingChild { socket: streams.socket, child, stderr: streams.stderr, memory_bytes })
    }

    /// Forks a spare child if there is none. Ignores errors, because the next run retries.
    pub(crate) fn keep_spare(&self, memory_bytes: u64) {
        let mut spare = self.spare.lock().unpoisoned();
        if spare.is_some() {
            return;
        }
        let Ok(streams) = ChildStreams::new() else { return };
        let descriptors = [streams.child_socket.as_fd(), streams.child_stderr.as_fd()];
        let Ok(child) = self.link.try_fork(memory_bytes, descriptors) else { return };
        *spare = Some(WaitingChild { socket: streams.socket, child, stderr: streams.stderr, memory_bytes });
    }
}

impl WaitingChild {
    /// Returns whether the child still has its end of the socket open. It sends nothing before it gets its program.
    fn is_alive(&self) -> bool {
        let mut watched = [PollFd::new(&self.socket, PollFlags::IN)];
        poll(&mut watched, Some(&Timespec::default())) == Ok(0)
    }
}

/// Both ends of a child's socket and stderr pipe.
struct ChildStreams {
    socket: UnixStream,
    child_socket: OwnedFd,
    stderr: OwnedFd,
    child_stderr: OwnedFd,
}

impl ChildStreams {
    fn new() -> io::Result<Self> {
        let (ours, theirs) = StdUnixStream::pair()?;
        let (stderr, child_stderr) = pipe_with(PipeFlags::CLOEXEC | PipeFlags::NONBLOCK)?;
        ours.set_nonblocking(true)?;
        Ok(Self { socket: UnixStream::from_std(ours)?, child_socket: theirs.into(), stderr, child_stderr })
    }
}

fn unavailable(error: io::Error) -> RunError {
    RunError::Unavailable { reason: error.to_string() }
}
