//! The child's end of the socket. Any thread can make calls; one waiting thread reads for all.

use std::collections::{HashMap, HashSet};
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, OnceLock};
use std::time::{Duration, Instant};

use onetool_core::sync::Unpoisoned as _;
use rustix::event::{PollFd, PollFlags, poll};
use serde_json::{Map, Value};

use crate::wire::{self, FromChild, ToChild};
use crate::{HostError, HostReply, NameKind};
use onetool_cage::process::exit_immediately;

/// Once the code has printed a lot, printed text is sent in chunks of this size.
const PRINT_CHUNK: usize = 4096;
/// The first writes are sent immediately, so that little is lost if the run is killed.
const IMMEDIATE_WRITES: u32 = 64;

/// The result of a call.
pub(super) type Reply = Result<HostReply, HostError>;

/// The channel of this process, opened when the child gets its program.
static CHANNEL: OnceLock<Channel> = OnceLock::new();

pub(super) struct Channel {
    socket: UnixStream,
    sending: Mutex<Printed>,
    inbox: Mutex<Inbox>,
    arrived: Condvar,
    wake: (OwnedFd, OwnedFd),
    last_id: AtomicU64,
    max_frame: usize,
}

/// Printed text that was not sent yet.
#[derive(Default)]
struct Printed {
    text: String,
    writes: u32,
}

#[derive(Default)]
struct Inbox {
    replies: HashMap<u64, Reply>,
    /// Calls whose results go to the event loop.
    awaited: HashSet<u64>,
    has_reader: bool,
    is_woken: bool,
}

/// Returns the channel. Must not be called before [`open`].
pub(super) fn channel() -> &'static Channel {
    CHANNEL.get().unwrap_or_else(|| exit_immediately(3))
}

/// Opens the channel of this process.
pub(super) fn open(socket: UnixStream, wake: (OwnedFd, OwnedFd), max_frame: usize) -> &'static Channel {
    CHANNEL.get_or_init(|| Channel {
        socket,
        sending: Mutex::default(),
        inbox: Mutex::default(),
        arrived: Condvar::new(),
        wake,
        last_id: AtomicU64::new(0),
        max_frame,
    })
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unpoisoned()
}

impl Channel {
    /// Asks the host for the kinds of these names.
    pub(super) fn names(&self, names: Vec<String>) -> Vec<NameKind> {
        self.send(&FromChild::Names(names));
        match wire::read_frame(&self.socket) {
            Ok(ToChild::Names(kinds)) => kinds,
            _ => exit_immediately(4),
        }
    }

    /// Sends a call and returns its id, or `None` if it is too large for a frame.
    pub(super) fn call(
        &self,
        name: String,
        args: Vec<Value>,
        kwargs: Map<String, Value>,
        is_awaited: bool,
    ) -> Option<u64> {
        let id = self.last_id.fetch_add(1, Ordering::Relaxed);
        if is_awaited {
            lock(&self.inbox).awaited.insert(id);
        }
        let (args, kwargs) = (Value::Array(args), Value::Object(kwargs));
        self.send(&FromChild::Call { id, name, args, kwargs }).then_some(id)
    }

    /// Waits for the result of a call that this thread made.
    pub(super) fn reply(&self, id: u64) -> Reply {
        let reply = self.wait(None, false, |inbox| inbox.replies.remove(&id));
        reply.unwrap_or_else(|| exit_immediately(4))
    }

    /// Waits until there are results for the event loop, it is woken, or the timeout expires.
    pub(super) fn replies(&self, timeout: Option<Duration>) -> Vec<(u64, Reply)> {
        let deadline = timeout.map(|timeout| Instant::now() + timeout);
        let take = |inbox: &mut Inbox| {
            let ready: Vec<u64> =
                inbox.replies.keys().filter(|id| inbox.awaited.contains(id)).copied().collect();
            let is_woken = std::mem::take(&mut inbox.is_woken);
            let mut taken = Vec::new();
            for id in ready {
                inbox.awaited.remove(&id);
                taken.extend(inbox.replies.remove(&id).map(|reply| (id, reply)));
            }
            (is_woken || !taken.is_empty()).then_some(taken)
        };
        let mut replies = self.wait(deadline, true, take).unwrap_or_default();
        replies.sort_by_key(|(id, _)| *id);
        replies
    }

