//! One run, seen from the gateway: frames in, answers out, limits kept.

use std::collections::VecDeque;
use std::io::Read as _;
use std::os::fd::OwnedFd;
use std::pin::pin;
use std::time::Duration;

use futures::StreamExt as _;
use futures::stream::{self, FuturesUnordered, Stream};
use serde_json::Value;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::unix::{OwnedReadHalf, OwnedWriteHalf};
use tokio::sync::mpsc;
use tokio::time::{Instant, sleep_until, timeout};

use crate::link::{ChildGuard, Exit};
use crate::wire::{self, Done, FromChild, ToChild};
use crate::worker::WaitingChild;
use crate::{Completion, Host, HostCall, HostError, LimitKind, Limits, NameKind, Outcome, Program, RunError};

/// Deepest nesting of a value that crosses the socket; the reader of JSON stops at 128.
pub(crate) const MAX_DEPTH: usize = 100;
/// Room in a frame beside the value that it carries.
const FRAME_MARGIN: usize = 64 * 1024;
/// How long to wait for the exit status of a child that closed its socket.
const EXIT_TIMEOUT: Duration = Duration::from_secs(5);

/// Runs `program` to its end in a child that waits for it. The clock starts here, however long the child has waited.
pub(crate) async fn run(
    child: WaitingChild,
    program: Program,
    limits: &Limits,
    host: &dyn Host,
) -> Result<Outcome, RunError> {
    let deadline = Instant::now() + limits.time;
    let (reader, writer) = child.socket.into_split();
    let (answers, queue) = mpsc::unbounded_channel();
    let running = Running {
        limits,
        host,
        child: child.child,
        stderr: child.stderr,
        answers,
        printed: String::new(),
        calls: 0,
        waiting: Waiting::default(),
    };
    running.send(&ToChild::Program {
        source: program.source,
        file_name: program.file_name,
        input: program.input,
        max_frame: limits.max_result_bytes.saturating_add(FRAME_MARGIN),
        max_result: limits.max_result_bytes,
    });
    running.serve(reader, writer, queue, deadline).await
}

/// A run that is under way.
struct Running<'a> {
    limits: &'a Limits,
    host: &'a dyn Host,
    child: ChildGuard,
    stderr: OwnedFd,
    answers: mpsc::UnboundedSender<Vec<u8>>,
    printed: String,
    calls: u32,
    waiting: Waiting,
}

/// Calls that wait until fewer are under way.
#[derive(Default)]
struct Waiting {
    calls: VecDeque<WaitingCall>,
    /// What their arguments take.
    bytes: usize,
}

struct WaitingCall {
    id: u64,
    call: HostCall,
    bytes: usize,
}

impl Waiting {
    fn push(&mut self, call: WaitingCall) {
        self.bytes = self.bytes.saturating_add(call.bytes);
        self.calls.push_back(call);
    }

    fn pop(&mut self) -> Option<WaitingCall> {
        let call = self.calls.pop_front()?;
        self.bytes -= call.bytes;
        Some(call)
    }
}

