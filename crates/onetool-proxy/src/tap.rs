//! Listens in between the SDK and a transport, where messages still come in the order in which they were sent.
//!
//! The SDK runs a task per notification, so that progress could overtake progress, or the answer. Here it cannot.

#![expect(deprecated, reason = "older revisions still have logging")]

use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

use onetool_core::Progress;
use rmcp::RoleClient;
use rmcp::model::{ClientJsonRpcMessage, JsonRpcMessage, ServerJsonRpcMessage, ServerNotification};
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
    pub(crate) inner: T,
    pub(crate) name: Arc<str>,
    pub(crate) calls: Arc<Calls>,
    pub(crate) changes: Arc<Changes>,
}

impl<T> Tap<T> {
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
        self.inner.send(message)
    }

    async fn receive(&mut self) -> Option<ServerJsonRpcMessage> {
        loop {
            match self.inner.receive().await {
                Some(JsonRpcMessage::Notification(it)) if self.take(&it.notification) => {}
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
