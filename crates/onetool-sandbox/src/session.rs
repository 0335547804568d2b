//! The gateway's side of one run: handles the child's frames and enforces the limits.

use std::collections::VecDeque;
use std::io::Read as _;
use std::os::fd::OwnedFd;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use futures::StreamExt as _;
use futures::stream::{self, FuturesUnordered, Stream};
use onetool_cage::{ProcessLimit, limit_from_stderr};
use onetool_core::json_weight;
use serde_json::Value;
use serde_json::value::RawValue;
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::sync::mpsc;
use tokio::time::{Instant, sleep_until, timeout};

use crate::link::{ChildGuard, Exit};
use crate::wire::{self, Done, FromChild, ToChild};
use crate::worker::WaitingChild;
use crate::{
    Completion, Host, HostCall, HostError, HostReply, LimitKind, Limits, NameKind, Outcome, Program, RunError,
};

/// Maximum nesting of a value in a frame; the JSON parser stops at 128.
pub(crate) const MAX_DEPTH: usize = 100;
/// Space in a frame in addition to its value.
const FRAME_MARGIN: usize = 64 * 1024;
/// Maximum number of names that the host is asked about. No real program uses more; further ones are unknown.
const MAX_NAMES: usize = 1024;
/// How long to wait for the exit status of a child that closed its socket.
const EXIT_TIMEOUT: Duration = Duration::from_secs(5);

/// Runs `program` in a waiting child. The time limit starts now, however long the child has waited.
pub(crate) async fn run(
    child: WaitingChild,
    program: Program,
    limits: &Limits,
    host: &dyn Host,
) -> Result<Outcome, RunError> {
    let (reader, writer) = child.socket.into_split();
    let child = CagedChild { guard: child.child, stderr: child.stderr };
    run_session(reader, writer, child, program, limits, host).await
}

/// The exit status and stderr of a child.
pub(crate) trait ChildStatus {
    /// Waits until the child exits.
    fn exit(&mut self) -> impl Future<Output = Exit> + Send;

    /// Returns what the child wrote to stderr.
    fn stderr(&self) -> String;
}

struct CagedChild {
    guard: ChildGuard,
    stderr: OwnedFd,
}

impl ChildStatus for CagedChild {
    async fn exit(&mut self) -> Exit {
        timeout(EXIT_TIMEOUT, self.guard.exit())
            .await
            .unwrap_or_else(|_| Exit::Lost("it closed its socket but did not exit".to_owned()))
    }

    fn stderr(&self) -> String {
        read_available(&self.stderr)
    }
}

/// Runs `program` in a child at the other end of a socket. The child is not trusted to follow the protocol.
pub(crate) async fn run_session(
    reader: impl AsyncRead + Unpin,
    writer: impl AsyncWrite + Unpin,
    child: impl ChildStatus,
    program: Program,
    limits: &Limits,
    host: &dyn Host,
) -> Result<Outcome, RunError> {
    let deadline = Instant::now() + limits.time;
    let (outgoing, queue) = mpsc::unbounded_channel();
    let session = Session {
        limits,
        host,
        child,
        outgoing,
        printed: String::new(),
        calls: 0,
        queued: CallQueue::default(),
        held: HeldBytes::default(),
        has_names: false,
    };
    session.send(&ToChild::Program {
        source: program.source,
        file_name: program.file_name,
        input: program.input,
        max_frame: limits.max_result_bytes.saturating_add(FRAME_MARGIN),
        max_result: limits.max_result_bytes,
    });
    session.serve(reader, writer, queue, deadline).await
}

/// A run in progress.
struct Session<'a, C> {
    limits: &'a Limits,
    host: &'a dyn Host,
    child: C,
    outgoing: mpsc::UnboundedSender<Vec<u8>>,
    printed: String,
    calls: u32,
    queued: CallQueue,
    held: HeldBytes,
    has_names: bool,
}

/// The number of bytes that the gateway holds for a run.
#[derive(Clone, Default)]
struct HeldBytes(Arc<[AtomicUsize; 2]>);

/// What the gateway holds for a run.
#[derive(Clone, Copy)]
enum Held {
    /// Arguments of unfinished calls.
    Arguments,
    /// Frames that the child has not read yet.
    Frames,
}

impl HeldBytes {
    fn add(&self, held: Held, bytes: usize) {
        self.0[held as usize].fetch_add(bytes, Ordering::Relaxed);
    }

    fn release(&self, held: Held, bytes: usize) {
        self.0[held as usize].fetch_sub(bytes, Ordering::Relaxed);
    }

    fn bytes(&self, held: Held) -> usize {
        self.0[held as usize].load(Ordering::Relaxed)
    }

    fn total(&self) -> usize {
        self.bytes(Held::Arguments).saturating_add(self.bytes(Held::Frames))
    }
}

/// Calls that wait until fewer are in flight.
#[derive(Default)]
struct CallQueue {
    calls: VecDeque<QueuedCall>,
    /// The size of their arguments.
    bytes: usize,
}

