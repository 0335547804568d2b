//! The gateway's end of the control socket: starts the zygote, requests children and receives their exit status.

use std::collections::HashMap;
use std::io;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::process::{ExitStatus, Stdio};
use std::sync::{Arc, Mutex, Weak};
use std::time::Duration;

use onetool_core::sync::Unpoisoned as _;
use rustix::net::{AddressFamily, Shutdown, SocketFlags, SocketType, shutdown, socketpair};
use rustix::process::{Signal, pidfd_send_signal};
use tokio::io::Interest;
use tokio::net::UnixDatagram;
use tokio::process::{Child, Command};
use tokio::sync::{oneshot, watch};

use crate::control::{self, ForkRequest, ZygoteReport};
use crate::{CageReport, RunError, WorkerCommand};

/// How long to wait for a zygote to warm up.
const START_TIMEOUT: Duration = Duration::from_secs(30);

/// A running zygote. Dropping it ends the zygote and all its children.
pub(crate) struct Link {
    control: Arc<UnixDatagram>,
    state: watch::Receiver<State>,
    children: Arc<Mutex<Children>>,
}

#[derive(Clone, Debug)]
enum State {
    Starting,
    Ready(CageReport),
    Ended(String),
}

#[derive(Default)]
struct Children {
    last_id: u64,
    by_id: HashMap<u64, ChildEntry>,
    /// Whether a child was killed by a signal that we did not send.
    has_crashed: bool,
}

struct ChildEntry {
    /// The child's pidfd, once the zygote has reported it.
    process: Option<OwnedFd>,
    /// Whether the guard was dropped. The child is then killed as soon as its pidfd is known.
    is_abandoned: bool,
    exit: Option<oneshot::Sender<Exit>>,
}

/// How a child exited.
#[derive(Clone, Debug)]
pub(crate) enum Exit {
    Code(i32),
    Signal(i32),
    /// It never started, or its exit status is unknown.
    Lost(String),
}

impl Link {
    /// Starts a zygote.
    pub(crate) fn start(worker: &WorkerCommand) -> Result<Self, RunError> {
        let unavailable = |error: io::Error| RunError::Unavailable {
            reason: format!("{}: {error}", worker.program.display()),
        };
        Self::try_start(worker).map_err(unavailable)
    }

    fn try_start(worker: &WorkerCommand) -> io::Result<Self> {
        let flags = SocketFlags::CLOEXEC;
        let (ours, theirs) = socketpair(AddressFamily::UNIX, SocketType::SEQPACKET, flags, None)?;
        rustix::io::ioctl_fionbio(&ours, true)?;
        let process = Command::new(&worker.program)
            .args(&worker.args)
            .env_clear()
            .stdin(Stdio::from(theirs))
            .stdout(Stdio::null())
            // A separate process group, because Ctrl-C in a terminal is for the gateway, which then shuts down its runs.
            .process_group(0)
            .spawn()?;
        let control = Arc::new(UnixDatagram::from_std(ours.into())?);
        let children = Arc::new(Mutex::new(Children::default()));
        let (state_sender, state) = watch::channel(State::Starting);
        tokio::spawn(listen(control.clone(), process, state_sender, Arc::downgrade(&children)));
        Ok(Self { control, state, children })
    }

    /// Returns whether the zygote can fork more children.
    ///
    /// It must not after one of them was killed by a signal that we did not send. That may have been an exploit attempt,
    /// and all children of a zygote have the same memory layout: a second attempt must not benefit from what the first
    /// one learned.
    pub(crate) fn is_usable(&self) -> bool {
        let has_ended = matches!(*self.state.borrow(), State::Ended(_)) || self.state.has_changed().is_err();
        !has_ended && !lock(&self.children).has_crashed
    }

    /// Waits until the zygote is warm.
    pub(crate) async fn ready(&self) -> Result<CageReport, RunError> {
        let mut state = self.state.clone();
        let decided = state.wait_for(|state| !matches!(state, State::Starting));
        let reason = match tokio::time::timeout(START_TIMEOUT, decided).await {
            Ok(Ok(state)) => match &*state {
                State::Ready(report) => return Ok(*report),
                State::Ended(reason) => reason.clone(),
                State::Starting => "it is not ready".to_owned(),
            },
            Ok(Err(_)) => "it is no longer running".to_owned(),
            Err(_) => format!("it was not ready after {} s", START_TIMEOUT.as_secs()),
        };
        Err(RunError::Unavailable { reason })
    }

