//! Listens in between the SDK and a transport, where messages still come in the order in which they were sent.
//!
//! The SDK runs a task per notification, so that progress could overtake progress, or the answer. Here it cannot.

#![expect(deprecated, reason = "older revisions still have logging")]

use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

use onetool_core::Progress;
use rmcp::RoleClient;
use rmcp::model::{
    ClientJsonRpcMessage, ClientNotification, ClientRequest, Implementation, InitializeResult,
    JsonRpcMessage, ProtocolVersion, RequestId, ServerJsonRpcMessage, ServerNotification, ServerResult,
};
use rmcp::transport::Transport;
use tokio::sync::Notify;

use crate::calls::{Calls, Event};
use crate::client::log_level;

/// The lists of an upstream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum List {
    Tools = 1,
    Resources = 2,
    Prompts = 4,
}

/// Which lists have changed since somebody last looked.
#[derive(Default)]
pub(crate) struct Changes {
    lists: AtomicU8,
    news: Notify,
}

impl Changes {
    fn note(&self, list: List) {
        self.lists.fetch_or(list as u8, Ordering::Relaxed);
        self.news.notify_one();
    }

    /// Waits for a change.
    pub(crate) async fn wait(&self) {
        self.news.notified().await;
    }

    /// Returns what has changed, and forgets it.
    pub(crate) fn take(&self) -> Vec<List> {
        let lists = self.lists.swap(0, Ordering::Relaxed);
        let changed = |list: &List| lists & *list as u8 != 0;
        [List::Tools, List::Resources, List::Prompts].into_iter().filter(changed).collect()
    }
}

/// A transport that is listened to.
pub(crate) struct Tap<T> {
    inner: T,
    name: Arc<str>,
    calls: Arc<Calls>,
    changes: Arc<Changes>,
    probe: Probe,
}

/// The question for the newest revision, which the SDK gives up after ten seconds and goes on with `initialize`.
///
/// A program that takes longer to start, as one that `npx` installs first, would get both, and one of the newest
/// revision refuses the second. So `initialize` waits here for the answer to the question.
#[derive(Default)]
enum Probe {
    /// Nothing was asked, or it was answered in time.
    #[default]
    Settled,
    Asked(RequestId),
    /// The SDK has given up; this is what it wants to send instead.
    Late {
        question: RequestId,
        initialize: Box<ClientJsonRpcMessage>,
    },
    /// The SDK was given the late answer as one to `initialize`, and will say that it is ready.
    Disguised,
}

/// What is to be done with a message from the server.
enum Late {
    /// It is not the late answer.
    Pass(ServerJsonRpcMessage),
    /// The server is of an older revision.
    Send(ClientJsonRpcMessage),
}

impl Probe {
    /// Returns a message that is to be sent now; none if it has to wait.
    fn outgoing(&mut self, message: ClientJsonRpcMessage) -> Option<ClientJsonRpcMessage> {
        match (&message, std::mem::take(self)) {
            (JsonRpcMessage::Request(request), before) => match (&request.request, before) {
                (ClientRequest::DiscoverRequest(_), _) => *self = Self::Asked(request.id.clone()),
                (ClientRequest::InitializeRequest(_), Self::Asked(question)) => {
                    *self = Self::Late { question, initialize: Box::new(message) };
                    return None;
                }
                (_, before) => *self = before,
            },
            (JsonRpcMessage::Notification(it), Self::Disguised)
                if matches!(it.notification, ClientNotification::InitializedNotification(_)) =>
            {
                return None;
            }
            (_, before) => *self = before,
        }
        Some(message)
    }

    fn incoming(&mut self, message: ServerJsonRpcMessage) -> Late {
        let answered = match &message {
            JsonRpcMessage::Response(answer) => Some(&answer.id),
            JsonRpcMessage::Error(error) => error.id.as_ref(),
            _ => None,
        };
        match std::mem::take(self) {
            Self::Asked(question) if answered == Some(&question) => Late::Pass(message),
            Self::Late { question, initialize } if answered == Some(&question) => {
                match discovered(message, &initialize) {
                    Some(disguised) => {
                        *self = Self::Disguised;
                        Late::Pass(disguised)
                    }
                    None => Late::Send(*initialize),
                }
            }
            before => {
                *self = before;
                Late::Pass(message)
            }
        }
    }
}

