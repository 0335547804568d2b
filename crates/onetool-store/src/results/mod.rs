//! Outputs that are too large to send: stored for a while, and read in parts.

mod answer;
mod body;
mod error;
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
use onetool_core::clock::Clock;
use onetool_core::current::Current;
use onetool_core::state::{Reply, StoreError};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;
use tokio::sync::Semaphore;

use crate::store::{KeptResult, KeptText, ResultPart, Store};

pub use crate::store::{ResultHandle, ResultInfo};
pub use answer::StoredResult;
pub use body::ResultBody;
pub use error::QueryError;
pub use path::PathError;
pub use query::{ResultPage, ResultQuery};

use body::Prepared;
pub use body::cut;
use lines::{has_long, lines};
use stop::Stop;

/// How long a result is still reported as expired, rather than not found.
const TOMBSTONE: Duration = Duration::from_hours(7 * 24);
/// Maximum number of concurrent searches, and of concurrent reads of pages.
const MAX_SEARCHES: usize = 4;
const MAX_PAGES: usize = 8;
/// Maximum number of results that are parsed concurrently.
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
#[derive(Clone)]
pub struct ResultStore(Arc<Shared>);

struct Shared {
    store: Arc<dyn Store>,
    clock: Clock,
    options: Current<OutputOptions>,
    /// Limit how many queries have a whole result in memory; those that only page do not wait for those that search.
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

impl ResultStore {
    /// Keeps results in `store`.
    pub fn new(store: Arc<dyn Store>, clock: Clock, options: OutputOptions) -> Self {
        Self(Arc::new(Shared {
            store,
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
        self.0.options.set(options);
    }

    /// Returns the options.
    pub fn options(&self) -> Arc<OutputOptions> {
        self.0.options.get()
    }

    /// Stores a result for `owner`. JSON is stored in lines, also where it comes as one line of text.
    ///
    /// # Errors
    /// If it is larger than the store, or the store fails.
    pub async fn put(&self, owner: &Caller, body: ResultBody) -> Result<StoredResult, StoreError> {
        let (Shared { store, clock, .. }, options) = (&*self.0, self.0.options.get());
        let prepared = blocking(move || Prepared::new(body)).await.ok_or(StoreError::Stopped)?;
        let (handle, now) = (ResultHandle::random(), clock.now());
        let size_bytes = prepared.text.len() as u64;
        let stored = StoredResult::new(handle.clone(), &prepared, options.preview_lines, size_bytes);
        let info = ResultInfo {
            handle,
            is_json: prepared.is_json,
            created_at: now,
            expires_at: now.after(*options.result_ttl),
            total_lines: prepared.total_lines,
            size_bytes,
        };
        let result = KeptResult { info, text: KeptText::Whole(prepared.text) };
        store.add_result(owner, result, options.max_store).await?;
        // In the background: the response does not wait for it.
        drop(self.start_clean_up());
        Ok(stored)
    }

    /// Reads some lines of a result of `owner`.
    ///
    /// # Errors
    /// If the query is invalid, or the result is expired or not found. Another caller's result is not found either.
    pub async fn query(&self, owner: &Caller, query: ResultQuery) -> Result<ResultPage, QueryError> {
        query.check()?;
        let is_search = query.search.is_some() || query.path.is_some();
        let seats = if is_search { &self.0.searches } else { &self.0.pages };
        // Nobody closes them.
        let seat = seats.clone().acquire_owned().await.ok();
        let result = self.readable(owner, &query.handle).await?;
        if result.text == KeptText::InParts && !is_search {
            return self.page_of_parts(owner, &result.info, &query).await;
        }
        let (text, is_json) = self.text(owner, result).await?;
        let handle = query.handle.clone();
        let (stop, _guard) = Stop::new(SEARCH_LIMIT);
        #[cfg(test)]
        let probe = self.0.probe.clone();
        let page = blocking(move || {
            #[cfg(test)]
            probe.begun.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
            // Even if nobody waits for it anymore: what counts is what is in memory.
            let _seat = seat;
            let page = query.page(&text, is_json, &stop);
            #[cfg(test)]
            if matches!(page, Err(QueryError::Canceled)) {
                probe.given_up.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
            }
            page
        });
        let page = page.await;
        page.unwrap_or(Err(QueryError::Store { handle, source: StoreError::Stopped }))
    }

    /// Returns a whole result of `owner` as data; text is a string.
    ///
    /// # Errors
    /// If the result is expired, not found or another caller's, or takes too much memory as data.
    pub async fn load(&self, owner: &Caller, handle: &ResultHandle) -> Result<Value, QueryError> {
        // Nobody closes them.
        let seat = self.0.loads.clone().acquire_owned().await.ok();
        let result = self.readable(owner, handle).await?;
        let (text, is_json) = self.text(owner, result).await?;
        if !is_json {
            return Ok(Value::String(text));
        }
        let parsed = {
            let handle = handle.clone();
            // The seat is held until the data is returned.
            blocking(move || (query::parse(&handle, &text), seat)).await
        };
        let stopped = || QueryError::Store { handle: handle.clone(), source: StoreError::Stopped };
        let (data, _seat) = parsed.ok_or_else(stopped)?;
        data
    }

    /// Returns the results of `owner` that can be read, newest first.
    ///
    /// # Errors
    /// If the store fails.
    pub async fn list(&self, owner: &Caller) -> Result<Vec<ResultInfo>, StoreError> {
        self.0.store.results(owner, self.0.clock.now()).await
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

    /// Deletes the text of expired results. For a week they are reported as expired, then as not found.
    ///
    /// # Errors
    /// If the store fails.
    pub async fn clean_up(&self) -> Result<(), StoreError> {
        self.start_clean_up().await
    }

    fn start_clean_up(&self) -> Reply<()> {
        let now = self.0.clock.now();
        self.0.store.expire_results(now, now.before(TOMBSTONE))
    }

    /// Returns a result that can be read.
    async fn readable(&self, owner: &Caller, handle: &ResultHandle) -> Result<KeptResult, QueryError> {
        let result = self.0.store.result(owner, handle).await;
        let result = result.map_err(|source| QueryError::Store { handle: handle.clone(), source })?;
        let result = result.ok_or_else(|| QueryError::NotFound { handle: handle.clone() })?;
        if result.text == KeptText::Deleted || self.0.clock.now() >= result.info.expires_at {
            return Err(QueryError::Expired { handle: handle.clone() });
        }
        Ok(result)
    }

    /// Returns the whole text of a result, and whether it is JSON.
    async fn text(&self, owner: &Caller, result: KeptResult) -> Result<(String, bool), QueryError> {
        let KeptResult { info, text } = result;
        let text = match text {
            KeptText::Whole(text) => text,
            KeptText::InParts => {
                let parts = self.parts(owner, &info, 0..info.total_lines).await?;
                parts.into_iter().map(|part| part.text).collect()
            }
            KeptText::Deleted => return Err(QueryError::Expired { handle: info.handle }),
        };
        Ok((text, info.is_json))
    }

    /// Reads lines of a result in parts, and only the parts that contain them.
    async fn page_of_parts(
        &self,
        owner: &Caller,
        info: &ResultInfo,
        query: &ResultQuery,
    ) -> Result<ResultPage, QueryError> {
        let asked = query.lines_of(info.total_lines);
        let parts = self.parts(owner, info, asked.clone()).await?;
        let numbered = parts.iter().flat_map(|part| (part.first_line..).zip(lines(&part.text)));
        let chosen: Vec<&str> =
            numbered.filter(|(number, _)| asked.contains(number)).map(|(_, line)| line).collect();
        let has_long = parts.iter().any(|part| has_long(&part.text));
        Ok(query.page_with(chosen.iter().copied(), info.total_lines, info.total_lines, has_long))
    }

    async fn parts(
        &self,
        owner: &Caller,
        info: &ResultInfo,
        lines: Range<usize>,
    ) -> Result<Vec<ResultPart>, QueryError> {
        let parts = self.0.store.result_parts(owner, &info.handle, lines).await;
        parts.map_err(|source| QueryError::Store { handle: info.handle.clone(), source })
    }
}

/// Runs long work outside of the runtime's threads; `None` if the runtime is ending or the work panicked.
async fn blocking<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Option<T> {
    tokio::task::spawn_blocking(work).await.ok()
}
