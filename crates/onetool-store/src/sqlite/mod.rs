//! A store in a SQLite file, or in memory if there is no file or it cannot be used.

mod database;
mod events;
mod legacy_servers;
mod queries;
mod results;
mod schema;
mod worker;

#[cfg(test)]
mod tests;

use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{self, Sender};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use onetool_core::clock::Timestamp;
use onetool_core::state::{
    ActiveSet, Reply, SealingKeys, SessionKey, SessionState, SessionWatch, StoreError, ready,
};
use onetool_core::{Caller, SessionId, ToolName};
use tokio::sync::{oneshot, watch};

use crate::events::Batch;
use crate::local::{LocalState, local_methods, local_sessions};
use crate::store::{
    CallFilter, CallRecord, CallWatch, EventSums, KeptResult, NewCall, PastCall, RememberedQuery,
    ResultHandle, ResultInfo, ResultPart, SourceSwitches, Store, StoreHealth,
};
use database::Database;
use worker::{Problem, Worker};

/// Keeps results, statistics, queries and servers in a SQLite file; sessions, switches and history last as long as the
/// process.
///
/// The first use opens the database on its own thread, so neither the start nor the runtime waits for it. If the file
/// cannot be used (full disk, read-only directory, locked, another program's), memory replaces it until it works again.
/// A corrupt file is renamed, and a new one takes its place. [`Store::health`] reports both.
pub struct SqliteStore {
    local: Arc<LocalState>,
    place: Place,
    limits: Limits,
    problem: Arc<Problem>,
    jobs: OnceLock<Sender<worker::Job>>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Place {
    File(PathBuf),
    Memory,
}

#[derive(Debug, Clone, Copy)]
struct Limits {
    /// How long to wait while another program holds a lock.
    busy: Duration,
    /// How long memory replaces the file before the next attempt to use it.
    retry: Duration,
    /// Maximum size in bytes of all results together in the file.
    in_file: u64,
    /// The same in memory.
    in_memory: u64,
}

impl Default for Limits {
    fn default() -> Self {
        let (busy, retry) = (Duration::from_secs(2), Duration::from_secs(30));
        Self { busy, retry, in_file: 1 << 30, in_memory: 256 << 20 }
    }
}

impl SqliteStore {
    /// Uses the file `path`, which is created when it is first needed.
    pub fn at(path: impl Into<PathBuf>) -> Self {
        Self::new(Place::File(path.into()), Limits::default())
    }

    /// Uses a database in memory, which lasts as long as the store.
    pub fn in_memory() -> Self {
        Self::new(Place::Memory, Limits::default())
    }

    /// Uses sessions, switches and history that outlive the store.
    #[must_use]
    pub fn with_local(self, local: Arc<LocalState>) -> Self {
        Self { local, ..self }
    }

    fn new(place: Place, limits: Limits) -> Self {
        let (local, problem, jobs) = (Arc::default(), Arc::default(), OnceLock::new());
        Self { local, place, limits, problem, jobs }
    }

    /// Submits a job without waiting for it. It may run twice: again if the file failed the first time.
    fn submit<T: Send + 'static>(
        &self,
        job: impl Fn(&Database) -> rusqlite::Result<T> + Send + 'static,
    ) -> Reply<T> {
        let (reply, outcome) = oneshot::channel();
        let job: worker::Job = Box::new(move |worker| {
            let outcome = worker.run(&job);
            drop(job);
            let _ = reply.send(outcome);
        });
        // If the thread is gone, the reply is dropped with the job, and that is the outcome.
        let _ = self.jobs.get_or_init(|| self.start()).send(job);
        Box::pin(async { outcome.await.unwrap_or(Err(StoreError::Stopped)) })
    }

    fn start(&self) -> Sender<worker::Job> {
        let (sender, receiver) = mpsc::channel();
        let worker = Worker::new(self.place.clone(), self.limits, self.problem.clone());
        let thread = std::thread::Builder::new().name("onetool-store".into());
        if let Err(error) = thread.spawn(move || worker.serve(receiver)) {
            tracing::error!("cannot start the thread of the store: {error}");
        }
        sender
    }
}

#[cfg(test)]
impl SqliteStore {
    /// Returns how many parts of results there are, of completed ones and of others.
    pub(crate) async fn part_count(&self) -> usize {
        let count = self.submit(|database| {
            database
                .connection()
                .query_row("SELECT COUNT(*) FROM result_parts", [], |row| row.get::<_, i64>(0))
        });
        usize::try_from(count.await.unwrap()).unwrap()
    }
}