/// Makes an answer to `initialize` of the answer to the question; none if that is a refusal.
///
/// The SDK takes such an answer of the newest revision for what it is, and goes on without a session.
fn discovered(
    answer: ServerJsonRpcMessage,
    initialize: &ClientJsonRpcMessage,
) -> Option<ServerJsonRpcMessage> {
    let (JsonRpcMessage::Response(answer), JsonRpcMessage::Request(asked)) = (answer, initialize) else {
        return None;
    };
    let ServerResult::DiscoverResult(found) = answer.result else { return None };
    let newest = ProtocolVersion::V_2026_07_28;
    if !found.supported_versions.contains(&newest) {
        return None;
    }
    let server = found.server_info().unwrap_or_else(|| Implementation::new("", ""));
    let mut result = InitializeResult::new(found.capabilities).with_protocol_version(newest);
    (result.server_info, result.instructions) = (server, found.instructions);
    Some(ServerJsonRpcMessage::response(ServerResult::InitializeResult(result), asked.id.clone()))
}

impl<T> Tap<T> {
    pub(crate) fn new(inner: T, name: Arc<str>, calls: Arc<Calls>, changes: Arc<Changes>) -> Self {
        Self { inner, name, calls, changes, probe: Probe::default() }
    }

    /// Passes a notification to where it belongs; false if the SDK is to have it.
    fn take(&self, notification: &ServerNotification) -> bool {
        match notification {
            ServerNotification::ProgressNotification(progress) => {
                let params = &progress.params;
                if let Some(call) = self.calls.by_token(&params.progress_token) {
                    let (done, total, message) = (params.progress, params.total, params.message.clone());
                    // A call that cannot keep up misses a report.
                    let _ = call.events.try_send(Event::Progress(Progress { done, total, message }));
                }
                true
            }
            ServerNotification::LoggingMessageNotification(message) => {
                let params = &message.params;
                match self.calls.cause(None) {
                    Ok(call) => {
                        let (level, logger, data) =
                            (log_level(params.level), params.logger.clone(), params.data.clone());
                        let _ = call.events.try_send(Event::Log { level, logger, data });
                    }
                    // Not its text: it may hold what a caller gave.
                    Err(reason) => {
                        tracing::debug!(server = %self.name, level = ?params.level, "a log message is not passed on: {reason}");
                    }
                }
                true
            }
            // The SDK still has to see these: a subscription waits for them.
            ServerNotification::ToolListChangedNotification(_) => self.changed(List::Tools),
            ServerNotification::ResourceListChangedNotification(_) => self.changed(List::Resources),
            ServerNotification::PromptListChangedNotification(_) => self.changed(List::Prompts),
            _ => false,
        }
    }

    fn changed(&self, list: List) -> bool {
        self.changes.note(list);
        false
    }
}

impl<T: Transport<RoleClient>> Transport<RoleClient> for Tap<T> {
    type Error = T::Error;

