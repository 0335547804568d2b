//! One JSON message a line, over any pair of streams.
//!
//! Our own framing rather than the SDK's: it answers a line that is no message instead of dropping it, names an
//! oversized one, declares `list: true`, and at the end of input waits for the answers that are still due.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::io;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex as StdMutex};

use onetool_core::lines::{Line, LineBuffer};
use onetool_core::sync::Unpoisoned as _;
use onetool_core::{BoxFuture, MAX_JSON_WEIGHT, json_weight};
use rmcp::RoleServer;
use rmcp::model::{
    ClientNotification, ClientRequest, ErrorCode, ErrorData, JsonRpcError, JsonRpcMessage,
    JsonRpcNotification, RequestId, ServerJsonRpcMessage,
};
use rmcp::service::{RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use serde_json::Value;
use tokio::io::{AsyncBufReadExt as _, AsyncRead, AsyncWrite, AsyncWriteExt as _, BufReader};
use tokio::sync::Mutex;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tokio_util::task::task_tracker::TaskTrackerToken;

use super::TOO_HEAVY;
use super::declare::declare_lists;
use super::verbatim;
use crate::Server;

/// Longest line that is taken as a message.
const MAX_LINE: usize = 16 * 1024 * 1024;

/// Requests of one client that may wait for their responses at the same time, and the memory that all of them take.
const MAX_WAITING: usize = 4096;
const MAX_WAITING_BYTES: usize = MAX_JSON_WEIGHT;

/// Reads and writes messages of one client.
pub(super) struct LineTransport<R, W> {
    read: BufReader<R>,
    line: LineBuffer,
    saw_request: bool,
    write: Arc<Mutex<W>>,
    due: Due,
    /// Ends what belongs to the session, such as its streams of news.
    ended: CancellationToken,
    /// Ends when nobody can read the answers any more.
    unread: BoxFuture<'static, ()>,
}

/// Requests that wait for their answer: ours to wait for at the end of input, the server's when it shuts down.
#[derive(Clone)]
struct Due {
    waiting: Arc<StdMutex<HashMap<RequestId, WaitingRequest>>>,
    load: Arc<Load>,
    ours: TaskTracker,
    all: TaskTracker,
}

/// How much waits, answers that are not written yet included.
#[derive(Default)]
struct Load {
    requests: AtomicUsize,
    bytes: AtomicUsize,
}

/// A request, until its answer is written.
struct WaitingRequest {
    bytes: usize,
    load: Arc<Load>,
    _until_answered: (TaskTrackerToken, TaskTrackerToken),
}

impl Drop for WaitingRequest {
    fn drop(&mut self) {
        self.load.requests.fetch_sub(1, Ordering::Relaxed);
        self.load.bytes.fetch_sub(self.bytes, Ordering::Relaxed);
    }
}

impl Due {
    /// Notes a request, unless too much waits already.
    fn add(&self, id: RequestId, bytes: usize) -> Result<(), ErrorData> {
        let mut waiting = self.waiting.lock().unpoisoned();
        let Entry::Vacant(place) = waiting.entry(id) else {
            return Err(ErrorData::invalid_request(
                "a request with this id still waits for its response",
                None,
            ));
        };
        let requests = self.load.requests.load(Ordering::Relaxed);
        let all_bytes = self.load.bytes.load(Ordering::Relaxed) + bytes;
        if requests >= MAX_WAITING || (requests > 0 && all_bytes > MAX_WAITING_BYTES) {
            let text = format!(
                "too many requests wait for their responses: at most {MAX_WAITING}, and {MAX_WAITING_BYTES} bytes of memory"
            );
            return Err(ErrorData::new(ErrorCode(-32000), text, None));
        }
        self.load.requests.fetch_add(1, Ordering::Relaxed);
        self.load.bytes.fetch_add(bytes, Ordering::Relaxed);
        place.insert(WaitingRequest {
            bytes,
            load: self.load.clone(),
            _until_answered: (self.ours.token(), self.all.token()),
        });
        Ok(())
    }

    /// Takes a request out; its id is free again, but it counts until it is dropped.
    fn remove(&self, id: &RequestId) -> Option<WaitingRequest> {
        self.waiting.lock().unpoisoned().remove(id)
    }
}

impl<R, W> LineTransport<R, W>
where
    R: AsyncRead + Send + Unpin,
    W: AsyncWrite + Send + Unpin + 'static,
{
    pub(super) fn new(
        read: R,
        write: W,
        server: &Server,
        ended: CancellationToken,
        unread: BoxFuture<'static, ()>,
    ) -> Self {
        let due = Due {
            waiting: Arc::default(),
            load: Arc::default(),
            ours: TaskTracker::new(),
            all: server.answers_due().clone(),
        };
        Self {
            read: BufReader::with_capacity(64 * 1024, read),
            line: LineBuffer::new(MAX_LINE, 0),
            saw_request: false,
            write: Arc::new(Mutex::new(write)),
            due,
            ended,
            unread,
        }
    }

    /// Reads the next line; `None` at the end of input.
    ///
    /// The future may be dropped at any await: what was read so far stays in `line`.
    async fn read_line(&mut self) -> io::Result<Option<Line>> {
        loop {
            let available = self.read.fill_buf().await?;
            if available.is_empty() {
                return Ok(None);
            }
            let (taken, line) = self.line.take(available);
            self.read.consume(taken);
            if line.is_some() {
                return Ok(line);
            }
        }
    }
}

/// Parses a line as a message, or returns the error to reply with; `None` if neither is needed.
fn parse(line: &[u8]) -> Option<Result<RxJsonRpcMessage<RoleServer>, ServerJsonRpcMessage>> {
    let line = line.trim_ascii();
    let line = line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line);
    if line.is_empty() {
        return None;
    }
    if json_weight(line) > MAX_JSON_WEIGHT {
        let error = ErrorData::invalid_request(TOO_HEAVY, None);
        return Some(Err(ServerJsonRpcMessage::error(error, None)));
    }
    match serde_json::from_slice(line) {
        Ok(message) => Some(Ok(message)),
        Err(_) => explain(line).map(Err),
    }
}