    /// Requests a child. `descriptors` are its end of the socket pair and its stderr.
    pub(crate) async fn fork(
        &self,
        memory_bytes: u64,
        descriptors: [BorrowedFd<'_>; 2],
    ) -> Result<ChildGuard, RunError> {
        let guard = self.register_child();
        let request = ForkRequest { id: guard.id, memory_bytes };
        let send = || control::send(&self.control, &request, &descriptors);
        match self.control.async_io(Interest::WRITABLE, send).await {
            Ok(()) => Ok(guard),
            Err(error) => Err(RunError::Unavailable { reason: format!("cannot reach the worker: {error}") }),
        }
    }

    /// Requests a child like [`fork`](Self::fork), but fails instead of waiting.
    pub(crate) fn try_fork(
        &self,
        memory_bytes: u64,
        descriptors: [BorrowedFd<'_>; 2],
    ) -> io::Result<ChildGuard> {
        let guard = self.register_child();
        let request = ForkRequest { id: guard.id, memory_bytes };
        let send = || control::send(&self.control, &request, &descriptors);
        self.control.try_io(Interest::WRITABLE, send).map(|()| guard)
    }

    /// Registers a child before it is requested, to match the zygote's reports about it.
    fn register_child(&self) -> ChildGuard {
        let (exit_sender, exit) = oneshot::channel();
        let mut children = lock(&self.children);
        children.last_id += 1;
        let id = children.last_id;
        let entry = ChildEntry { process: None, is_abandoned: false, exit: Some(exit_sender) };
        children.by_id.insert(id, entry);
        ChildGuard { id, children: self.children.clone(), exit }
    }
}

impl Drop for Link {
    fn drop(&mut self) {
        // The zygote notices, kills its children, and exits. It may already have exited, so errors are ignored.
        let _ = shutdown(&self.control, Shutdown::Both);
    }
}

/// A child of the zygote; dropping it kills the child.
pub(crate) struct ChildGuard {
    id: u64,
    children: Arc<Mutex<Children>>,
    exit: oneshot::Receiver<Exit>,
}

impl ChildGuard {
    /// Waits until the child exits.
    pub(crate) async fn exit(&mut self) -> Exit {
        let lost = |_| Exit::Lost("the process it was forked from died".to_owned());
        (&mut self.exit).await.unwrap_or_else(lost)
    }
}

impl Drop for ChildGuard {
    fn drop(&mut self) {
        let mut children = lock(&self.children);
        let Some(entry) = children.by_id.get_mut(&self.id) else { return };
        entry.is_abandoned = true;
        kill(entry);
    }
}

fn kill(entry: &ChildEntry) {
    if let Some(process) = &entry.process {
        // The child may already have exited.
        let _ = pidfd_send_signal(process, Signal::KILL);
    }
}

fn lock(children: &Mutex<Children>) -> std::sync::MutexGuard<'_, Children> {
    children.lock().unpoisoned()
}

/// Handles the zygote's reports until it exits, and collects its exit status.
async fn listen(
    control: Arc<UnixDatagram>,
    mut process: Child,
    state: watch::Sender<State>,
    children: Weak<Mutex<Children>>,
) {
    let error = loop {
        let receive = || control::receive::<ZygoteReport>(&control);
        match control.async_io(Interest::READABLE, receive).await {
            Ok(Some((ZygoteReport::Ready { cage }, _))) => {
                state.send_replace(State::Ready(cage));
            }
            Ok(Some((report, descriptors))) => {
                if let Some(children) = children.upgrade() {
                    handle_report(&mut lock(&children), report, descriptors);
                }
            }
            Ok(None) => break None,
            Err(error) => break Some(error),
        }
    };
    let _ = shutdown(&control, Shutdown::Both);
    let status = process.wait().await;
    state.send_replace(State::Ended(describe_end(error, status)));
    if let Some(children) = children.upgrade() {
        // Closes the channels of all waiting guards.
        lock(&children).by_id.clear();
    }
}

fn handle_report(children: &mut Children, report: ZygoteReport, mut descriptors: Vec<OwnedFd>) {
    match report {
        ZygoteReport::Ready { .. } => {}
        ZygoteReport::Forked { id } => {
            if let Some(entry) = children.by_id.get_mut(&id) {
                entry.process = descriptors.pop();
                if entry.is_abandoned {
                    kill(entry);
                }
            }
        }
        ZygoteReport::Failed { id, reason } => finish(children, id, Exit::Lost(format!("fork: {reason}"))),
        ZygoteReport::Exited { id, code, signal } => {
            let exit = match (code, signal) {
                (Some(code), _) => Exit::Code(code),
                (None, Some(signal)) => Exit::Signal(signal),
                (None, None) => Exit::Lost("no exit status".to_owned()),
            };
            finish(children, id, exit);
        }
    }
}

fn finish(children: &mut Children, id: u64, exit: Exit) {
    let Some(entry) = children.by_id.remove(&id) else { return };
    if matches!(exit, Exit::Signal(_)) && !entry.is_abandoned {
        children.has_crashed = true;
    }
    if let Some(sender) = entry.exit {
        // The guard may already be dropped.
        let _ = sender.send(exit);
    }
}

fn describe_end(error: Option<io::Error>, status: io::Result<ExitStatus>) -> String {
    match (error, status) {
        (Some(error), _) => format!("protocol error: {error}"),
        (None, Ok(status)) => format!("it exited ({status})"),
        (None, Err(error)) => format!("it exited: {error}"),
    }
}