local_sessions!(SqliteStore);

impl Store for SqliteStore {
    fn max_result(&self) -> u64 {
        // Memory must be able to replace the file.
        self.limits.in_memory
    }

    fn add_result(&self, owner: &Caller, result: KeptResult, max_total: u64) -> Reply<()> {
        let (size, max) = (result.info.size_bytes, max_total.min(self.limits.in_memory));
        if size > max {
            return ready(Err(StoreError::TooLarge { size, max }));
        }
        let (limits, owner) = (self.limits, owner.clone());
        self.submit(move |database| {
            let max = if database.is_file() { limits.in_file } else { limits.in_memory };
            results::add(database, &owner, &result, max.min(max_total))
        })
    }

    fn add_result_part(&self, handle: &ResultHandle, part: ResultPart, at: Timestamp) -> Reply<()> {
        let handle = handle.clone();
        self.submit(move |database| results::add_part(database, &handle, &part, at))
    }

    fn drop_result_parts(&self, handle: &ResultHandle) -> Reply<()> {
        let handle = handle.clone();
        self.submit(move |database| results::drop_parts(database, &handle))
    }

    fn result(&self, owner: &Caller, handle: &ResultHandle) -> Reply<Option<KeptResult>> {
        let (owner, handle) = (owner.clone(), handle.clone());
        self.submit(move |database| results::get(database, &owner, &handle))
    }

    fn result_parts(
        &self,
        owner: &Caller,
        handle: &ResultHandle,
        lines: Range<usize>,
    ) -> Reply<Vec<ResultPart>> {
        let (owner, handle) = (owner.clone(), handle.clone());
        self.submit(move |database| results::parts(database, &owner, &handle, &lines))
    }

    fn results(&self, owner: &Caller, now: Timestamp) -> Reply<Vec<ResultInfo>> {
        let owner = owner.clone();
        self.submit(move |database| results::list(database, &owner, now))
    }

    fn expire_results(&self, now: Timestamp, forget: Timestamp) -> Reply<()> {
        self.submit(move |database| results::expire(database, now, forget))
    }

    fn add_events(&self, batch: Batch) -> Reply<()> {
        self.submit(move |database| events::add(database, &batch))
    }

    fn event_sums(&self, since: Option<Timestamp>, tool: Option<&str>) -> Reply<EventSums> {
        let tool = tool.map(str::to_owned);
        self.submit(move |database| events::sums(database, since, tool.as_deref()))
    }

    fn remember_query(&self, tool: &str, query: &str, at: Timestamp, max_per_tool: usize) -> Reply<()> {
        let (tool, query) = (tool.to_owned(), query.to_owned());
        self.submit(move |database| queries::remember(database, &tool, &query, at, max_per_tool))
    }

    fn remembered_queries(&self) -> Reply<Vec<RememberedQuery>> {
        self.submit(queries::all)
    }

    fn legacy_server(&self, command: &str) -> Reply<Option<String>> {
        let command = command.to_owned();
        self.submit(move |database| legacy_servers::get(database, &command))
    }

    fn set_legacy_server(&self, command: &str, version: Option<&str>, at: Timestamp) -> Reply<()> {
        let (command, version) = (command.to_owned(), version.map(str::to_owned));
        self.submit(move |database| legacy_servers::set(database, &command, version.as_deref(), at))
    }

    local_methods!();

    fn health(&self) -> StoreHealth {
        let size_bytes = match &self.place {
            Place::File(path) => file_size(path),
            Place::Memory => None,
        };
        StoreHealth { problem: self.problem.text(), size_bytes }
    }

    fn files(&self) -> Vec<PathBuf> {
        match &self.place {
            Place::File(path) => vec![path.clone()],
            Place::Memory => Vec::new(),
        }
    }

    fn close(&self) -> Reply<()> {
        let Some(jobs) = self.jobs.get() else { return ready(Ok(())) };
        let (reply, closed) = oneshot::channel();
        let job: worker::Job = Box::new(move |worker| {
            worker.close();
            let _ = reply.send(());
        });
        // If the thread is gone, everything is closed.
        let _ = jobs.send(job);
        Box::pin(async {
            let _ = closed.await;
            Ok(())
        })
    }
}

/// Returns the size of a database including its log, if the file exists.
fn file_size(path: &Path) -> Option<u64> {
    let log = database::with_suffix(path, "-wal");
    let size = |path: &Path| std::fs::metadata(path).map(|it| it.len()).ok();
    Some(size(path)? + size(&log).unwrap_or_default())
}
