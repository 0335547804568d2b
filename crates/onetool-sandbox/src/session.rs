//! One run, seen from the gateway: frames in, answers out, limits kept.

use std::collections::VecDeque;
use std::io::Read as _;
use std::os::fd::OwnedFd;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use futures::StreamExt as _;
use futures::stream::{self, FuturesUnordered, Stream};
use onetool_cage::{ProcessLimit, limit_in};
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
    Completion, Host, HostAnswer, HostCall, HostError, LimitKind, Limits, NameKind, Outcome, Program,
    RunError,
};

/// Deepest nesting of a value that crosses the socket; the reader of JSON stops at 128.
pub(crate) const MAX_DEPTH: usize = 100;
/// Room in a frame beside the value that it carries.
const FRAME_MARGIN: usize = 64 * 1024;
/// No program uses more names that it does not define; further ones are unknown.
const MAX_NAMES: usize = 1024;
/// How long to wait for the exit status of a child that closed its socket.
const EXIT_TIMEOUT: Duration = Duration::from_secs(5);

/// Runs `program` to its end in a child that waits for it. The clock starts here, however long the child has waited.
pub(crate) async fn run(
    child: WaitingChild,
    program: Program,
    limits: &Limits,
    host: &dyn Host,
) -> Result<Outcome, RunError> {
    let (reader, writer) = child.socket.into_split();
    talk(reader, writer, CagedChild { guard: child.child, stderr: child.stderr }, program, limits, host).await
}

/// How the other side of a socket ended.
pub(crate) trait Ending {
    /// Waits for its end.
    fn exit(&mut self) -> impl Future<Output = Exit> + Send;

    /// Returns what it wrote to its standard error.
    fn stderr(&self) -> String;
}

struct CagedChild {
    guard: ChildGuard,
    stderr: OwnedFd,
}

impl Ending for CagedChild {
    async fn exit(&mut self) -> Exit {
        timeout(EXIT_TIMEOUT, self.guard.exit())
            .await
            .unwrap_or_else(|_| Exit::Lost("it closed its socket and did not end".to_owned()))
    }

    fn stderr(&self) -> String {
        read_available(&self.stderr)
    }
}

