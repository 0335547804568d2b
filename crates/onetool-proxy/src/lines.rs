//! One JSON message a line, over a child's standard streams.
//!
//! Our own framing rather than the SDK's: it names a message that is too long, gives up on a program that never
//! speaks the protocol, and passes results on as they came, with all the fields that the SDK's types do not know.

use std::collections::HashSet;
use std::io;
use std::sync::{Arc, Mutex as StdMutex};

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

use crate::Limits;
use crate::scrub::cut;
use crate::unreadable::{self, Form, is_handshake, request_id};

const SHOWN_GARBAGE: usize = 120;
/// How much of the beginning and of the end of a line that is too long is looked at for its id.
const EDGE: usize = 200;

/// What the streams have shown about the program, for the reason when it fails.
#[derive(Clone, Default)]
pub(crate) struct Findings(Arc<StdMutex<Option<String>>>);

impl Findings {
    pub(crate) fn get(&self) -> Option<String> {
        self.0.lock().unpoisoned().clone()
    }

    fn set(&self, finding: Option<String>) {
        *self.0.lock().unpoisoned() = finding;
    }
}

/// Reads and writes messages of one child.
pub(crate) struct LineTransport<R, W> {
    name: Arc<str>,
    read: BufReader<R>,
    line: Vec<u8>,
    /// How long the current line is; `line` holds only its edges once it is too long.
    length: usize,
    write: Arc<Mutex<Option<W>>>,
    /// Requests of the handshake, whose answers the SDK wants in its own types.
    typed: HashSet<RequestId>,
    waiting: HashSet<RequestId>,
    /// Messages that are made up here and go first.
    made_up: Vec<ServerJsonRpcMessage>,
    garbage: usize,
    limits: Limits,
    findings: Findings,
}

impl<R: AsyncRead + Unpin, W> LineTransport<R, W> {
    pub(crate) fn new(name: Arc<str>, read: R, write: W, limits: Limits, findings: Findings) -> Self {
        Self {
            name,
            read: BufReader::with_capacity(64 * 1024, read),
            line: Vec::new(),
            length: 0,
            write: Arc::new(Mutex::new(Some(write))),
            typed: HashSet::new(),
            waiting: HashSet::new(),
            made_up: Vec::new(),
            garbage: 0,
            limits,
            findings,
        }
    }

    /// Reads up to the end of a line; false at the end of the stream.
    ///
    /// The future may be dropped at any await: what was read so far stays in `line`.
    async fn read_line(&mut self) -> io::Result<bool> {
        loop {
            let available = self.read.fill_buf().await?;
            if available.is_empty() {
                return Ok(false);
            }
            let end = available.iter().position(|byte| *byte == b'\n');
            let taken = end.map_or(available.len(), |end| end + 1);
            self.length += taken;
            self.line.extend_from_slice(&available[..taken]);
            self.read.consume(taken);
            if self.length > self.limits.message && self.line.len() > 2 * EDGE {
                // Its beginning, and its end so far.
                self.line.drain(EDGE..self.line.len() - EDGE);
                self.line.shrink_to(64 * 1024);
            }
            if end.is_some() {
                return Ok(true);
            }
        }
    }

