//! What belongs to one session: its number, its log level and the resources it watches.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use onetool_core::LogLevel;
use onetool_core::sync::Unpoisoned as _;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};

use crate::catalog::SessionKey;

/// Resources that one session, or one stream of a stateless client, may watch.
const MAX_WATCHED: usize = 500;

/// Longest URI of a resource that is watched, in bytes.
const MAX_URI: usize = 2000;

/// How long a response waits for the news that should come before it.
const TELLING: Duration = Duration::from_secs(1);

/// A subscription that is not kept.
#[derive(Debug, thiserror::Error)]
pub(super) enum SubscribeError {
    #[error("the URI is longer than {MAX_URI} bytes")]
    LongUri,
    #[error("more than {MAX_WATCHED} resources; unsubscribe from some first")]
    TooMany,
    #[error("all sessions together have too many subscriptions; try again later")]
    Full,
}

/// The state of one session. Sessionless revisions get a fresh one with every request.
pub(super) struct Session {
    number: u64,
    log_level: Mutex<Option<LogLevel>>,
    watched: Mutex<HashMap<String, OwnedSemaphorePermit>>,
    /// Subscriptions that all sessions together may still have.
    left: Arc<Semaphore>,
    /// How often the client was told that its list of tools changed; nothing while nobody tells it.
    told: watch::Sender<Option<u64>>,
}

impl Session {
    pub(super) fn new(number: u64, left: Arc<Semaphore>) -> Self {
        let (log_level, watched) = (Mutex::default(), Mutex::default());
        Self { number, log_level, watched, left, told: watch::Sender::new(None) }
    }

    /// Notes that changes are told from now on.
    pub(super) fn begin_telling(&self) {
        self.told.send_replace(Some(0));
    }

    /// Notes that the client was told of a changed list of tools.
    pub(super) fn note_told(&self) {
        self.told.send_modify(|told| *told = told.map(|times| times + 1));
    }

    /// Returns how often the client was told of a changed list of tools; nothing if nobody tells it.
    pub(super) fn told(&self) -> Option<u64> {
        *self.told.borrow()
    }

    /// Waits until the client was told once more than `before`, but not long: it may not be listening.
    pub(super) async fn told_since(&self, before: u64) {
        let mut told = self.told.subscribe();
        let is_told = told.wait_for(|told| told.is_none_or(|times| times > before));
        drop(tokio::time::timeout(TELLING, is_told).await);
    }

    pub(super) fn number(&self) -> u64 {
        self.number
    }

    pub(super) fn key(&self) -> SessionKey {
        SessionKey::Session(self.number)
    }

    pub(super) fn log_level(&self) -> Option<LogLevel> {
        *self.log_level.lock().unpoisoned()
    }

    pub(super) fn set_log_level(&self, level: LogLevel) {
        *self.log_level.lock().unpoisoned() = Some(level);
    }

    pub(super) fn watch(&self, uri: String) -> Result<(), SubscribeError> {
        let mut watched = self.watched.lock().unpoisoned();
        if watched.contains_key(&uri) {
            return Ok(());
        }
        check_watched(watched.len() + 1, [uri.as_str()])?;
        let permit = self.left.clone().try_acquire_owned().map_err(|_| SubscribeError::Full)?;
        watched.insert(uri, permit);
        Ok(())
    }

    pub(super) fn unwatch(&self, uri: &str) {
        self.watched.lock().unpoisoned().remove(uri);
    }

    pub(super) fn is_watching(&self, uri: &str) -> bool {
        self.watched.lock().unpoisoned().contains_key(uri)
    }

    /// Counts a stream of news and the resources that it watches among the subscriptions, until the permit is dropped.
    pub(super) fn watch_stream(&self, uris: &[String]) -> Result<OwnedSemaphorePermit, SubscribeError> {
        check_stream(uris)?;
        let count = u32::try_from(uris.len() + 1).map_err(|_| SubscribeError::TooMany)?;
        self.left.clone().try_acquire_many_owned(count).map_err(|_| SubscribeError::Full)
    }
}

/// Refuses a stream of news that watches more than a session may.
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