/// Runs `program` on the other side of a socket, which keeps to the protocol or does not.
pub(crate) async fn talk(
    reader: impl AsyncRead + Unpin,
    writer: impl AsyncWrite + Unpin,
    child: impl Ending,
    program: Program,
    limits: &Limits,
    host: &dyn Host,
) -> Result<Outcome, RunError> {
    let deadline = Instant::now() + limits.time;
    let (answers, queue) = mpsc::unbounded_channel();
    let running = Running {
        limits,
        host,
        child,
        answers,
        printed: String::new(),
        calls: 0,
        waiting: Waiting::default(),
        held: Held::default(),
        has_names: false,
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
struct Running<'a, C> {
    limits: &'a Limits,
    host: &'a dyn Host,
    child: C,
    answers: mpsc::UnboundedSender<Vec<u8>>,
    printed: String,
    calls: u32,
    waiting: Waiting,
    held: Held,
    has_names: bool,
}

/// How many bytes the gateway holds for a run.
#[derive(Clone, Default)]
struct Held(Arc<[AtomicUsize; 2]>);

/// What the gateway holds.
#[derive(Clone, Copy)]
enum Holding {
    /// Arguments of calls that have not ended.
    Arguments,
    /// Frames that the child has not taken yet.
    Frames,
}

impl Held {
    fn add(&self, what: Holding, bytes: usize) {
        self.0[what as usize].fetch_add(bytes, Ordering::Relaxed);
    }

    fn release(&self, what: Holding, bytes: usize) {
        self.0[what as usize].fetch_sub(bytes, Ordering::Relaxed);
    }

    fn bytes(&self, what: Holding) -> usize {
        self.0[what as usize].load(Ordering::Relaxed)
    }

    fn total(&self) -> usize {
        self.bytes(Holding::Arguments).saturating_add(self.bytes(Holding::Frames))
    }
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

impl<C: Ending> Running<'_, C> {
    /// Queues a frame. One that cannot be sent any more belongs to a child that is gone: its end is noticed elsewhere.
    fn send(&self, frame: &ToChild) {
        match wire::encode(frame) {
            Ok(bytes) => {
                self.held.add(Holding::Frames, bytes.len());
                drop(self.answers.send(bytes));
            }
            Err(error) => tracing::warn!(%error, "cannot encode a frame for a run"),
        }
    }

    fn is_buffer_full(&self) -> bool {
        self.held.total() > self.limits.max_buffer_bytes
    }

    /// Tells whether another call may begin. While much is held, only what must go on does: answers that the child is
    /// slow to take do not pile up.
    fn may_begin(&self, under_way: usize) -> bool {
        let has_room = self.held.total() <= self.limits.max_buffer_bytes / 2;
        let is_idle = under_way == 0 && self.held.bytes(Holding::Frames) == 0;
        under_way < self.limits.max_parallel as usize && (has_room || is_idle)
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
        let mut under_way = FuturesUnordered::new();
        let host = self.host;
        loop {
            while self.may_begin(under_way.len())
                && let Some(WaitingCall { id, call, bytes }) = self.waiting.pop()
            {
                under_way.push(async move { (id, bytes, host.call(call).await) });
            }
            let frame = tokio::select! {
                biased;
                () = &mut timer => return Err(self.limit(LimitKind::Time)),
                // There may be room for another call.
                Some(()) = written.next() => continue,
                Some((id, bytes, result)) = under_way.next() => {
                    self.held.release(Holding::Arguments, bytes);
                    self.send(&ToChild::Answer { id, result: checked(result) });
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
                        return Err(self.unexpected("it asked for names twice"));
                    }
                    let asked = names.len();
                    names.truncate(MAX_NAMES);
                    let mut kinds = tokio::select! {
                        kinds = host.names(names) => kinds,
                        () = &mut timer => return Err(self.limit(LimitKind::Time)),
                    };
                    kinds.resize(asked, NameKind::Unknown { hint: None });
                    self.send(&ToChild::Names(kinds));
                }
                Some(Ok(FromChild::Call { id, name, args, kwargs })) => {
                    if self.calls >= self.limits.max_calls {
                        return Err(self.limit(LimitKind::Calls));
                    }
                    self.calls += 1;
                    let weight = |json: &RawValue| json_weight(json.get().as_bytes());
                    let bytes = name.len().saturating_add(weight(&args)).saturating_add(weight(&kwargs));
                    self.held.add(Holding::Arguments, bytes);
                    if self.is_buffer_full() {
                        return Err(self.limit(LimitKind::Buffer));
                    }
                    let call = match host_call(name, &args, &kwargs) {
                        Ok(call) => call,
                        Err(error) => return Err(self.unexpected(&error.to_string())),
                    };
                    let is_full = under_way.len() >= self.limits.max_parallel as usize;
                    self.waiting.push(WaitingCall { id, call, bytes });
                    if is_full && self.waiting.bytes > self.limits.max_result_bytes {
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
                Some(Ok(FromChild::Done(done))) => return self.done(done),
                Some(Err(FrameError::TooLong)) => return Err(self.limit(LimitKind::Result)),
                Some(Err(FrameError::Broken(error))) => return Err(self.unexpected(&error)),
                None => return Err(self.died().await),
            }
        }
    }

    /// The child does not keep to the protocol, so nothing else that it sends is looked at.
    fn unexpected(self, what: &str) -> RunError {
        RunError::Died { reason: format!("it sent something unexpected: {what}"), printed: self.printed }
    }

    fn done(self, done: Done<Box<RawValue>>) -> Result<Outcome, RunError> {
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

    /// Finds out why the child closed its socket without an answer.
    async fn died(mut self) -> RunError {
        let exit = self.child.exit().await;
        let said = self.child.stderr();
        match limit_in(&said) {
            Some(ProcessLimit::Memory) => return self.limit(LimitKind::Memory),
            Some(ProcessLimit::Stack) => return self.limit(LimitKind::Nesting),
            None => {}
        }
        let reason = match exit {
            Exit::Signal(libc::SIGSYS) => "it made a system call that the cage forbids".to_owned(),
            Exit::Signal(libc::SIGKILL) => "it was killed (signal 9)".to_owned(),
            Exit::Signal(signal) => format!("signal {signal}"),
            Exit::Code(code) => format!("it ended with status {code}"),
            Exit::Lost(reason) => reason,
        };
        let said: Vec<&str> = said.lines().map(str::trim).filter(|line| !line.is_empty()).take(2).collect();
        let reason = if said.is_empty() { reason } else { format!("{reason}: {}", said.join(" ")) };
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

/// Keeps an answer that the child could not read from becoming the child's end.
fn checked(result: Result<HostAnswer, HostError>) -> Result<HostAnswer, HostError> {
    let is_too_deep = |answer: &HostAnswer| {
        let blocks = answer.beside.iter().flat_map(|beside| &beside.blocks);
        std::iter::once(&answer.value).chain(blocks).any(|value| is_deeper_than(value, MAX_DEPTH))
    };
    match result {
        Ok(answer) if is_too_deep(&answer) => Err(HostError {
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

/// Reads frames to the end of the stream. What was read stays in the stream when `next` is dropped.
fn frames(
    reader: impl AsyncRead + Unpin,
    max_frame: usize,
) -> impl Stream<Item = Result<FromChild<Box<RawValue>>, FrameError>> {
    stream::unfold(reader, move |mut reader| async move {
        // A child that dies while it writes leaves half a frame: that is an end, too.
        let length = reader.read_u32_le().await.ok()? as usize;
        if length > max_frame {
            return Some((Err(FrameError::TooLong), reader));
        }
        // The memory for it is taken as it arrives: a length alone costs nothing to send.
        let mut bytes = Vec::new();
        (&mut reader).take(length as u64).read_to_end(&mut bytes).await.ok()?;
        if bytes.len() < length {
            return None;
        }
        let frame = serde_json::from_slice(&bytes).map_err(|error| FrameError::Broken(error.to_string()));
        Some((frame, reader))
    })
}

/// Writes what is queued, one item per frame. Apart from reading, so that a child that writes and one that reads never
/// wait for each other.
fn write_all(
    writer: impl AsyncWrite + Unpin,
    queue: mpsc::UnboundedReceiver<Vec<u8>>,
    held: Held,
) -> impl Stream<Item = ()> {
    stream::unfold((writer, queue, held), |(mut writer, mut queue, held)| async move {
        let bytes = queue.recv().await?;
        writer.write_all(&bytes).await.ok()?;
        held.release(Holding::Frames, bytes.len());
        Some(((), (writer, queue, held)))
    })
}

/// Reads what the child wrote to its standard error, as far as it is there.
fn read_available(stderr: &OwnedFd) -> String {
    let Ok(stderr) = stderr.try_clone() else { return String::new() };
    let mut bytes = vec![0; 4096];
    let length = std::fs::File::from(stderr).read(&mut bytes).unwrap_or_default();
    String::from_utf8_lossy(&bytes[..length]).into_owned()
}

#[cfg(test)]
mod tests;
