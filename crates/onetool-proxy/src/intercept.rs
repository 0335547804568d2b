//! Intercepts messages between the SDK and a transport, where they are still in the order in which they were sent.
//!
//! The SDK spawns a task per notification, so progress could overtake other progress, or the response. Here it cannot.

#![expect(deprecated, reason = "older revisions still have logging")]

use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

use onetool_core::{LogLevel, Progress};
use rmcp::RoleClient;
use rmcp::model::{
    ClientJsonRpcMessage, ClientNotification, ClientRequest, Implementation, InitializeResult,
    JsonRpcMessage, LoggingLevel, ProtocolVersion, RequestId, ServerJsonRpcMessage, ServerNotification,
    ServerResult,
};
use rmcp::transport::Transport;
use tokio::sync::Notify;

use crate::in_flight::{Event, InFlightCalls};

/// A list that has changed, as a bit of [`ChangedLists`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ChangedList {
    Tools = 1,
    Resources = 2,
    Prompts = 4,
}

/// The lists that have changed since they were last taken.
#[derive(Default)]
pub(crate) struct ChangedLists {
    bits: AtomicU8,
    changed: Notify,
}

impl ChangedLists {
    fn add(&self, list: ChangedList) {
        self.bits.fetch_or(list as u8, Ordering::Relaxed);
        self.changed.notify_one();
    }

    /// Waits for a change.
    pub(crate) async fn wait(&self) {
        self.changed.notified().await;
    }

    /// Returns the changed lists and resets them.
    pub(crate) fn take(&self) -> Vec<ChangedList> {
        let bits = self.bits.swap(0, Ordering::Relaxed);
        let all = [ChangedList::Tools, ChangedList::Resources, ChangedList::Prompts];
        all.into_iter().filter(|list| bits & *list as u8 != 0).collect()
    }
}

/// A transport whose messages are intercepted.
pub(crate) struct Interceptor<T> {
    inner: T,
    name: Arc<str>,
    calls: Arc<InFlightCalls>,
    changed_lists: Arc<ChangedLists>,
    discover: Discover,
}

/// The state of the `server/discover` request, for which the SDK waits ten seconds before it sends `initialize`.
///
/// A program that takes longer to start, for example because `npx` installs it first, would get both requests, and one
/// of the newest revision rejects the second. So `initialize` is held back here until the response to the first.
#[derive(Default)]
enum Discover {
    /// No request was sent, or the response arrived in time.
    #[default]
    Done,
    Sent(RequestId),
    /// The SDK has stopped waiting, and `initialize` is what it wants to send instead.
    Late {
        id: RequestId,
        initialize: Box<ClientJsonRpcMessage>,
    },
    /// The SDK got the late response as the response to `initialize`, and will send `notifications/initialized`.
    Converted,
}

/// What to do with a message from the server.
enum Incoming {
    /// Pass the message to the SDK.
    Pass(ServerJsonRpcMessage),
    /// Send the `initialize` that was held back: the server uses an older revision.
    Send(ClientJsonRpcMessage),
}

impl Discover {
    /// Returns the message if it is to be sent now, and `None` if it is held back or dropped.
    fn outgoing(&mut self, message: ClientJsonRpcMessage) -> Option<ClientJsonRpcMessage> {
        match (&message, std::mem::take(self)) {
            (JsonRpcMessage::Request(request), state) => match (&request.request, state) {
                (ClientRequest::DiscoverRequest(_), _) => *self = Self::Sent(request.id.clone()),
                (ClientRequest::InitializeRequest(_), Self::Sent(id)) => {
                    *self = Self::Late { id, initialize: Box::new(message) };
                    return None;
                }
                (_, state) => *self = state,
            },
            (JsonRpcMessage::Notification(it), Self::Converted)
                if matches!(it.notification, ClientNotification::InitializedNotification(_)) =>
            {
                return None;
            }
            (_, state) => *self = state,
        }
        Some(message)
    }

