//! A zygote with a child in reserve, so that a run need not wait for its process.

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

/// A running zygote and at most one spare child. Dropping it ends them all.
pub(crate) struct Worker {
    link: Link,
    spare: Mutex<Option<WaitingChild>>,
}

/// A child that waits for its program.
pub(crate) struct WaitingChild {
    pub(crate) socket: UnixStream,
    pub(crate) child: ChildGuard,
    pub(crate) stderr: OwnedFd,
    /// What it may use; a child cannot be given another limit once it is in its cage.
    memory_bytes: u64,
}

impl Worker {
    /// Starts a zygote.
    pub(crate) fn start(command: &WorkerCommand) -> Result<Self, RunError> {
        Ok(Self { link: Link::start(command)?, spare: Mutex::default() })
    }

    /// Whether further children can be forked from the zygote.
    pub(crate) fn is_usable(&self) -> bool {
        self.link.is_usable()
    }

    /// Waits until the zygote is warm.
    pub(crate) async fn ready(&self) -> Result<CageReport, RunError> {
        self.link.ready().await
    }

    /// Gives the spare child if it will do, or has another one forked; nothing was run if this fails.
    pub(crate) async fn child(&self, memory_bytes: u64) -> Result<WaitingChild, RunError> {
        let spare = self.spare.lock().unpoisoned().take();
        if let Some(spare) = spare.filter(|spare| spare.memory_bytes == memory_bytes && spare.is_alive()) {
            return Ok(spare);
        }
        let ends = Ends::new().map_err(unavailable)?;
        let child =
            self.link.fork(memory_bytes, [ends.child_socket.as_fd(), ends.child_stderr.as_fd()]).await;
        Ok(WaitingChild { socket: ends.socket, child: child?, stderr: ends.stderr, memory_bytes })
    }

    /// Has a spare child forked if there is none. One that cannot be had now is no loss: the next run asks again.
    pub(crate) fn keep_spare(&self, memory_bytes: u64) {
        let mut spare = self.spare.lock().unpoisoned();
        if spare.is_some() {
            return;
        }
        let Ok(ends) = Ends::new() else { return };
        let beside = [ends.child_socket.as_fd(), ends.child_stderr.as_fd()];
        let Ok(child) = self.link.try_fork(memory_bytes, beside) else { return };
        *spare = Some(WaitingChild { socket: ends.socket, child, stderr: ends.stderr, memory_bytes });
    }
}

impl WaitingChild {
    /// Whether the child still holds its end of the socket. It says nothing before it has its program.
    fn is_alive(&self) -> bool {
        let mut watched = [PollFd::new(&self.socket, PollFlags::IN)];
        poll(&mut watched, Some(&Timespec::default())) == Ok(0)
    }
}

/// Both ends of what connects a child with the gateway.
struct Ends {
    socket: UnixStream,
    child_socket: OwnedFd,
    stderr: OwnedFd,
    child_stderr: OwnedFd,
}

impl Ends {
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
