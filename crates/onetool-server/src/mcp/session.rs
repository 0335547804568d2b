//! What belongs to one session: its id, its log level and the resources it watches.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;

use http::header::HeaderName;
use onetool_core::state::{Reply, SessionState, SessionStore, SessionWatch};
use onetool_core::sync::Unpoisoned as _;
use onetool_core::{JsonObject, LogLevel, SessionId, json_size};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};

/// The header that names the session of a request.
pub(super) const SESSION_ID: HeaderName = HeaderName::from_static("mcp-session-id");

/// Resources that one session, or one stream of a stateless client, may watch.
const MAX_WATCHED: usize = 500;

/// Longest URI of a resource that is watched, in bytes.
const MAX_URI: usize = 2000;

/// Maximum size in bytes of the parameters of `initialize` that are saved, so that a session can be resumed elsewhere.
const MAX_INITIALIZE: usize = 16 << 10;

/// How long a response waits for the notification that should come before it.
const TELLING: Duration = Duration::from_secs(1);

/// A subscription that is not kept.
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
    kept: Mutex<Kept>,
    /// Subscriptions that all sessions together may still have.
    left: Arc<Semaphore>,
    /// Notices when the session's own list of tools changes, from the moment that the client is notified of changes.
    own_list: OnceLock<SessionWatch>,
    /// How often the client was notified that its list of tools changed; `None` if nothing notifies it.
    told: watch::Sender<Option<u64>>,
}

/// What outlives a request.
#[derive(Default)]
struct Kept {
    /// The parameters of `initialize`, once they are known.
    initialize: Option<JsonObject>,
    log_level: Option<LogLevel>,
    watched: HashMap<String, OwnedSemaphorePermit>,
}

impl Session {
    pub(super) fn new(left: Arc<Semaphore>) -> Self {
        let told = watch::Sender::new(None);
        Self { id: OnceLock::new(), kept: Mutex::default(), left, own_list: OnceLock::new(), told }
    }

    /// Returns the id; `find` finds it for the first who asks, and if there is none, the id is random.
    pub(super) fn id(&self, find: impl FnOnce() -> Option<SessionId>) -> &SessionId {
        self.id.get_or_init(|| find().unwrap_or_else(SessionId::random))
    }

    /// Returns the id if anyone has asked for it; revisions without sessions do not.
    pub(super) fn known_id(&self) -> Option<&SessionId> {
        self.id.get()
    }

    /// Submits the state to the store, so that another server can resume the session.
    pub(super) fn save(&self, sessions: &dyn SessionStore) -> Option<Reply<()>> {
        // The lock is held until the state is submitted, so that the last of several changes is saved last.
        let kept = self.kept.lock().unpoisoned();
        let state = SessionState {
            initialize: kept.initialize.clone()?,
            log_level: kept.log_level,
            watched: kept.watched.keys().cloned().collect(),
        };
        Some(sessions.save_session(self.id.get()?, state))
    }

    /// Notes how the client introduced itself, unless that is too large to be saved.
    pub(super) fn set_initialize(&self, initialize: JsonObject) {
        if json_size(&initialize) <= MAX_INITIALIZE {
            self.kept.lock().unpoisoned().initialize = Some(initialize);
        }
    }

    /// Continues where another server left off.
    pub(super) fn resume(&self, state: &SessionState) {
        let mut kept = self.kept.lock().unpoisoned();
        kept.initialize = Some(state.initialize.clone());
        kept.log_level = kept.log_level.or(state.log_level);
        drop(kept);
        for uri in &state.watched {
            if let Err(error) = self.watch(uri.clone()) {
                tracing::warn!("a resumed session no longer watches a resource: {error}");
            }
        }
    }

    /// Notes that the client is notified of changes from now on. `own_list` notices when the session's own list of tools
    /// changes.
    pub(super) fn begin_telling(&self, own_list: SessionWatch) {
        let _ = self.own_list.set(own_list);
        self.told.send_replace(Some(0));
    }

    /// Returns how often the session's own list of tools has changed since the client is notified of changes.
    pub(super) fn list_changes(&self) -> u64 {
        self.own_list.get().map_or(0, SessionWatch::changes)
    }

    /// Notes that the client was notified of a changed list of tools.
    pub(super) fn note_told(&self) {
        self.told.send_modify(|told| *told = told.map(|times| times + 1));
    }

    /// Returns how often the client was notified of a changed list of tools; `None` if nothing notifies it.
    pub(super) fn told(&self) -> Option<u64> {
        *self.told.borrow()
    }

    /// Waits until the client was notified once more than `before`, but not long: it may not be listening.
    pub(super) async fn told_since(&self, before: u64) {
        let mut told = self.told.subscribe();
        let is_told = told.wait_for(|told| told.is_none_or(|times| times > before));
        drop(tokio::time::timeout(TELLING, is_told).await);
    }

    pub(super) fn log_level(&self) -> Option<LogLevel> {
        self.kept.lock().unpoisoned().log_level
    }

    pub(super) fn set_log_level(&self, level: LogLevel) {
        self.kept.lock().unpoisoned().log_level = Some(level);
    }

    pub(super) fn watch(&self, uri: String) -> Result<(), SubscribeError> {
        let watched = &mut self.kept.lock().unpoisoned().watched;
        if watched.contains_key(&uri) {
            return Ok(());
        }
        check_watched(watched.len() + 1, [uri.as_str()])?;
        let permit = self.left.clone().try_acquire_owned().map_err(|_| SubscribeError::Full)?;
        watched.insert(uri, permit);
        Ok(())
    }

    pub(super) fn unwatch(&self, uri: &str) {
        self.kept.lock().unpoisoned().watched.remove(uri);
    }

    pub(super) fn is_watching(&self, uri: &str) -> bool {
        self.kept.lock().unpoisoned().watched.contains_key(uri)
    }

    /// Counts a stream of notifications and the resources that it watches among the subscriptions, until the permit is dropped.
    pub(super) fn watch_stream(&self, uris: &[String]) -> Result<OwnedSemaphorePermit, SubscribeError> {
        check_stream(uris)?;
        let count = u32::try_from(uris.len() + 1).map_err(|_| SubscribeError::TooMany)?;
        self.left.clone().try_acquire_many_owned(count).map_err(|_| SubscribeError::Full)
    }
}

/// Refuses a stream of notifications that watches more than a session may.
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
        assert!(first.save(&store).is_none(), "the client has not introduced itself");
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
    fn a_client_whose_introduction_is_huge_is_not_saved() {
        let session = session("one");
        let huge = json!({"capabilities": "x".repeat(MAX_INITIALIZE)}).as_object().cloned().unwrap();
        session.set_initialize(huge);
        assert!(session.save(&LocalSessions::default()).is_none());
    }
}
