//! The child's end of the socket: any thread may call, whoever waits reads for all.

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
use crate::{HostAnswer, HostError, NameKind};
use onetool_cage::process::exit_now;

/// Printed text is sent in pieces of this size once the code prints much.
const PRINT_PIECE: usize = 4096;
/// So many writes are sent at once, so that little is lost when the run is killed.
const PROMPT_WRITES: u32 = 64;

/// What the host said to a call.
pub(super) type Answer = Result<HostAnswer, HostError>;

/// The channel of this process: there is one, from the moment the child has its program.
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

/// Text that was printed and not yet sent.
#[derive(Default)]
struct Printed {
    text: String,
    writes: u32,
}

#[derive(Default)]
struct Inbox {
    answers: HashMap<u64, Answer>,
    /// Calls whose answers go to the event loop.
    awaited: HashSet<u64>,
    is_being_read: bool,
    is_woken: bool,
}

/// Gives the channel; before the child has its program nothing can ask for it.
pub(super) fn channel() -> &'static Channel {
    CHANNEL.get().unwrap_or_else(|| exit_now(3))
}

/// Sets the channel of this process up.
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
    /// Asks the host what these names are.
    pub(super) fn names(&self, names: Vec<String>) -> Vec<NameKind> {
        self.send(&FromChild::Names(names));
        match wire::read_frame(&self.socket) {
            Ok(ToChild::Names(kinds)) => kinds,
            _ => exit_now(4),
        }
    }

    /// Sends a call; false if it is larger than a frame may be.
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

    /// Waits for the answer to a call that this thread made.
    pub(super) fn answer(&self, id: u64) -> Answer {
        let answer = self.wait(None, false, |inbox| inbox.answers.remove(&id));
        answer.unwrap_or_else(|| exit_now(4))
    }

    /// Waits until there are answers for the event loop, it is woken, or the time is over.
    pub(super) fn answers(&self, timeout: Option<Duration>) -> Vec<(u64, Answer)> {
        let deadline = timeout.map(|timeout| Instant::now() + timeout);
        let take = |inbox: &mut Inbox| {
            let ready: Vec<u64> =
                inbox.answers.keys().filter(|id| inbox.awaited.contains(id)).copied().collect();
            let is_woken = std::mem::take(&mut inbox.is_woken);
            let mut taken = Vec::new();
            for id in ready {
                inbox.awaited.remove(&id);
                taken.extend(inbox.answers.remove(&id).map(|answer| (id, answer)));
            }
            (is_woken || !taken.is_empty()).then_some(taken)
        };
        let mut answers = self.wait(deadline, true, take).unwrap_or_default();
        answers.sort_by_key(|(id, _)| *id);
        answers
    }

    /// Wakes the event loop.
    pub(super) fn wake(&self) {
        lock(&self.inbox).is_woken = true;
        self.arrived.notify_all();
        // A pipe that is full wakes as well.
        let _ = rustix::io::write(&self.wake.1, &[1]);
    }

    /// Sends printed text, or keeps it until there is more.
    pub(super) fn print(&self, text: &str) {
        let mut printed = lock(&self.sending);
        printed.text.push_str(text);
        printed.writes = printed.writes.saturating_add(1);
        if printed.writes < PROMPT_WRITES || printed.text.len() >= PRINT_PIECE {
            self.flush(&mut printed);
        }
    }

    /// Sends a frame and all that was printed before it; false if it is too large.
    pub(super) fn send(&self, frame: &FromChild) -> bool {
        self.send_within(self.max_frame, frame)
    }

    /// Sends a frame unless it is larger than `max` bytes.
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
        // In pieces, so that no frame is too large.
        let mut rest = printed.text.as_str();
        while !rest.is_empty() {
            let (piece, next) = rest.split_at(rest.floor_char_boundary(64 * 1024));
            let frame: FromChild = FromChild::Print(piece.to_owned());
            match wire::encode(&frame) {
                Ok(bytes) => self.write(&bytes),
                Err(_) => exit_now(4),
            }
            rest = next;
        }
        printed.text.clear();
    }

    /// Writes bytes; when the gateway is gone there is nobody left to work for.
    fn write(&self, bytes: &[u8]) {
        use io::Write as _;
        if (&self.socket).write_all(bytes).is_err() {
            exit_now(4);
        }
    }

    /// Waits until `take` finds what it looks for. One waiting thread reads the socket for all.
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
                && inbox.is_being_read
            {
                return None;
            }
            if inbox.is_being_read {
                inbox = match left {
                    None => self.arrived.wait(inbox).unpoisoned(),
                    Some(left) => self.arrived.wait_timeout(inbox, left).unpoisoned().0,
                };
                continue;
            }
            inbox.is_being_read = true;
            drop(inbox);
            let read = self.read(left, is_wakeable);
            inbox = lock(&self.inbox);
            inbox.is_being_read = false;
            if let Read::Frame(id, answer) = read {
                inbox.answers.insert(id, answer);
                self.arrived.notify_all();
            } else {
                // Somebody else may have to read on.
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
            Err(_) => exit_now(4),
        }
        if is_wakeable && !watched[1].revents().is_empty() {
            let mut bytes = [0; 64];
            let _ = rustix::io::read(&self.wake.0, &mut bytes);
        }
        if watched[0].revents().is_empty() {
            return Read::Woken;
        }
        match wire::read_frame(&self.socket) {
            Ok(ToChild::Answer { id, result }) => Read::Frame(id, result),
            _ => exit_now(4),
        }
    }
}

enum Read {
    Frame(u64, Answer),
    Woken,
    TimedOut,
}