    fn parse(&mut self) -> Option<ServerJsonRpcMessage> {
        if self.length > self.limits.message {
            self.name_the_victims();
            return self.made_up.pop();
        }
        let line = self.line.trim_ascii();
        let line = line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line);
        if line.is_empty() {
            return None;
        }
        let message = if unreadable::is_too_heavy(line) {
            unreadable::replaced(&self.name, line, unreadable::TOO_HEAVY)
        } else {
            match serde_json::from_slice(line).and_then(|message| self.read_message(message)) {
                Ok(message) => Some(message),
                Err(error) => unreadable::replaced(&self.name, line, &error.to_string()),
            }
        };
        if let Some(
            JsonRpcMessage::Response(JsonRpcResponse { id, .. })
            | JsonRpcMessage::Error(JsonRpcError { id: Some(id), .. }),
        ) = &message
        {
            self.waiting.remove(id);
        }
        match &message {
            Some(_) if self.garbage > 0 => {
                self.garbage = 0;
                self.findings.set(None);
            }
            Some(_) => {}
            None => self.note_garbage(),
        }
        message
    }

    fn read_message(&self, message: Value) -> serde_json::Result<ServerJsonRpcMessage> {
        let id = message.get("id").and_then(request_id);
        let is_typed = id.is_some_and(|id| self.typed.contains(&id));
        unreadable::typed(message, if is_typed { Form::Typed } else { Form::Raw })
    }

    /// Fails the request that an over-long line answers; all that wait, if the line does not show which one it is.
    fn name_the_victims(&mut self) {
        let victims = match answered_id(&self.line) {
            Some(id) => vec![id],
            None => self.waiting.iter().cloned().collect(),
        };
        let text = format!("the server sent a message longer than {} bytes", self.limits.message);
        tracing::warn!(server = %self.name, bytes = self.length, "{text}");
        for id in victims {
            self.waiting.remove(&id);
            let error = ErrorData::internal_error(text.clone(), None);
            self.made_up.push(ServerJsonRpcMessage::error(error, Some(id)));
        }
    }

    fn note_garbage(&mut self) {
        self.garbage += 1;
        if self.garbage > 1 {
            return;
        }
        let shown =
            String::from_utf8_lossy(&self.line[..self.line.len().min(2 * SHOWN_GARBAGE)]).into_owned();
        let shown = cut(shown.trim(), SHOWN_GARBAGE).escape_debug().to_string();
        tracing::debug!(target: "upstream", server = %self.name, "a line on standard output is not an MCP message: {shown}");
        self.findings.set(Some(format!("its standard output is no MCP, it begins with '{shown}'")));
    }
}

/// Finds the id of an answer from the edges of its line, where every common library writes it.
fn answered_id(line: &[u8]) -> Option<RequestId> {
    let text = String::from_utf8_lossy(line);
    let text = text.trim();
    let number = |text: &str| text.parse().ok().map(RequestId::Number);
    let head: String = text.chars().take(EDGE / 2).filter(|c| !c.is_whitespace()).collect();
    let head = head.strip_prefix('{')?;
    let head = head.strip_prefix(r#""jsonrpc":"2.0","#).unwrap_or(head);
    if let Some((id, _)) = head.strip_prefix(r#""id":"#).and_then(|rest| rest.split_once(',')) {
        return number(id);
    }
    // What stands right before the last brace is a key of the message itself, not of something inside.
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
                self.waiting.insert(request.id.clone());
                if is_handshake(&message) {
                    self.typed.insert(request.id.clone());
                }
            }
            // A cancelled request gets no answer.
            JsonRpcMessage::Notification(JsonRpcNotification {
                notification: ClientNotification::CancelledNotification(cancelled),
                ..
            }) => self.waiting.retain(|id| Some(id) != cancelled.params.request_id.as_ref()),
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
            if let Some(message) = self.made_up.pop() {
                return Some(message);
            }
            match self.read_line().await {
                Ok(true) => {}
                Ok(false) => return None,
                Err(error) => {
                    self.findings.set(Some(format!("its standard output cannot be read: {error}")));
                    return None;
                }
            }
            let message = self.parse();
            self.line.clear();
            self.length = 0;
            if message.is_some() {
                return message;
            }
            if self.garbage >= self.limits.garbage_lines {
                return None;
            }
        }
    }

    async fn close(&mut self) -> io::Result<()> {
        // Only dropping the stream closes it.
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
            let mut transport = LineTransport::new("up".into(), &input[..], tokio::io::sink(), limits, Findings::default());
            transport.waiting.insert(RequestId::Number(1));
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

    /// Noise, and things that look much like messages.
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
            assert_eq!(answered_id(line.as_bytes()), Some(RequestId::Number(7)), "{line}");
        }
        for line in [
            r#"{"result":{"id":9}}"#,
            r#"{"result":"\"id\":9"}"#,
            "xxx",
            "",
            r#"{"jsonrpc":"2.0","method":"x"}"#,
        ] {
            assert_eq!(answered_id(line.as_bytes()), None, "{line}");
        }
    }
}
