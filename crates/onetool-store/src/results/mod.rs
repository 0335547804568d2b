//! Outputs that are too large to send: stored for a while, and read in parts.

mod answer;
mod body;
mod handle;
mod indent;
mod lines;
mod path;
mod query;
mod search;
mod stop;
mod stream;

#[cfg(test)]
mod tests;

use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

use onetool_config::Seconds;
use onetool_core::Caller;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tokio::sync::Semaphore;

use crate::storage::{Pending, ResultPart, ResultRow, ResultRowInfo, Storage, StorageError};
use onetool_core::clock::{Clock, Timestamp};
use onetool_core::current::Current;

pub use answer::StoredResult;
pub use body::ResultBody;
pub use handle::ResultHandle;
pub use path::PathError;
pub use query::{QueryError, ResultPage, ResultQuery};

use body::Prepared;
pub use body::cut;
use lines::{has_long, lines};
use stop::Stop;

/// How long an expired result is still known to have been there.
const TOMBSTONE: Duration = Duration::from_hours(7 * 24);
/// How many searches, and how many reads of pages, are under way at the same time.
const MAX_SEARCHES: usize = 4;
const MAX_PAGES: usize = 8;
/// How many results become data at the same time.
const MAX_LOADS: usize = 2;
/// How long a search may take.
const SEARCH_LIMIT: Duration = Duration::from_secs(10);
const CLEAN_UP_INTERVAL: Duration = Duration::from_mins(1);

/// How large results are stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[non_exhaustive]
pub struct OutputOptions {
    /// Maximum size in bytes of a result that is returned directly. Larger ones are stored, and the response has a
    /// handle.
    pub max_inline_size: usize,
    /// Seconds that a stored result is kept.
    pub result_ttl: Seconds,
    /// Number of lines of a stored result that the response shows.
    pub preview_lines: usize,
    /// Maximum size in bytes of all stored results together; the oldest are deleted first.
    pub max_store: u64,
}

impl Default for OutputOptions {
    fn default() -> Self {
        Self {
            max_inline_size: 50_000,
            result_ttl: Seconds::new(3600),
            preview_lines: 10,
            max_store: 256 << 20,
        }
    }
}

/// Stores large results for the callers that caused them; clones share it.
#[derive(Debug, Clone)]
pub struct ResultStore(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    storage: Storage,
    clock: Clock,
    options: Current<OutputOptions>,
    /// How many queries may have a whole result in memory at the same time; those that only page do not wait for
    /// those that search.
    searches: Arc<Semaphore>,
    pages: Arc<Semaphore>,
    loads: Arc<Semaphore>,
    #[cfg(test)]
    probe: Arc<Probe>,
}

/// What a test can see of the threads that search.
#[cfg(test)]
#[derive(Debug, Default)]
struct Probe {
    begun: std::sync::atomic::AtomicUsize,
    given_up: std::sync::atomic::AtomicUsize,
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
    pub fn new(storage: Storage, clock: Clock, options: OutputOptions) -> Self {
        storage.set_max_results(options.max_store);
        Self(Arc::new(Shared {
            storage,
            clock,
            options: Current::new(options),
            searches: Arc::new(Semaphore::new(MAX_SEARCHES)),
            pages: Arc::new(Semaphore::new(MAX_PAGES)),
            loads: Arc::new(Semaphore::new(MAX_LOADS)),
            #[cfg(test)]
            probe: Arc::default(),
        }))
    }

    /// Replaces the options; results that are stored already keep theirs.
    pub fn set_options(&self, options: OutputOptions) {
        self.0.storage.set_max_results(options.max_store);
        self.0.options.set(options);
    }

    /// Returns the options.
    pub fn options(&self) -> Arc<OutputOptions> {
        self.0.options.get()
    }

