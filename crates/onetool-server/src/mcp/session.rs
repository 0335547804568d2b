//! The state of one session: its id, its log level and the resources that it watches.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;

use http::HeaderName;
use onetool_core::state::{Reply, SessionState, SessionStore, SessionWatch};
use onetool_core::sync::Unpoisoned as _;
use onetool_core::{JsonObject, LogLevel, SessionId, json_size};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};

/// The header that names the session of a request.
pub(super) const SESSION_ID: HeaderName = HeaderName::from_static("mcp-session-id");

/// Maximum number of resources that one session, or one stream of a stateless client, may watch.
const MAX_WATCHED: usize = 500;

/// Maximum length of the URI of a watched resource, in bytes.
const MAX_URI: usize = 2000;

/// Maximum size in bytes of the parameters of `initialize` that are saved, so that a session can be resumed elsewhere.
const MAX_INITIALIZE: usize = 16 << 10;

/// How long a response waits for a notification that must be sent before it.
const NOTIFY_TIMEOUT: Duration = Duration::from_secs(1);

/// A rejected subscription.
#[derive(Debug, thiserror::Error)]
pub(super) enum SubscribeError {
    #[error("the URI is longer than {MAX_URI} bytes")]
    LongUri,
    #[error("more than {MAX_WATCHED} resources; unsubscribe from some first")]
    TooMany,
    #[error("all sessions together have too many subscriptions; retry later")]
    Full,
}

/// The state of one session. Sessionless revisions get a fresh one with every request.
pub(super) struct Session {
    id: OnceLock<SessionId>,
    persistent: Mutex<Persistent>,
    /// Subscriptions that are still available to all sessions together.
    subscriptions_left: Arc<Semaphore>,
    /// Watches the session's own list of tools, once notifications have started.
    own_list: OnceLock<SessionWatch>,
    /// How often the client was notified of a changed list of tools; `None` until notifications have started.
    notified: watch::Sender<Option<u64>>,
}

/// The state that is saved in the store.
#[derive(Default)]
struct Persistent {
    /// The parameters of `initialize`, once they are known.
    initialize: Option<JsonObject>,
    log_level: Option<LogLevel>,
    watched: HashMap<String, OwnedSemaphorePermit>,
}

impl Session {
    pub(super) fn new(subscriptions_left: Arc<Semaphore>) -> Self {
        Self {
            id: OnceLock::new(),
            persistent: Mutex::default(),
            subscriptions_left,
            own_list: OnceLock::new(),
            notified: watch::Sender::new(None),
        }
    }

    /// Returns the id. The first call sets it to the result of `find`, or to a random one.
    pub(super) fn id(&self, find: impl FnOnce() -> Option<SessionId>) -> &SessionId {
        self.id.get_or_init(|| find().unwrap_or_else(SessionId::random))
    }

    /// Returns the id if it is set; revisions without sessions do not set it.
    pub(super) fn known_id(&self) -> Option<&SessionId> {
        self.id.get()
    }

    /// Submits the state to the store, so that another server can resume the session.
    pub(super) fn save(&self, sessions: &dyn SessionStore) -> Option<Reply<()>> {
        // The lock is held until the state is submitted, so that the last of several changes is saved last.
        let persistent = self.persistent.lock().unpoisoned();
        let state = SessionState {
            initialize: persistent.initialize.clone()?,
            log_level: persistent.log_level,
            watched: persistent.watched.keys().cloned().collect(),
        };
        Some(sessions.save_session(self.id.get()?, state))
    }

    /// Sets the parameters of `initialize`, unless they are too large to be saved.
    pub(super) fn set_initialize(&self, initialize: JsonObject) {
        if json_size(&initialize) <= MAX_INITIALIZE {
            self.persistent.lock().unpoisoned().initialize = Some(initialize);
        }
    }

    /// Continues where another server left off.
    pub(super) fn resume(&self, state: &SessionState) {
        let mut persistent = self.persistent.lock().unpoisoned();
        persistent.initialize = Some(state.initialize.clone());
        persistent.log_level = persistent.log_level.or(state.log_level);
        drop(persistent);
        for uri in &state.watched {
            if let Err(error) = self.watch(uri.clone()) {
                tracing::warn!("a resumed session no longer watches a resource: {error}");
            }
        }
    }

    /// Records that notifications have started. `own_list` watches the session's own list of tools.
    pub(super) fn start_notifications(&self, own_list: SessionWatch) {
        let _ = self.own_list.set(own_list);
        self.notified.send_replace(Some(0));
    }

    /// Returns how often the session's own list of tools has changed since notifications started.
    pub(super) fn list_changes(&self) -> u64 {
        self.own_list.get().map_or(0, SessionWatch::changes)
    }