    fn send(
        &mut self,
        message: ClientJsonRpcMessage,
    ) -> impl Future<Output = Result<(), Self::Error>> + Send + 'static {
        self.calls.register(&message);
        let sent = self.probe.outgoing(message).map(|message| self.inner.send(message));
        async move {
            match sent {
                Some(sent) => sent.await,
                None => Ok(()),
            }
        }
    }

    async fn receive(&mut self) -> Option<ServerJsonRpcMessage> {
        loop {
            let message = match self.inner.receive().await {
                Some(JsonRpcMessage::Notification(it)) if self.take(&it.notification) => continue,
                Some(message) => message,
                None => break,
            };
            match self.probe.incoming(message) {
                Late::Pass(message) => return Some(message),
                Late::Send(initialize) => {
                    if self.inner.send(initialize).await.is_err() {
                        break;
                    }
                }
            }
        }
        self.calls.ended.cancel();
        None
    }

    async fn close(&mut self) -> Result<(), Self::Error> {
        self.inner.close().await
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use rmcp::model::ServerPeerInfo;
    use rmcp::service::{ClientLifecycleMode, serve_client_with_lifecycle_and_ct};
    use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};
    use tokio_util::sync::CancellationToken;

    use super::*;
    use crate::Limits;
    use crate::client::Client;
    use crate::lines::{Findings, LineTransport};

    /// A program that is installed first: it begins to read when the SDK has long given up on the first question.
    ///
    /// Returns what it was sent.
    async fn slow_program(stream: tokio::io::DuplexStream, is_modern: bool) -> Vec<String> {
        let (read, mut write) = tokio::io::split(stream);
        let mut lines = BufReader::new(read).lines();
        let mut seen = Vec::new();
        tokio::time::sleep(Duration::from_secs(30)).await;
        while let Ok(Some(line)) = lines.next_line().await {
            let message: serde_json::Value = serde_json::from_str(&line).unwrap();
            let method = message["method"].as_str().unwrap().to_owned();
            let server = serde_json::json!({"name": "slow", "version": "1"});
            let answer = match method.as_str() {
                "server/discover" if is_modern => serde_json::json!({"result": {
                    "resultType": "complete", "supportedVersions": ["2026-07-28"], "capabilities": {"tools": {}},
                    "ttlMs": 0, "cacheScope": "private", "instructions": "go",
                    "_meta": {"io.modelcontextprotocol/serverInfo": server}}}),
                "initialize" if !is_modern => serde_json::json!({"result": {
                    "protocolVersion": "2025-06-18", "capabilities": {}, "serverInfo": server}}),
                _ => serde_json::json!({"error": {"code": -32601, "message": "Method not found"}}),
            };
            seen.push(method);
            if let Some(id) = message.get("id") {
                let mut answer = answer;
                (answer["jsonrpc"], answer["id"]) = ("2.0".into(), id.clone());
                write.write_all(format!("{answer}\n").as_bytes()).await.unwrap();
            }
        }
        seen
    }

    async fn connect_slowly(is_modern: bool) -> (ServerPeerInfo, Vec<String>) {
        let (ours, theirs) = tokio::io::duplex(4096);
        let program = tokio::spawn(slow_program(theirs, is_modern));
        let (read, write) = tokio::io::split(ours);
        let lines = LineTransport::new("slow".into(), read, write, Limits::default(), Findings::default());
        let calls = Arc::<Calls>::default();
        let client = Client { name: "slow".into(), calls: calls.clone() };
        let tap = Tap::new(lines, "slow".into(), calls, Arc::default());
        let mode = ClientLifecycleMode::Auto {
            preferred_versions: vec![ProtocolVersion::V_2026_07_28],
            legacy_version: Some(ProtocolVersion::LATEST_WITH_INITIALIZE),
        };
        let running =
            serve_client_with_lifecycle_and_ct(client, tap, mode, CancellationToken::new()).await.unwrap();
        let info = ServerPeerInfo::clone(&running.peer().peer_info().unwrap());
        drop(running.cancel().await);
        (info, program.await.unwrap())
    }

    #[tokio::test(start_paused = true)]
    async fn seam_8_a_program_that_takes_long_to_start_is_sent_nothing_twice_before_it_answers() {
        let (info, seen) = connect_slowly(false).await;
        assert_eq!(info.server_info.map(|it| it.name).as_deref(), Some("slow"));
        assert_eq!(seen, ["server/discover", "initialize", "notifications/initialized"]);
    }

    #[tokio::test(start_paused = true)]
    async fn seam_8_a_late_answer_of_the_newest_revision_counts() {
        let (info, seen) = connect_slowly(true).await;
        assert_eq!(info.protocol_version, ProtocolVersion::V_2026_07_28);
        assert_eq!(info.server_info.map(|it| it.name).as_deref(), Some("slow"));
        assert_eq!(info.instructions.as_deref(), Some("go"));
        assert_eq!(seen, ["server/discover"]);
    }
}