impl Running<'_> {
    /// Queues a frame. One that cannot be sent any more belongs to a child that is gone: its end is noticed elsewhere.
    fn send(&self, frame: &ToChild) {
        match wire::encode(frame) {
            Ok(bytes) => drop(self.answers.send(bytes)),
            Err(error) => tracing::warn!(%error, "cannot encode a frame for a run"),
        }
    }

    async fn serve(
        mut self,
        reader: OwnedReadHalf,
        writer: OwnedWriteHalf,
        queue: mpsc::UnboundedReceiver<Vec<u8>>,
        deadline: Instant,
    ) -> Result<Outcome, RunError> {
        let max_frame = self.limits.max_result_bytes.saturating_add(FRAME_MARGIN);
        let mut frames = pin!(frames(reader, max_frame));
        let mut writing = pin!(write_all(writer, queue));
        let mut is_writing = true;
        let mut timer = pin!(sleep_until(deadline));
        let mut under_way = FuturesUnordered::new();
        let host = self.host;
        loop {
            while under_way.len() < self.limits.max_parallel as usize
                && let Some(WaitingCall { id, call, .. }) = self.waiting.pop()
            {
                under_way.push(async move { (id, host.call(call).await) });
            }
            let frame = tokio::select! {
                biased;
                () = &mut timer => return Err(self.limit(LimitKind::Time)),
                () = &mut writing, if is_writing => {
                    is_writing = false;
                    continue;
                }
                Some((id, result)) = under_way.next() => {
                    self.send(&ToChild::Answer { id, result: checked(result) });
                    continue;
                }
                frame = frames.next() => frame,
            };
            match frame {
                Some(Ok((FromChild::Names(names), _))) => {
                    let asked = names.len();
                    let mut kinds = tokio::select! {
                        kinds = host.names(names) => kinds,
                        () = &mut timer => return Err(self.limit(LimitKind::Time)),
                    };
                    kinds.resize(asked, NameKind::Unknown { hint: None });
                    self.send(&ToChild::Names(kinds));
                }
                Some(Ok((FromChild::Call { id, name, args, kwargs }, bytes))) => {
                    if self.calls >= self.limits.max_calls {
                        return Err(self.limit(LimitKind::Calls));
                    }
                    self.calls += 1;
                    let is_full = under_way.len() >= self.limits.max_parallel as usize;
                    self.waiting.push(WaitingCall { id, call: HostCall { name, args, kwargs }, bytes });
                    if is_full && self.waiting.bytes > self.limits.max_result_bytes {
                        return Err(self.limit(LimitKind::Parallel));
                    }
                }
                Some(Ok((FromChild::Print(text), _))) => {
                    let room = self.limits.max_print_bytes - self.printed.len();
                    if text.len() > room {
                        self.printed.push_str(&text[..text.floor_char_boundary(room)]);
                        return Err(self.limit(LimitKind::Print));
                    }
                    self.printed.push_str(&text);
                }
                Some(Ok((FromChild::Done(done), _))) => return self.done(done),
                Some(Err(FrameError::TooLong)) => return Err(self.limit(LimitKind::Result)),
                Some(Err(FrameError::Broken(error))) => {
                    let reason = format!("it sent something unexpected: {error}");
                    return Err(RunError::Died { reason, printed: self.printed });
                }
                None => return Err(self.died().await),
            }
        }
    }

    fn done(self, done: Done) -> Result<Outcome, RunError> {
        match done {
            Done::Value { has_value, value, format, sanitize } => Ok(Outcome {
                printed: self.printed,
                value: if has_value { Completion::Value(value) } else { Completion::NoValue },
                format,
                sanitize,
                calls: self.calls,
            }),
            Done::Exception { kind, message, line, traceback } => Err(RunError::Exception {
                kind,
                message,
                line,
                traceback,
                printed: self.printed,
                calls: self.calls,
            }),
            Done::Syntax { message, line, column, text } => {
                Err(RunError::Syntax { message, line, column, text })
            }
            Done::Limit(limit) => Err(self.limit(limit)),
        }
    }

    fn limit(self, limit: LimitKind) -> RunError {
        RunError::Limit {
            limit,
            message: limit.explain(self.limits),
            printed: self.printed,
            calls: self.calls,
        }
    }

    /// Finds out why the child closed its socket without an answer.
    async fn died(mut self) -> RunError {
        let exit = timeout(EXIT_TIMEOUT, self.child.exit()).await;
        let said = read_available(&self.stderr);
        if said.contains("memory allocation of") {
            return self.limit(LimitKind::Memory);
        }
        if said.contains("has overflowed its stack") || said.contains("failed to allocate stack") {
            return self.limit(LimitKind::Nesting);
        }
        let reason = match exit {
            Ok(Exit::Signal(libc::SIGSYS)) => "it made a system call that the cage forbids".to_owned(),
            Ok(Exit::Signal(libc::SIGKILL)) => "it was killed (signal 9)".to_owned(),
            Ok(Exit::Signal(signal)) => format!("signal {signal}"),
            Ok(Exit::Code(code)) => format!("it ended with status {code}"),
            Ok(Exit::Lost(reason)) => reason,
            Err(_) => "it closed its socket and did not end".to_owned(),
        };
        let said: Vec<&str> = said.lines().map(str::trim).filter(|line| !line.is_empty()).take(2).collect();
        let reason = if said.is_empty() { reason } else { format!("{reason}: {}", said.join(" ")) };
        RunError::Died { reason, printed: self.printed }
    }
}

/// Keeps an answer that the child could not read from becoming the child's end.
fn checked(result: Result<Value, HostError>) -> Result<Value, HostError> {
    match result {
        Ok(value) if is_deeper_than(&value, MAX_DEPTH) => Err(HostError {
            kind: "ValueError".to_owned(),
            message: format!("the answer nests deeper than {MAX_DEPTH} levels"),
        }),
        result => result,
    }
}

fn is_deeper_than(value: &Value, depth: usize) -> bool {
    match value {
        Value::Array(items) => depth == 0 || items.iter().any(|item| is_deeper_than(item, depth - 1)),
        Value::Object(members) => depth == 0 || members.values().any(|item| is_deeper_than(item, depth - 1)),
        _ => false,
    }
}

enum FrameError {
    TooLong,
    Broken(String),
}

/// Reads frames, each with its length, to the end of the stream. What was read stays in the stream when `next` is dropped.
fn frames(
    reader: OwnedReadHalf,
    max_frame: usize,
) -> impl Stream<Item = Result<(FromChild, usize), FrameError>> {
    stream::unfold(reader, move |mut reader| async move {
        // A child that dies while it writes leaves half a frame: that is an end, too.
        let length = reader.read_u32_le().await.ok()? as usize;
        if length > max_frame {
            return Some((Err(FrameError::TooLong), reader));
        }
        let mut bytes = vec![0; length];
        reader.read_exact(&mut bytes).await.ok()?;
        let frame = serde_json::from_slice(&bytes).map_err(|error| FrameError::Broken(error.to_string()));
        Some((frame.map(|frame| (frame, length)), reader))
    })
}

/// Writes what is queued. Apart from reading, so that a child that writes and one that reads never wait for each other.
async fn write_all(mut writer: OwnedWriteHalf, mut queue: mpsc::UnboundedReceiver<Vec<u8>>) {
    while let Some(bytes) = queue.recv().await {
        if writer.write_all(&bytes).await.is_err() {
            return;
        }
    }
}

/// Reads what the child wrote to its standard error, as far as it is there.
fn read_available(stderr: &OwnedFd) -> String {
    let Ok(stderr) = stderr.try_clone() else { return String::new() };
    let mut bytes = vec![0; 4096];
    let length = std::fs::File::from(stderr).read(&mut bytes).unwrap_or_default();
    String::from_utf8_lossy(&bytes[..length]).into_owned()
}
