//! One JSON message per line, over any pair of streams.
//!
//! Unlike the SDK's framing, this one replies to an invalid or oversized line instead of dropping it, declares
//! `list: true`, and waits for pending responses at the end of input.

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

/// Maximum length of a message, in bytes.
const MAX_LINE: usize = 16 * 1024 * 1024;

/// Maximum number of in-flight requests of a client, and of the memory that they take together.
const MAX_PENDING: usize = 4096;
const MAX_PENDING_BYTES: usize = MAX_JSON_WEIGHT;

/// Reads and writes the messages of a client.
pub(super) struct LineTransport<R, W> {
    read: BufReader<R>,
    line: LineBuffer,
    saw_request: bool,
    write: Arc<Mutex<W>>,
    pending: PendingRequests,
    /// Canceled to end the session and its notifications.
    ended: CancellationToken,
    /// Completes when the client can no longer read responses.
    disconnected: BoxFuture<'static, ()>,
}

/// The in-flight requests of a client.
#[derive(Clone)]
struct PendingRequests {
    by_id: Arc<StdMutex<HashMap<RequestId, PendingRequest>>>,
    load: Arc<Load>,
    /// Requests of this client, to wait for at the end of input.
    of_client: TaskTracker,
    /// Requests of all clients, to wait for when the server shuts down.
    of_server: TaskTracker,
}

/// The number and size of in-flight requests, including those whose response is not written yet.
#[derive(Default)]
struct Load {
    requests: AtomicUsize,
    bytes: AtomicUsize,
}

/// A request whose response is not written yet.
struct PendingRequest {
    bytes: usize,
    load: Arc<Load>,
    _tokens: (TaskTrackerToken, TaskTrackerToken),
}

impl Drop for PendingRequest {
    fn drop(&mut self) {
        self.load.requests.fetch_sub(1, Ordering::Relaxed);
        self.load.bytes.fetch_sub(self.bytes, Ordering::Relaxed);
    }
}

impl PendingRequests {
    /// Adds a request, unless too many are in flight.
    fn add(&self, id: RequestId, bytes: usize) -> Result<(), ErrorData> {
        let mut by_id = self.by_id.lock().unpoisoned();
        let Entry::Vacant(entry) = by_id.entry(id) else {
            return Err(ErrorData::invalid_request("a request with this id is still in flight", None));
        };
        let requests = self.load.requests.load(Ordering::Relaxed);
        let all_bytes = self.load.bytes.load(Ordering::Relaxed) + bytes;
        if requests >= MAX_PENDING || (requests > 0 && all_bytes > MAX_PENDING_BYTES) {
            let text = format!(
                "too many requests in flight: at most {MAX_PENDING}, and {MAX_PENDING_BYTES} bytes of memory"
            );
            return Err(ErrorData::new(ErrorCode(-32000), text, None));
        }
        self.load.requests.fetch_add(1, Ordering::Relaxed);
        self.load.bytes.fetch_add(bytes, Ordering::Relaxed);
        entry.insert(PendingRequest {
            bytes,
            load: self.load.clone(),
            _tokens: (self.of_client.token(), self.of_server.token()),
        });
        Ok(())
    }

    /// Removes a request. Its id can be used again, but it counts until it is dropped.
    fn remove(&self, id: &RequestId) -> Option<PendingRequest> {
        self.by_id.lock().unpoisoned().remove(id)
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
        disconnected: BoxFuture<'static, ()>,
    ) -> Self {
        let pending = PendingRequests {
            by_id: Arc::default(),
            load: Arc::default(),
            of_client: TaskTracker::new(),
            of_server: server.pending_responses().clone(),
        };
        Self {
            read: BufReader::with_capacity(64 * 1024, read),
            line: LineBuffer::new(MAX_LINE, 0),
            saw_request: false,
            write: Arc::new(Mutex::new(write)),
            pending,
            ended,
            disconnected,
        }
    }

    /// Reads the next line; `None` at the end of input.
    ///
    /// The future may be dropped at any await: partial input stays in `line`.
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

/// Parses a line as a message, or returns the error to reply with. Returns `None` if the line needs no reply.
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

/// Returns the error for an invalid message. A notification gets no reply, even if it is invalid.
fn explain(line: &[u8]) -> Option<ServerJsonRpcMessage> {
    let error = |error, id| Some(ServerJsonRpcMessage::error(error, id));
    let message: Value = match serde_json::from_slice(line) {
        Ok(message) => message,
        Err(reason) => {
            return error(ErrorData::parse_error(format!("invalid JSON: {reason}"), None), None);
        }
    };
    let id = message.get("id").and_then(|id| serde_json::from_value(id.clone()).ok());
    match (message.get("method"), id) {
        (Some(Value::String(_)), None) if message.get("id").is_none() => None,
        (Some(Value::String(method)), Some(id)) => {
            let text = format!("invalid parameters for '{method}'");
            error(ErrorData::invalid_params(text, None), Some(id))
        }
        (_, id) => error(ErrorData::invalid_request("not a JSON-RPC 2.0 message", None), id),
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
        let (write, pending) = (self.write.clone(), self.pending.clone());
        async move {
            // Before writing, because the client may use the id again as soon as it has read the response.
            let _until_written = match &message {
                JsonRpcMessage::Response(response) => pending.remove(&response.id),
                JsonRpcMessage::Error(JsonRpcError { id: Some(id), .. }) => pending.remove(id),
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
                            // A subscription ends only with the session, so its response is not pending.
                            let has_end =
                                !matches!(request.request, ClientRequest::SubscriptionsListenRequest(_));
                            if has_end
                                && let Err(error) = self.pending.add(request.id.clone(), json_weight(&line))
                            {
                                let rejection = ServerJsonRpcMessage::error(error, Some(request.id.clone()));
                                write_line(&self.write, &rejection).await.ok()?;
                                continue;
                            }
                        }
                        // A canceled request gets no response.
                        JsonRpcMessage::Notification(JsonRpcNotification {
                            notification: ClientNotification::CancelledNotification(cancelled),
                            ..
                        }) => cancelled.params.request_id.iter().for_each(|id| drop(self.pending.remove(id))),
                        _ => {}
                    }
                    // Messages before the first request do not belong to any session.
                    if self.saw_request {
                        return Some(message);
                    }
                }
                Some(Err(error)) => write_line(&self.write, &error).await.ok()?,
                None => {}
            }
        }
        // A client that only closed its output still gets its pending responses.
        self.pending.of_client.close();
        tokio::select! {
            () = self.pending.of_client.wait() => {}
            () = &mut self.disconnected => {}
            () = self.ended.cancelled() => {}
        }
        self.ended.cancel();
        None
    }

    async fn close(&mut self) -> io::Result<()> {
        self.write.lock().await.shutdown().await
    }
}