    fn incoming(&mut self, message: ServerJsonRpcMessage) -> Incoming {
        let response_id = match &message {
            JsonRpcMessage::Response(response) => Some(&response.id),
            JsonRpcMessage::Error(error) => error.id.as_ref(),
            _ => None,
        };
        match std::mem::take(self) {
            Self::Sent(id) if response_id == Some(&id) => Incoming::Pass(message),
            Self::Late { id, initialize } if response_id == Some(&id) => {
                match as_initialize_response(message, &initialize) {
                    Some(converted) => {
                        *self = Self::Converted;
                        Incoming::Pass(converted)
                    }
                    None => Incoming::Send(*initialize),
                }
            }
            state => {
                *self = state;
                Incoming::Pass(message)
            }
        }
    }
}

/// Converts the response to `server/discover` to one to `initialize`; `None` if the server does not support the newest
/// revision.
///
/// The SDK recognizes the newest revision in such a response, and continues without a session.
fn as_initialize_response(
    response: ServerJsonRpcMessage,
    initialize: &ClientJsonRpcMessage,
) -> Option<ServerJsonRpcMessage> {
    let (JsonRpcMessage::Response(response), JsonRpcMessage::Request(request)) = (response, initialize)
    else {
        return None;
    };
    let ServerResult::DiscoverResult(discovered) = response.result else { return None };
    let newest = ProtocolVersion::V_2026_07_28;
    if !discovered.supported_versions.contains(&newest) {
        return None;
    }
    let server = discovered.server_info().unwrap_or_else(|| Implementation::new("", ""));
    let mut result = InitializeResult::new(discovered.capabilities).with_protocol_version(newest);
    (result.server_info, result.instructions) = (server, discovered.instructions);
    Some(ServerJsonRpcMessage::response(ServerResult::InitializeResult(result), request.id.clone()))
}

impl<T> Interceptor<T> {
    pub(crate) fn new(
        inner: T,
        name: Arc<str>,
        calls: Arc<InFlightCalls>,
        changed_lists: Arc<ChangedLists>,
    ) -> Self {
        Self { inner, name, calls, changed_lists, discover: Discover::default() }
    }

    /// Handles a notification; returns false if the SDK needs it too.
    fn handle(&self, notification: &ServerNotification) -> bool {
        match notification {
            ServerNotification::ProgressNotification(progress) => {
                let params = &progress.params;
                if let Some(call) = self.calls.by_token(&params.progress_token) {
                    let (done, total, message) = (params.progress, params.total, params.message.clone());
                    // Progress is dropped if the call cannot keep up.
                    let _ = call.events.try_send(Event::Progress(Progress { done, total, message }));
                }
                true
            }
            ServerNotification::LoggingMessageNotification(message) => {
                let params = &message.params;
                match self.calls.find(None) {
                    Ok(call) => {
                        let (level, logger, data) =
                            (log_level(params.level), params.logger.clone(), params.data.clone());
                        let _ = call.events.try_send(Event::Log { level, logger, data });
                    }
                    // Without its text, which may contain what a caller sent.
                    Err(reason) => {
                        tracing::debug!(server = %self.name, level = ?params.level, "log message dropped: {reason}");
                    }
                }
                true
            }
            // The SDK needs these for subscriptions.
            ServerNotification::ToolListChangedNotification(_) => self.list_changed(ChangedList::Tools),
            ServerNotification::ResourceListChangedNotification(_) => {
                self.list_changed(ChangedList::Resources)
            }
            ServerNotification::PromptListChangedNotification(_) => self.list_changed(ChangedList::Prompts),
            _ => false,
        }
    }

    fn list_changed(&self, list: ChangedList) -> bool {
        self.changed_lists.add(list);
        false
    }
}

impl<T: Transport<RoleClient>> Transport<RoleClient> for Interceptor<T> {
    type Error = T::Error;

    fn send(
        &mut self,
        message: ClientJsonRpcMessage,
    ) -> impl Future<Output = Result<(), Self::Error>> + Send + 'static {
        self.calls.register(&message);
        let sent = self.discover.outgoing(message).map(|message| self.inner.send(message));
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
                Some(JsonRpcMessage::Notification(it)) if self.handle(&it.notification) => continue,
                Some(message) => message,
                None => break,
            };
            match self.discover.incoming(message) {
                Incoming::Pass(message) => return Some(message),
                Incoming::Send(initialize) => {
                    if self.inner.send(initialize).await.is_err() {
                        break;
                    }
                }
            }
        }
        self.calls.closed.cancel();
        None
    }

    async fn close(&mut self) -> Result<(), Self::Error> {
        self.inner.close().await
    }
}

