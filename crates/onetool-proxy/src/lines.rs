//! The stdio transport: one JSON message per line, over a child's standard streams.
//!
//! Our own framing rather than the SDK's: it reports a message that is too long, gives up on a program that does not
//! speak the protocol, and keeps the fields of results that the SDK's types do not know.

use std::collections::HashSet;
use std::io;
use std::sync::{Arc, Mutex as StdMutex};

use onetool_core::lines::{Line, LineBuffer};
use onetool_core::sync::Unpoisoned as _;
use rmcp::RoleClient;
use rmcp::model::{
    ClientJsonRpcMessage, ClientNotification, ErrorData, JsonRpcError, JsonRpcMessage, JsonRpcNotification,
    JsonRpcResponse, RequestId, ServerJsonRpcMessage,
};
use rmcp::transport::Transport;
use serde_json::Value;
use tokio::io::{AsyncBufReadExt as _, AsyncRead, AsyncWrite, AsyncWriteExt as _, BufReader};
use tokio::sync::Mutex;

use crate::config::Limits;
use crate::decode::{self, Form, is_handshake, request_id};
use crate::scrub::truncate;

/// How much of an invalid line is shown.
const SHOWN: usize = 120;
/// How much of the beginning and the end of a line that is too long is searched for its id.
const EDGE: usize = 200;

/// What is wrong with a program's standard output, if anything: the reason if the program then fails.
#[derive(Clone, Default)]
pub(crate) struct StdoutProblem(Arc<StdMutex<Option<String>>>);

impl StdoutProblem {
    pub(crate) fn get(&self) -> Option<String> {
        self.0.lock().unpoisoned().clone()
    }

    fn set(&self, problem: Option<String>) {
        *self.0.lock().unpoisoned() = problem;
    }
}

/// Reads and writes the messages of one child.
pub(crate) struct LineTransport<R, W> {
    name: Arc<str>,
    read: BufReader<R>,
    line: LineBuffer,
    write: Arc<Mutex<Option<W>>>,
    /// Requests of the handshake, whose responses the SDK needs in its own types.
    typed: HashSet<RequestId>,
    /// Requests without a response.
    pending: HashSet<RequestId>,
    /// Errors for pending requests, returned before the next message.
    errors: Vec<ServerJsonRpcMessage>,
    /// Number of invalid lines since the last message.
    invalid_lines: usize,
    limits: Limits,
    problem: StdoutProblem,
}

impl<R: AsyncRead + Unpin, W> LineTransport<R, W> {
    pub(crate) fn new(name: Arc<str>, read: R, write: W, limits: Limits, problem: StdoutProblem) -> Self {
        Self {
            name,
            read: BufReader::with_capacity(64 * 1024, read),
            line: LineBuffer::new(limits.message, EDGE),
            write: Arc::new(Mutex::new(Some(write))),
            typed: HashSet::new(),
            pending: HashSet::new(),
            errors: Vec::new(),
            invalid_lines: 0,
            limits,
            problem,
        }
    }

    /// Reads the next line; `None` at the end of the stream.
    ///
    /// Cancel-safe: what was read so far stays in `line`.
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

    /// Decodes a line; `None` if it is not a message.
    fn decode(&mut self, line: &[u8]) -> Option<ServerJsonRpcMessage> {
        let line = line.trim_ascii();
        let line = line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line);
        if line.is_empty() {
            return None;
        }
        let message = if decode::is_too_heavy(line) {
            decode::error_for_message(&self.name, line, decode::TOO_HEAVY)
        } else {
            match serde_json::from_slice(line).and_then(|message| self.convert(message)) {
                Ok(message) => Some(message),
                Err(error) => decode::error_for_message(&self.name, line, &error.to_string()),
            }
        };
        if let Some(
            JsonRpcMessage::Response(JsonRpcResponse { id, .. })
            | JsonRpcMessage::Error(JsonRpcError { id: Some(id), .. }),
        ) = &message
        {
            self.pending.remove(id);
        }
        match &message {
            Some(_) if self.invalid_lines > 0 => {
                self.invalid_lines = 0;
                self.problem.set(None);
            }
            Some(_) => {}
            None => self.note_invalid(line),
        }
        message
    }

    fn convert(&self, message: Value) -> serde_json::Result<ServerJsonRpcMessage> {
        let id = message.get("id").and_then(request_id);
        let is_typed = id.is_some_and(|id| self.typed.contains(&id));
        decode::typed(message, if is_typed { Form::Typed } else { Form::Raw })
    }

    /// Fails the request that a line over the limit responds to; all pending ones if its id is not found.
    fn fail_too_long(&mut self, length: usize, edges: &[u8]) {
        let failed = match response_id(edges) {
            Some(id) => vec![id],
            None => self.pending.iter().cloned().collect(),
        };
        let text = format!("the server sent a message longer than {} bytes", self.limits.message);
        tracing::warn!(server = %self.name, bytes = length, "{text}");
        for id in failed {
            self.pending.remove(&id);
            let error = ErrorData::internal_error(text.clone(), None);
            self.errors.push(ServerJsonRpcMessage::error(error, Some(id)));
        }
    }

    fn note_invalid(&mut self, line: &[u8]) {
        self.invalid_lines += 1;
        if self.invalid_lines > 1 {
            return;
        }
        let shown = String::from_utf8_lossy(&line[..line.len().min(2 * SHOWN)]).into_owned();
        let shown = truncate(shown.trim(), SHOWN).escape_debug().to_string();
        tracing::debug!(target: "upstream", server = %self.name, "a line on standard output is not an MCP message: {shown}");
        self.problem.set(Some(format!("its standard output is not MCP; it begins with '{shown}'")));
    }
}