    /// Wakes the event loop.
    pub(super) fn wake(&self) {
        lock(&self.inbox).is_woken = true;
        self.arrived.notify_all();
        // If the pipe is full, the event loop wakes anyway.
        let _ = rustix::io::write(&self.wake.1, &[1]);
    }

    /// Sends printed text, or buffers it.
    pub(super) fn print(&self, text: &str) {
        let mut printed = lock(&self.sending);
        printed.text.push_str(text);
        printed.writes = printed.writes.saturating_add(1);
        if printed.writes < IMMEDIATE_WRITES || printed.text.len() >= PRINT_CHUNK {
            self.flush(&mut printed);
        }
    }

    /// Sends buffered text and then a frame. Returns false if the frame is too large.
    pub(super) fn send(&self, frame: &FromChild) -> bool {
        self.send_within(self.max_frame, frame)
    }

    /// Sends buffered text and then a frame. Returns false if the frame is larger than `max` bytes.
    pub(super) fn send_within(&self, max: usize, frame: &FromChild) -> bool {
        let Ok(bytes) = wire::encode(frame) else { return false };
        if bytes.len() > max {
            return false;
        }
        let mut printed = lock(&self.sending);
        self.flush(&mut printed);
        self.write(&bytes);
        true
    }

    fn flush(&self, printed: &mut Printed) {
        // In chunks, so that no frame is too large.
        let mut rest = printed.text.as_str();
        while !rest.is_empty() {
            let (chunk, next) = rest.split_at(rest.floor_char_boundary(64 * 1024));
            let frame: FromChild = FromChild::Print(chunk.to_owned());
            match wire::encode(&frame) {
                Ok(bytes) => self.write(&bytes),
                Err(_) => exit_immediately(4),
            }
            rest = next;
        }
        printed.text.clear();
    }

    /// Writes bytes. Exits if the gateway has closed the socket, because the result is no longer needed.
    fn write(&self, bytes: &[u8]) {
        use io::Write as _;
        if (&self.socket).write_all(bytes).is_err() {
            exit_immediately(4);
        }
    }

    /// Waits until `take` returns a value, or the deadline has passed. One waiting thread reads the socket for all.
    fn wait<T>(
        &self,
        deadline: Option<Instant>,
        is_wakeable: bool,
        take: impl Fn(&mut Inbox) -> Option<T>,
    ) -> Option<T> {
        let mut inbox = lock(&self.inbox);
        loop {
            if let Some(taken) = take(&mut inbox) {
                return Some(taken);
            }
            let left = deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()));
            if left == Some(Duration::ZERO)
                && deadline.is_some_and(|it| it <= Instant::now())
                && inbox.has_reader
            {
                return None;
            }
            if inbox.has_reader {
                inbox = match left {
                    None => self.arrived.wait(inbox).unpoisoned(),
                    Some(left) => self.arrived.wait_timeout(inbox, left).unpoisoned().0,
                };
                continue;
            }
            inbox.has_reader = true;
            drop(inbox);
            let read = self.read(left, is_wakeable);
            inbox = lock(&self.inbox);
            inbox.has_reader = false;
            if let Read::Reply(id, reply) = read {
                inbox.replies.insert(id, reply);
                self.arrived.notify_all();
            } else {
                // Another thread may have to take over reading.
                self.arrived.notify_all();
                if matches!(read, Read::TimedOut) {
                    return take(&mut inbox);
                }
            }
        }
    }

    fn read(&self, timeout: Option<Duration>, is_wakeable: bool) -> Read {
        let timeout = timeout.and_then(|timeout| timeout.try_into().ok());
        let mut watched =
            [PollFd::new(&self.socket, PollFlags::IN), PollFd::new(&self.wake.0, PollFlags::IN)];
        let count = if is_wakeable { 2 } else { 1 };
        match poll(&mut watched[..count], timeout.as_ref()) {
            Ok(0) => return Read::TimedOut,
            Ok(_) => {}
            Err(rustix::io::Errno::INTR) => return Read::Woken,
            Err(_) => exit_immediately(4),
        }
        if is_wakeable && !watched[1].revents().is_empty() {
            let mut bytes = [0; 64];
            let _ = rustix::io::read(&self.wake.0, &mut bytes);
        }
        if watched[0].revents().is_empty() {
            return Read::Woken;
        }
        match wire::read_frame(&self.socket) {
            Ok(ToChild::Reply { id, result }) => Read::Reply(id, result),
            _ => exit_immediately(4),
        }
    }
}

enum Read {
    Reply(u64, Reply),
    Woken,
    TimedOut,
}
