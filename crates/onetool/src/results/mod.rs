//! Outputs that are too large to send: stored for a while, and read in parts.

mod answer;
mod body;
mod handle;
mod path;
mod query;
mod search;

#[cfg(test)]
mod tests;

use std::sync::Arc;
use std::time::Duration;

use onetool_core::Caller;
use serde::Serialize;
use serde_json::Value;

use crate::clock::{Clock, Timestamp};
use crate::storage::{Pending, ResultRow, ResultRowInfo, Storage, StorageError};

pub use answer::StoredResult;
pub use body::ResultBody;
pub use handle::ResultHandle;
pub use path::PathError;
pub use query::{QueryError, ResultPage, ResultQuery};

use body::Prepared;
#[cfg(feature = "python")]
pub(crate) use body::cut;

/// How long an expired result is still known to have been there.
const TOMBSTONE: Duration = Duration::from_hours(7 * 24);
const CLEAN_UP_INTERVAL: Duration = Duration::from_mins(1);

/// How results are stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ResultOptions {
    /// How long a result can be read.
    pub ttl: Duration,
    /// How many lines the answer shows.
    pub preview_lines: usize,
}

impl Default for ResultOptions {
    fn default() -> Self {
        Self { ttl: Duration::from_hours(1), preview_lines: 10 }
    }
}

/// Stores large results for the callers that caused them; clones share it.
#[derive(Debug, Clone)]
pub struct ResultStore(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    storage: Storage,
    clock: Clock,
    options: ResultOptions,
}

/// What a list tells about a stored result; nothing of its content.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ResultInfo {
    /// The handle.
    pub handle: ResultHandle,
    /// Whether it is data rather than text.
    pub is_json: bool,
    /// When it was stored.
    pub created_at: Timestamp,
    /// When it can no longer be read.
    pub expires_at: Timestamp,
    /// How many lines it has.
    pub total_lines: usize,
    /// The size of the stored text.
    pub size_bytes: u64,
}

impl ResultStore {
    /// Stores results in `storage`.
    pub fn new(storage: Storage, clock: Clock, options: ResultOptions) -> Self {
        Self(Arc::new(Shared { storage, clock, options }))
    }

    /// Stores a result for `owner`. JSON is stored in lines, also where it comes as one line of text.
    ///
    /// # Errors
    /// When it is larger than the storage, or nothing can be kept at all.
    pub async fn put(&self, owner: &Caller, body: ResultBody) -> Result<StoredResult, StorageError> {
        let Shared { storage, clock, options } = &*self.0;
        let prepared = blocking(move || Prepared::new(body)).await.ok_or(StorageError::Stopped)?;
        let (handle, now) = (ResultHandle::random(), clock.now());
        let size_bytes = prepared.text.len() as u64;
        let stored = StoredResult::new(handle.clone(), &prepared, options.preview_lines, size_bytes);
        let info = ResultRowInfo {
            handle: handle.as_str().to_owned(),
            is_json: prepared.is_json,
            created_at: now,
            expires_at: now.after(options.ttl),
            total_lines: prepared.total_lines,
            size_bytes,
        };
        storage.add_result(owner, ResultRow { info, body: Some(prepared.text) }).await?;
        // In the background: the answer does not wait for it.
        drop(self.start_clean_up());
        Ok(stored)
    }

    /// Reads some lines of a result of `owner`.
    ///
    /// # Errors
    /// When the query is wrong, or the result is not there, is somebody else's (which looks the same) or has expired.
    pub async fn query(&self, owner: &Caller, query: ResultQuery) -> Result<ResultPage, QueryError> {
        query.check()?;
        let (text, is_json) = self.read(owner, &query.handle).await?;
        let handle = query.handle.clone();
        let page = blocking(move || query.page(&text, is_json)).await;
        page.unwrap_or(Err(QueryError::Storage { handle, source: StorageError::Stopped }))
    }

    /// Returns a whole result of `owner` as data; text is a string.
    ///
    /// # Errors
    /// When the result is not there, is somebody else's or has expired.
    pub async fn load(&self, owner: &Caller, handle: &ResultHandle) -> Result<Value, QueryError> {
        let (text, is_json) = self.read(owner, handle).await?;
        if !is_json {
            return Ok(Value::String(text));
        }
        let parsed = {
            let handle = handle.clone();
            blocking(move || query::parse(&handle, &text)).await
        };
        let stopped = || QueryError::Storage { handle: handle.clone(), source: StorageError::Stopped };
        parsed.ok_or_else(stopped)?
    }

    /// Returns the results of `owner` that can be read, newest first.
    ///
    /// # Errors
    /// When the storage fails.
    pub async fn list(&self, owner: &Caller) -> Result<Vec<ResultInfo>, StorageError> {
        let rows = self.0.storage.results(owner, self.0.clock.now()).await?;
        Ok(rows.into_iter().map(ResultInfo::from).collect())
    }

    /// Deletes what has expired, now and every minute; runs until it is dropped.
    pub async fn keep_clean(&self) {
        loop {
            if let Err(error) = self.clean_up().await {
                tracing::debug!("cannot delete expired results: {error}");
            }
            tokio::time::sleep(CLEAN_UP_INTERVAL).await;
        }
    }

    /// Deletes the texts of expired results. For a week they still answer as expired, then as not found.
    ///
    /// # Errors
    /// When the storage fails.
    pub async fn clean_up(&self) -> Result<(), StorageError> {
        self.start_clean_up().done().await
    }

    fn start_clean_up(&self) -> Pending<()> {
        let now = self.0.clock.now();
        self.0.storage.clean_results(now, now.before(TOMBSTONE))
    }

    async fn read(&self, owner: &Caller, handle: &ResultHandle) -> Result<(String, bool), QueryError> {
        let row = self.0.storage.result(owner, handle.as_str()).await;
        let row = row.map_err(|source| QueryError::Storage { handle: handle.clone(), source })?;
        let Some(ResultRow { info, body }) = row else {
            return Err(QueryError::NotFound { handle: handle.clone() });
        };
        let body = body.filter(|_| self.0.clock.now() < info.expires_at);
        body.map(|body| (body, info.is_json)).ok_or_else(|| QueryError::Expired { handle: handle.clone() })
    }
}

impl From<ResultRowInfo> for ResultInfo {
    fn from(row: ResultRowInfo) -> Self {
        Self {
            handle: row.handle.into(),
            is_json: row.is_json,
            created_at: row.created_at,
            expires_at: row.expires_at,
            total_lines: row.total_lines,
            size_bytes: row.size_bytes,
        }
    }
}

/// Runs long work away from the runtime's threads; `None` where the runtime is ending or the work panicked.
async fn blocking<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Option<T> {
    tokio::task::spawn_blocking(work).await.ok()
}