    /// Stores a result for `owner`. JSON is stored in lines, also where it comes as one line of text.
    ///
    /// # Errors
    /// When it is larger than the storage, or nothing can be kept at all.
    pub async fn put(&self, owner: &Caller, body: ResultBody) -> Result<StoredResult, StorageError> {
        let (Shared { storage, clock, .. }, options) = (&*self.0, self.0.options.get());
        let prepared = blocking(move || Prepared::new(body)).await.ok_or(StorageError::Stopped)?;
        let (handle, now) = (ResultHandle::random(), clock.now());
        let size_bytes = prepared.text.len() as u64;
        let stored = StoredResult::new(handle.clone(), &prepared, options.preview_lines, size_bytes);
        let info = ResultRowInfo {
            handle: handle.as_str().to_owned(),
            is_json: prepared.is_json,
            created_at: now,
            expires_at: now.after(*options.result_ttl),
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
        let is_search = query.search.is_some() || query.path.is_some();
        let seats = if is_search { &self.0.searches } else { &self.0.pages };
        // Nobody closes them.
        let seat = seats.clone().acquire_owned().await.ok();
        let row = self.row(owner, &query.handle).await?;
        if row.is_in_parts() && !is_search {
            return self.page_of_parts(&row.info, &query).await;
        }
        let (text, is_json) = self.text(row).await?;
        let handle = query.handle.clone();
        let (stop, _guard) = Stop::new(SEARCH_LIMIT);
        #[cfg(test)]
        let probe = self.0.probe.clone();
        let page = blocking(move || {
            #[cfg(test)]
            probe.begun.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
            // Also while nobody waits for it any more: what counts is what is in memory.
            let _seat = seat;
            let page = query.page(&text, is_json, &stop);
            #[cfg(test)]
            if matches!(page, Err(QueryError::GivenUp)) {
                probe.given_up.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
            }
            page
        });
        let page = page.await;
        page.unwrap_or(Err(QueryError::Storage { handle, source: StorageError::Stopped }))
    }

    /// Returns a whole result of `owner` as data; text is a string.
    ///
    /// # Errors
    /// When the result is not there, is somebody else's or has expired, or takes too much memory as data.
    pub async fn load(&self, owner: &Caller, handle: &ResultHandle) -> Result<Value, QueryError> {
        // Nobody closes them.
        let seat = self.0.loads.clone().acquire_owned().await.ok();
        let (text, is_json) = self.text(self.row(owner, handle).await?).await?;
        if !is_json {
            return Ok(Value::String(text));
        }
        let parsed = {
            let handle = handle.clone();
            // The seat comes back with the data, so that no more is made before this is taken.
            blocking(move || (query::parse(&handle, &text), seat)).await
        };
        let stopped = || QueryError::Storage { handle: handle.clone(), source: StorageError::Stopped };
        let (data, _seat) = parsed.ok_or_else(stopped)?;
        data
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

    /// Returns the row of a result that can be read.
    async fn row(&self, owner: &Caller, handle: &ResultHandle) -> Result<ResultRow, QueryError> {
        let row = self.0.storage.result(owner, handle.as_str()).await;
        let row = row.map_err(|source| QueryError::Storage { handle: handle.clone(), source })?;
        let row = row.ok_or_else(|| QueryError::NotFound { handle: handle.clone() })?;
        if row.body.is_none() || self.0.clock.now() >= row.info.expires_at {
            return Err(QueryError::Expired { handle: handle.clone() });
        }
        Ok(row)
    }

    /// Returns the whole text of a result, and whether it is JSON.
    async fn text(&self, row: ResultRow) -> Result<(String, bool), QueryError> {
        let is_json = row.info.is_json;
        if !row.is_in_parts() {
            return Ok((row.body.unwrap_or_default(), is_json));
        }
        let parts = self.parts(&row.info, 0..row.info.total_lines).await?;
        Ok((parts.into_iter().map(|part| part.body).collect(), is_json))
    }

    /// Reads lines of a result in parts, and no more parts than they stand in.
    async fn page_of_parts(
        &self,
        info: &ResultRowInfo,
        query: &ResultQuery,
    ) -> Result<ResultPage, QueryError> {
        let asked = query.lines_of(info.total_lines);
        let parts = self.parts(info, asked.clone()).await?;
        let numbered = parts.iter().flat_map(|part| (part.first_line..).zip(lines(&part.body)));
        let chosen: Vec<&str> =
            numbered.filter(|(number, _)| asked.contains(number)).map(|(_, line)| line).collect();
        let has_long = parts.iter().any(|part| has_long(&part.body));
        Ok(query.page_with(chosen.iter().copied(), info.total_lines, info.total_lines, has_long))
    }

    async fn parts(&self, info: &ResultRowInfo, lines: Range<usize>) -> Result<Vec<ResultPart>, QueryError> {
        let parts = self.0.storage.result_parts(&info.handle, lines).await;
        parts.map_err(|source| QueryError::Storage { handle: info.handle.as_str().into(), source })
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