struct QueuedCall {
    id: u64,
    call: HostCall,
    bytes: usize,
}

impl CallQueue {
    fn push(&mut self, call: QueuedCall) {
        self.bytes = self.bytes.saturating_add(call.bytes);
        self.calls.push_back(call);
    }

    fn pop(&mut self) -> Option<QueuedCall> {
        let call = self.calls.pop_front()?;
        self.bytes -= call.bytes;
        Some(call)
    }
}

impl<C: ChildStatus> Session<'_, C> {
    /// Queues a frame. Ignores a closed queue: the child has exited, which is handled elsewhere.
    fn send(&self, frame: &ToChild) {
        match wire::encode(frame) {
            Ok(bytes) => {
                self.held.add(Held::Frames, bytes.len());
                drop(self.outgoing.send(bytes));
            }
            Err(error) => tracing::warn!(%error, "cannot encode a frame for a run"),
        }
    }

    fn is_buffer_full(&self) -> bool {
        self.held.total() > self.limits.max_buffer_bytes
    }

    /// Returns whether another call may start. While the buffer is more than half full, a call starts only if the run
    /// would otherwise make no progress, so that results do not pile up if the child is slow to read them.
    fn can_start_call(&self, in_flight: usize) -> bool {
        let has_room = self.held.total() <= self.limits.max_buffer_bytes / 2;
        let is_idle = in_flight == 0 && self.held.bytes(Held::Frames) == 0;
        in_flight < self.limits.max_parallel as usize && (has_room || is_idle)
    }

    async fn serve(
        mut self,
        reader: impl AsyncRead + Unpin,
        writer: impl AsyncWrite + Unpin,
        queue: mpsc::UnboundedReceiver<Vec<u8>>,
        deadline: Instant,
    ) -> Result<Outcome, RunError> {
        let max_frame = self.limits.max_result_bytes.saturating_add(FRAME_MARGIN);
        let mut frames = pin!(frames(reader, max_frame));
        let mut written = pin!(write_all(writer, queue, self.held.clone()).fuse());
        let mut timer = pin!(sleep_until(deadline));
        let mut in_flight = FuturesUnordered::new();
        let host = self.host;
        loop {
            while self.can_start_call(in_flight.len())
                && let Some(QueuedCall { id, call, bytes }) = self.queued.pop()
            {
                in_flight.push(async move { (id, bytes, host.call(call).await) });
            }
            let frame = tokio::select! {
                biased;
                () = &mut timer => return Err(self.limit(LimitKind::Time)),
                // There may be room for another call now.
                Some(()) = written.next() => continue,
                Some((id, bytes, result)) = in_flight.next() => {
                    self.held.release(Held::Arguments, bytes);
                    self.send(&ToChild::Reply { id, result: check_depth(result) });
                    if self.is_buffer_full() {
                        return Err(self.limit(LimitKind::Buffer));
                    }
                    continue;
                }
                frame = frames.next() => frame,
            };
            match frame {
                Some(Ok(FromChild::Names(mut names))) => {
                    if std::mem::replace(&mut self.has_names, true) {
                        return Err(self.protocol_error("it requested names twice"));
                    }
                    let requested = names.len();
                    names.truncate(MAX_NAMES);
                    let mut kinds = tokio::select! {
                        kinds = host.names(names) => kinds,
                        () = &mut timer => return Err(self.limit(LimitKind::Time)),
                    };
                    kinds.resize(requested, NameKind::Unknown { hint: None });
                    self.send(&ToChild::Names(kinds));
                }
                Some(Ok(FromChild::Call { id, name, args, kwargs })) => {
                    if self.calls >= self.limits.max_calls {
                        return Err(self.limit(LimitKind::Calls));
                    }
                    self.calls += 1;
                    let weight = |json: &RawValue| json_weight(json.get().as_bytes());
                    let bytes = name.len().saturating_add(weight(&args)).saturating_add(weight(&kwargs));
                    self.held.add(Held::Arguments, bytes);
                    if self.is_buffer_full() {
                        return Err(self.limit(LimitKind::Buffer));
                    }
                    let call = match host_call(name, &args, &kwargs) {
                        Ok(call) => call,
                        Err(error) => return Err(self.protocol_error(&error.to_string())),
                    };
                    let is_full = in_flight.len() >= self.limits.max_parallel as usize;
                    self.queued.push(QueuedCall { id, call, bytes });
                    if is_full && self.queued.bytes > self.limits.max_result_bytes {
                        return Err(self.limit(LimitKind::Parallel));
                    }
                }
                Some(Ok(FromChild::Print(text))) => {
                    let room = self.limits.max_print_bytes - self.printed.len();
                    if text.len() > room {
                        self.printed.push_str(&text[..text.floor_char_boundary(room)]);
                        return Err(self.limit(LimitKind::Print));
                    }
                    self.printed.push_str(&text);
                }
                Some(Ok(FromChild::Done(done))) => return self.outcome(done),
                Some(Err(FrameError::TooLong)) => return Err(self.limit(LimitKind::Result)),
                Some(Err(FrameError::Invalid(error))) => return Err(self.protocol_error(&error)),
                None => return Err(self.exit_error().await),
            }
        }
    }

    /// Returns the error for a child that violated the protocol. The rest of what it sends is ignored.
    fn protocol_error(self, error: &str) -> RunError {
        RunError::Died { reason: format!("protocol error: {error}"), printed: self.printed }
    }

    fn outcome(self, done: Done<Box<RawValue>>) -> Result<Outcome, RunError> {
        match done {
            Done::Value { has_value, value, format, sanitize } => Ok(Outcome {
                printed: self.printed,
                value: if has_value { Completion::Value(text(value)) } else { Completion::NoValue },
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

    /// Returns the error for a child that closed its socket without a result.
    async fn exit_error(mut self) -> RunError {
        let exit = self.child.exit().await;
        let stderr = self.child.stderr();
        match limit_from_stderr(&stderr) {
            Some(ProcessLimit::Memory) => return self.limit(LimitKind::Memory),
            Some(ProcessLimit::Stack) => return self.limit(LimitKind::Nesting),
            None => {}
        }
        let reason = match exit {
            Exit::Signal(libc::SIGSYS) => "it made a system call that the cage forbids".to_owned(),
            Exit::Signal(libc::SIGKILL) => "it was killed (signal 9)".to_owned(),
            Exit::Signal(signal) => format!("signal {signal}"),
            Exit::Code(code) => format!("it exited with status {code}"),
            Exit::Lost(reason) => reason,
        };
        let lines: Vec<&str> =
            stderr.lines().map(str::trim).filter(|line| !line.is_empty()).take(2).collect();
        let reason = if lines.is_empty() { reason } else { format!("{reason}: {}", lines.join(" ")) };
        RunError::Died { reason, printed: self.printed }
    }
}

fn text(json: Box<RawValue>) -> String {
    Box::<str>::from(json).into_string()
}

fn host_call(name: String, args: &RawValue, kwargs: &RawValue) -> serde_json::Result<HostCall> {
    Ok(HostCall {
        name,
        args: serde_json::from_str(args.get())?,
        kwargs: serde_json::from_str(kwargs.get())?,
    })
}

/// Replaces a result that is nested too deeply for the child's JSON parser with an error.
fn check_depth(result: Result<HostReply, HostError>) -> Result<HostReply, HostError> {
    let is_too_deep = |reply: &HostReply| {
        let blocks = reply.extra.iter().flat_map(|extra| &extra.blocks);
        std::iter::once(&reply.value).chain(blocks).any(|value| is_deeper_than(value, MAX_DEPTH))
    };
    match result {
        Ok(reply) if is_too_deep(&reply) => Err(HostError {
            kind: "ValueError".to_owned(),
            message: format!("the result is nested more than {MAX_DEPTH} levels deep"),
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
    Invalid(String),
}

/// Reads frames until the end of the stream. Cancel-safe: a partly read frame is kept if `next` is dropped.
fn frames(
    reader: impl AsyncRead + Unpin,
    max_frame: usize,
) -> impl Stream<Item = Result<FromChild<Box<RawValue>>, FrameError>> {
    stream::unfold(reader, move |mut reader| async move {
        // An incomplete frame from a child that died while writing also ends the stream.
        let length = reader.read_u32_le().await.ok()? as usize;
        if length > max_frame {
            return Some((Err(FrameError::TooLong), reader));
        }
        // Allocates as the bytes arrive, because a child can claim any length at no cost.
        let mut bytes = Vec::new();
        (&mut reader).take(length as u64).read_to_end(&mut bytes).await.ok()?;
        if bytes.len() < length {
            return None;
        }
        let frame = serde_json::from_slice(&bytes).map_err(|error| FrameError::Invalid(error.to_string()));
        Some((frame, reader))
    })
}

/// Writes queued frames; yields an item for each. Separate from reading, so that gateway and child never block each other
/// while both are writing.
fn write_all(
    writer: impl AsyncWrite + Unpin,
    queue: mpsc::UnboundedReceiver<Vec<u8>>,
    held: HeldBytes,
) -> impl Stream<Item = ()> {
    stream::unfold((writer, queue, held), |(mut writer, mut queue, held)| async move {
        let bytes = queue.recv().await?;
        writer.write_all(&bytes).await.ok()?;
        held.release(Held::Frames, bytes.len());
        Some(((), (writer, queue, held)))
    })
}

/// Reads what is currently available of the child's stderr.
fn read_available(stderr: &OwnedFd) -> String {
    let Ok(stderr) = stderr.try_clone() else { return String::new() };
    let mut bytes = vec![0; 4096];
    let length = std::fs::File::from(stderr).read(&mut bytes).unwrap_or_default();
    String::from_utf8_lossy(&bytes[..length]).into_owned()
}

#[cfg(test)]
mod tests;