/// Finds the id of a response at either end of its line, which is where every common library writes it.
fn response_id(line: &[u8]) -> Option<RequestId> {
    let text = String::from_utf8_lossy(line);
    let text = text.trim();
    let number = |text: &str| text.parse().ok().map(RequestId::Number);
    let head: String = text.chars().take(EDGE / 2).filter(|c| !c.is_whitespace()).collect();
    let head = head.strip_prefix('{')?;
    let head = head.strip_prefix(r#""jsonrpc":"2.0","#).unwrap_or(head);
    if let Some((id, _)) = head.strip_prefix(r#""id":"#).and_then(|rest| rest.split_once(',')) {
        return number(id);
    }
    // A key right before the last brace belongs to the message itself, not to a nested object.
    let (_, id) = text.strip_suffix('}')?.rsplit_once(r#""id":"#)?;
    number(id.trim())
}

async fn write_line<W: AsyncWrite + Unpin>(write: &Mutex<Option<W>>, line: &[u8]) -> io::Result<()> {
    let mut write = write.lock().await;
    let Some(write) = write.as_mut() else { return Err(io::ErrorKind::BrokenPipe.into()) };
    write.write_all(line).await?;
    write.flush().await
}

impl<R, W> Transport<RoleClient> for LineTransport<R, W>
where
    R: AsyncRead + Send + Unpin,
    W: AsyncWrite + Send + Unpin + 'static,
{
    type Error = io::Error;

    fn send(
        &mut self,
        message: ClientJsonRpcMessage,
    ) -> impl Future<Output = io::Result<()>> + Send + 'static {
        match &message {
            JsonRpcMessage::Request(request) => {
                self.pending.insert(request.id.clone());
                if is_handshake(&message) {
                    self.typed.insert(request.id.clone());
                }
            }
            // A canceled request gets no response.
            JsonRpcMessage::Notification(JsonRpcNotification {
                notification: ClientNotification::CancelledNotification(cancelled),
                ..
            }) => self.pending.retain(|id| Some(id) != cancelled.params.request_id.as_ref()),
            _ => {}
        }
        let write = self.write.clone();
        async move {
            let mut line = serde_json::to_vec(&message)?;
            line.push(b'\n');
            write_line(&write, &line).await
        }
    }

    async fn receive(&mut self) -> Option<ServerJsonRpcMessage> {
        loop {
            if let Some(message) = self.errors.pop() {
                return Some(message);
            }
            let message = match self.read_line().await {
                Ok(Some(Line::Whole(line))) => self.decode(&line),
                Ok(Some(Line::TooLong { length, edges })) => {
                    self.fail_too_long(length, &edges);
                    continue;
                }
                Ok(None) => return None,
                Err(error) => {
                    self.problem.set(Some(format!("cannot read its standard output: {error}")));
                    return None;
                }
            };
            if message.is_some() {
                return message;
            }
            if self.invalid_lines >= self.limits.invalid_lines {
                return None;
            }
        }
    }

    async fn close(&mut self) -> io::Result<()> {
        // Dropping the stream is the only way to close it.
        self.write.lock().await.take();
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn r9_no_line_breaks_the_reader(lines in proptest::collection::vec(line(), 0..20)) {
            let runtime = tokio::runtime::Builder::new_current_thread().build().map_err(|e| TestCaseError::fail(e.to_string()))?;
            let input = lines.join(&b'\n');
            let limits = Limits { message: 300, ..Limits::default() };
            let mut transport = LineTransport::new("up".into(), &input[..], tokio::io::sink(), limits, StdoutProblem::default());
            transport.pending.insert(RequestId::Number(1));
            let count = runtime.block_on(async {
                let mut count = 0;
                while transport.receive().await.is_some() {
                    count += 1;
                }
                count
            });
            prop_assert!(count <= lines.len() + 1);
        }
    }

    /// Generates random bytes, and lines that look like messages.
    fn line() -> impl Strategy<Value = Vec<u8>> {
        let json = r#"\{"jsonrpc":"2.0",("id":(1|"1"|null|-1|1e9),)?("method":"[a-z/]{0,30}",)?"(result|error|params)":(\{\}|\[\]|null|7|"x{0,400}")\}"#;
        prop_oneof![proptest::collection::vec(any::<u8>(), 0..400), json.prop_map(String::into_bytes)]
    }

    #[test]
    fn o6_the_id_of_a_message_that_is_too_long_is_found_at_its_edges() {
        let found = [
            r#"{"jsonrpc":"2.0","id":7,"result":{"id":9}"#,
            r#"{ "jsonrpc": "2.0", "id": 7, "result": {"#,
            r#"{"id":7,"result":"#,
            r#"{"result":{"id":9,"a":"x"},"jsonrpc":"2.0","id":7}"#,
            "{\"result\":{},\"jsonrpc\":\"2.0\",\"id\": 7}\r\n",
        ];
        for line in found {
            assert_eq!(response_id(line.as_bytes()), Some(RequestId::Number(7)), "{line}");
        }
        for line in [
            r#"{"result":{"id":9}}"#,
            r#"{"result":"\"id\":9"}"#,
            "xxx",
            "",
            r#"{"jsonrpc":"2.0","method":"x"}"#,
        ] {
            assert_eq!(response_id(line.as_bytes()), None, "{line}");
        }
    }
}