    /// Records that the client was notified of a changed list of tools.
    pub(super) fn count_notification(&self) {
        self.notified.send_modify(|notified| *notified = notified.map(|times| times + 1));
    }

    /// Returns how often the client was notified of a changed list of tools; `None` if notifications have not started.
    pub(super) fn notifications(&self) -> Option<u64> {
        *self.notified.borrow()
    }

    /// Waits until the client was notified more than `before` times, but not long: it may not be listening.
    pub(super) async fn wait_for_notification(&self, before: u64) {
        let mut notified = self.notified.subscribe();
        let is_notified = notified.wait_for(|notified| notified.is_none_or(|times| times > before));
        drop(tokio::time::timeout(NOTIFY_TIMEOUT, is_notified).await);
    }

    pub(super) fn log_level(&self) -> Option<LogLevel> {
        self.persistent.lock().unpoisoned().log_level
    }

    pub(super) fn set_log_level(&self, level: LogLevel) {
        self.persistent.lock().unpoisoned().log_level = Some(level);
    }

    pub(super) fn watch(&self, uri: String) -> Result<(), SubscribeError> {
        let watched = &mut self.persistent.lock().unpoisoned().watched;
        if watched.contains_key(&uri) {
            return Ok(());
        }
        check_watched(watched.len() + 1, [uri.as_str()])?;
        let permit = self.subscriptions_left.clone().try_acquire_owned().map_err(|_| SubscribeError::Full)?;
        watched.insert(uri, permit);
        Ok(())
    }

    pub(super) fn unwatch(&self, uri: &str) {
        self.persistent.lock().unpoisoned().watched.remove(uri);
    }

    pub(super) fn is_watching(&self, uri: &str) -> bool {
        self.persistent.lock().unpoisoned().watched.contains_key(uri)
    }

    /// Counts a notification stream and the resources that it watches as subscriptions, until the permit is dropped.
    pub(super) fn watch_stream(&self, uris: &[String]) -> Result<OwnedSemaphorePermit, SubscribeError> {
        check_stream(uris)?;
        let count = u32::try_from(uris.len() + 1).map_err(|_| SubscribeError::TooMany)?;
        self.subscriptions_left.clone().try_acquire_many_owned(count).map_err(|_| SubscribeError::Full)
    }
}

/// Rejects a notification stream that watches more resources than a session may.
pub(super) fn check_stream(uris: &[String]) -> Result<(), SubscribeError> {
    check_watched(uris.len(), uris.iter().map(String::as_str))
}

fn check_watched<'a>(count: usize, uris: impl IntoIterator<Item = &'a str>) -> Result<(), SubscribeError> {
    if count > MAX_WATCHED {
        return Err(SubscribeError::TooMany);
    }
    if uris.into_iter().any(|uri| uri.len() > MAX_URI) {
        return Err(SubscribeError::LongUri);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use onetool_core::state::LocalSessions;
    use serde_json::json;

    use super::*;

    fn session(id: &str) -> Session {
        let session = Session::new(Arc::new(Semaphore::new(10)));
        session.id(|| Some(SessionId::new(id)));
        session
    }

    #[tokio::test]
    async fn str_3_a_session_can_be_resumed_by_another_server_with_the_same_store() {
        let store = LocalSessions::default();
        let first = session("one");
        assert!(first.save(&store).is_none(), "the client has not sent initialize");
        first.set_initialize(json!({"clientInfo": {"name": "test"}}).as_object().cloned().unwrap());
        first.set_log_level(LogLevel::Error);
        for uri in ["file:///a", "file:///b"] {
            first.watch(uri.to_owned()).unwrap();
        }
        first.unwatch("file:///a");
        first.save(&store).unwrap().await.unwrap();
        let second = session("one");
        let state = store.session(second.known_id().unwrap()).await.unwrap().unwrap();
        assert_eq!(state.initialize["clientInfo"]["name"], "test");
        second.resume(&state);
        assert_eq!(second.log_level(), Some(LogLevel::Error));
        assert!(second.is_watching("file:///b") && !second.is_watching("file:///a"));
        second.save(&store).unwrap().await.unwrap();
        assert_eq!(store.session(second.known_id().unwrap()).await.unwrap().unwrap(), state);
    }

    #[test]
    fn a_client_with_huge_initialize_parameters_is_not_saved() {
        let session = session("one");
        let huge = json!({"capabilities": "x".repeat(MAX_INITIALIZE)}).as_object().cloned().unwrap();
        session.set_initialize(huge);
        assert!(session.save(&LocalSessions::default()).is_none());
    }
}