fn log_level(level: LoggingLevel) -> LogLevel {
    match level {
        LoggingLevel::Debug => LogLevel::Debug,
        LoggingLevel::Info => LogLevel::Info,
        LoggingLevel::Notice => LogLevel::Notice,
        LoggingLevel::Warning => LogLevel::Warning,
        LoggingLevel::Error => LogLevel::Error,
        LoggingLevel::Critical => LogLevel::Critical,
        LoggingLevel::Alert => LogLevel::Alert,
        LoggingLevel::Emergency => LogLevel::Emergency,
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
    use crate::client::Client;
    use crate::config::Limits;
    use crate::lines::{LineTransport, StdoutProblem};

    /// A program that starts to read long after the SDK has stopped waiting for `server/discover`.
    ///
    /// Returns the methods that it was sent.
    async fn slow_program(stream: tokio::io::DuplexStream, is_modern: bool) -> Vec<String> {
        let (read, mut write) = tokio::io::split(stream);
        let mut lines = BufReader::new(read).lines();
        let mut received = Vec::new();
        // The slow start under test; the clock is paused, so this takes no time.
        tokio::time::sleep(Duration::from_secs(30)).await;
        while let Ok(Some(line)) = lines.next_line().await {
            let message: serde_json::Value = serde_json::from_str(&line).unwrap();
            let method = message["method"].as_str().unwrap().to_owned();
            let server = serde_json::json!({"name": "slow", "version": "1"});
            let mut response = match method.as_str() {
                "server/discover" if is_modern => serde_json::json!({"result": {
                    "resultType": "complete", "supportedVersions": ["2026-07-28"], "capabilities": {"tools": {}},
                    "ttlMs": 0, "cacheScope": "private", "instructions": "go",
                    "_meta": {"io.modelcontextprotocol/serverInfo": server}}}),
                "initialize" if !is_modern => serde_json::json!({"result": {
                    "protocolVersion": "2025-06-18", "capabilities": {}, "serverInfo": server}}),
                _ => serde_json::json!({"error": {"code": -32601, "message": "Method not found"}}),
            };
            received.push(method);
            if let Some(id) = message.get("id") {
                (response["jsonrpc"], response["id"]) = ("2.0".into(), id.clone());
                write.write_all(format!("{response}\n").as_bytes()).await.unwrap();
            }
        }
        received
    }

    async fn connect_to_slow_program(is_modern: bool) -> (ServerPeerInfo, Vec<String>) {
        let (ours, theirs) = tokio::io::duplex(4096);
        let program = tokio::spawn(slow_program(theirs, is_modern));
        let (read, write) = tokio::io::split(ours);
        let lines =
            LineTransport::new("slow".into(), read, write, Limits::default(), StdoutProblem::default());
        let calls = Arc::<InFlightCalls>::default();
        let client = Client { name: "slow".into(), calls: calls.clone() };
        let transport = Interceptor::new(lines, "slow".into(), calls, Arc::default());
        let mode = ClientLifecycleMode::Auto {
            preferred_versions: vec![ProtocolVersion::V_2026_07_28],
            legacy_version: Some(ProtocolVersion::LATEST_WITH_INITIALIZE),
        };
        let running = serve_client_with_lifecycle_and_ct(client, transport, mode, CancellationToken::new())
            .await
            .unwrap();
        let info = ServerPeerInfo::clone(&running.peer().peer_info().unwrap());
        drop(running.cancel().await);
        (info, program.await.unwrap())
    }

    #[tokio::test(start_paused = true)]
    async fn seam_8_a_program_that_takes_long_to_start_gets_one_message_until_it_responds() {
        let (info, received) = connect_to_slow_program(false).await;
        assert_eq!(info.server_info.map(|it| it.name).as_deref(), Some("slow"));
        assert_eq!(received, ["server/discover", "initialize", "notifications/initialized"]);
    }

    #[tokio::test(start_paused = true)]
    async fn seam_8_a_late_response_of_the_newest_revision_is_used() {
        let (info, received) = connect_to_slow_program(true).await;
        assert_eq!(info.protocol_version, ProtocolVersion::V_2026_07_28);
        assert_eq!(info.server_info.map(|it| it.name).as_deref(), Some("slow"));
        assert_eq!(info.instructions.as_deref(), Some("go"));
        assert_eq!(received, ["server/discover"]);
    }
}
