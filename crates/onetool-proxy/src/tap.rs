//! Listens in between the SDK and a transport, where messages still come in the order in which they were sent.
//!
//! The SDK runs a task per notification, so that progress could overtake progress, or the answer. Here it cannot.

#![expect(deprecated, reason = "older revisions still have logging")]

use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

use onetool_core::Progress;
use rmcp::RoleClient;
use rmcp::model::{
    ClientJsonRpcMessage, ClientRequest, JsonRpcMessage, RequestId, ServerJsonRpcMessage, ServerNotification,
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
/// A program that takes longer to start, as one that `npx` installs first, then answers both, and the SDK would take
/// the late answer for a wrong one.
#[derive(Default)]
enum Probe {
    #[default]
    NotAsked,
    Asked(RequestId),
    GivenUp(RequestId),
}

impl Probe {
    fn note(&mut self, message: &ClientJsonRpcMessage) {
        let JsonRpcMessage::Request(request) = message else { return };
        match request.request {
            ClientRequest::DiscoverRequest(_) => *self = Self::Asked(request.id.clone()),
            ClientRequest::InitializeRequest(_) => {
                if let Self::Asked(id) = std::mem::take(self) {
                    *self = Self::GivenUp(id);
                }
            }
            _ => {}
        }
    }

    fn is_late_answer(&self, message: &ServerJsonRpcMessage) -> bool {
        let Self::GivenUp(probe) = self else { return false };
        match message {
            JsonRpcMessage::Response(answer) => answer.id == *probe,
            JsonRpcMessage::Error(error) => error.id.as_ref() == Some(probe),
            _ => false,
        }
    }
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
        self.probe.note(&message);
        self.inner.send(message)
    }

    async fn receive(&mut self) -> Option<ServerJsonRpcMessage> {
        loop {
            match self.inner.receive().await {
                Some(JsonRpcMessage::Notification(it)) if self.take(&it.notification) => {}
                Some(message) if self.probe.is_late_answer(&message) => {}
                Some(message) => return Some(message),
                None => {
                    self.calls.ended.cancel();
                    return None;
                }
            }
        }
    }

    async fn close(&mut self) -> Result<(), Self::Error> {
        self.inner.close().await
    }
}

#[cfg(test)]
mod tests {
    use rmcp::model::ProtocolVersion;
    use rmcp::service::{ClientLifecycleMode, serve_client_with_lifecycle_and_ct};
    use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};
    use tokio_util::sync::CancellationToken;

    use super::*;
    use crate::Limits;
    use crate::client::Client;
    use crate::lines::{Findings, LineTransport};

    /// A program that is installed first: its input waits unread for longer than the SDK waits for an answer.
    async fn slow_program(stream: tokio::io::DuplexStream) {
        let (read, mut write) = tokio::io::split(stream);
        let mut lines = BufReader::new(read).lines();
        let mut unread = Vec::new();
        while let Ok(Some(line)) = lines.next_line().await {
            let message: serde_json::Value = serde_json::from_str(&line).unwrap();
            let is_initialize = message["method"] == "initialize";
            unread.push(message);
            if !is_initialize {
                continue;
            }
            for message in unread.drain(..) {
                let answer = if message["method"] == "initialize" {
                    serde_json::json!({"jsonrpc": "2.0", "id": message["id"], "result": {
                        "protocolVersion": "2025-06-18", "capabilities": {}, "serverInfo": {"name": "slow", "version": "1"}}})
                } else {
                    serde_json::json!({"jsonrpc": "2.0", "id": message["id"],
                        "error": {"code": -32601, "message": "Method not found"}})
                };
                write.write_all(format!("{answer}\n").as_bytes()).await.unwrap();
            }
        }
    }

    #[tokio::test(start_paused = true)]
    async fn prx_1_1_a_program_that_takes_long_to_start_is_connected_although_it_answers_the_first_question_late()
     {
        let (ours, theirs) = tokio::io::duplex(4096);
        tokio::spawn(slow_program(theirs));
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
        let info = running.peer().peer_info().unwrap();
        assert_eq!(info.server_info.as_ref().map(|it| it.name.as_str()), Some("slow"));
    }
}