/// Says why a line is no message. A notification gets no answer, whatever it holds.
fn explain(line: &[u8]) -> Option<ServerJsonRpcMessage> {
    let error = |error, id| Some(ServerJsonRpcMessage::error(error, id));
    let message: Value = match serde_json::from_slice(line) {
        Ok(message) => message,
        Err(reason) => {
            return error(ErrorData::parse_error(format!("this is not JSON: {reason}"), None), None);
        }
    };
    let id = message.get("id").and_then(|id| serde_json::from_value(id.clone()).ok());
    match (message.get("method"), id) {
        (Some(Value::String(_)), None) if message.get("id").is_none() => None,
        (Some(Value::String(method)), Some(id)) => {
            let text = format!("the parameters of '{method}' are not what the protocol defines");
            error(ErrorData::invalid_params(text, None), Some(id))
        }
        (_, id) => error(ErrorData::invalid_request("this is not a JSON-RPC 2.0 message", None), id),
    }
}

async fn write_line<W: AsyncWrite + Unpin>(
    write: &Mutex<W>,
    message: &ServerJsonRpcMessage,
) -> io::Result<()> {
    let mut line = if declares(message) {
        let mut message = serde_json::to_value(message)?;
        declare_lists(&mut message);
        serde_json::to_vec(&message)?
    } else {
        let line = serde_json::to_vec(message)?;
        verbatim::restored(&line).unwrap_or(line)
    };
    line.push(b'\n');
    let mut write = write.lock().await;
    write.write_all(&line).await?;
    write.flush().await
}

fn declares(message: &ServerJsonRpcMessage) -> bool {
    use rmcp::model::ServerResult::{DiscoverResult, InitializeResult};
    matches!(message, JsonRpcMessage::Response(it) if matches!(it.result, InitializeResult(_) | DiscoverResult(_)))
}

impl<R, W> Transport<RoleServer> for LineTransport<R, W>
where
    R: AsyncRead + Send + Unpin,
    W: AsyncWrite + Send + Unpin + 'static,
{
    type Error = io::Error;

    fn send(
        &mut self,
        message: TxJsonRpcMessage<RoleServer>,
    ) -> impl Future<Output = io::Result<()>> + Send + 'static {
        let (write, due) = (self.write.clone(), self.due.clone());
        async move {
            // Before it is written: the client may use the id again as soon as it has read the answer.
            let _until_written = match &message {
                JsonRpcMessage::Response(answer) => due.remove(&answer.id),
                JsonRpcMessage::Error(JsonRpcError { id: Some(id), .. }) => due.remove(id),
                _ => None,
            };
            write_line(&write, &message).await
        }
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleServer>> {
        loop {
            let line = match self.read_line().await {
                Ok(Some(Line::Whole(line))) => line,
                Ok(Some(Line::TooLong { .. })) => {
                    let text = format!("the message is longer than {MAX_LINE} bytes");
                    let error = ServerJsonRpcMessage::error(ErrorData::invalid_request(text, None), None);
                    write_line(&self.write, &error).await.ok()?;
                    continue;
                }
                Ok(None) => break,
                Err(error) => {
                    tracing::error!(%error, "cannot read from the client");
                    break;
                }
            };
            match parse(&line) {
                Some(Ok(message)) => {
                    match &message {
                        JsonRpcMessage::Request(request) => {
                            self.saw_request = true;
                            // A stream of news has no end of its own, so nobody waits for it.
                            let has_end =
                                !matches!(request.request, ClientRequest::SubscriptionsListenRequest(_));
                            if has_end
                                && let Err(error) = self.due.add(request.id.clone(), json_weight(&line))
                            {
                                let refusal = ServerJsonRpcMessage::error(error, Some(request.id.clone()));
                                write_line(&self.write, &refusal).await.ok()?;
                                continue;
                            }
                        }
                        // A cancelled request gets no answer.
                        JsonRpcMessage::Notification(JsonRpcNotification {
                            notification: ClientNotification::CancelledNotification(cancelled),
                            ..
                        }) => cancelled.params.request_id.iter().for_each(|id| drop(self.due.remove(id))),
                        _ => {}
                    }
                    // Before the first request there is no session that anything else could belong to.
                    if self.saw_request {
                        return Some(message);
                    }
                }
                Some(Err(answer)) => write_line(&self.write, &answer).await.ok()?,
                None => {}
            }
        }
        // The client has said all it wants to say; it still gets the answers it waits for, unless it is gone.
        self.due.ours.close();
        tokio::select! {
            () = self.due.ours.wait() => {}
            () = &mut self.unread => {}
            () = self.ended.cancelled() => {}
        }
        self.ended.cancel();
        None
    }

    async fn close(&mut self) -> io::Result<()> {
        self.write.lock().await.shutdown().await
    }
}
