//! Runs SQLite queries in separate processes, which are killed on timeout, at the memory limit, and when canceled.
//!
//! Some SQLite functions can take hours for one step and cannot be interrupted, and SQLite's memory limit applies to
//! the whole process. A separate process makes both limits reliable.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use onetool_cage::{Job, JobError, JobLimits, Jobs};
use onetool_core::ToolError;
use tokio::sync::Semaphore;

use super::sqlite::{self, Failure};
use super::{DbError, MAX_BYTES, Outcome, Query, Target};
use crate::blocking::{Stop, blocking};
use crate::own_files::{OwnFiles, ProtectedReason};
use crate::tool::tool_error;

const JOB_NAME: &str = "sqlite";

/// Queries a SQLite file in the worker process.
pub(crate) const JOB: (&str, Job) = (JOB_NAME, Job::Files { directories, run: run_job });

/// Maximum number of concurrent queries; more wait.
const MAX_CONCURRENT: usize = 4;
/// Memory limit of SQLite for one query, in a separate process.
const MAX_HEAP: u64 = 256 * 1024 * 1024;
/// The same for a process that also uses SQLite for other purposes, such as stored results.
const MAX_SHARED_HEAP: u64 = 768 * 1024 * 1024;
/// Memory limit for the rest of the process: the program itself, and rows that it encodes.
const OTHER_MEMORY: u64 = 256 * 1024 * 1024;
/// How long to wait for a process to stop its query after the time limit, before it is killed.
const GRACE: Duration = Duration::from_millis(500);

/// Errors of a query to a SQLite file.
#[derive(Debug, thiserror::Error)]
enum SqliteError {
    #[error(transparent)]
    Db(#[from] DbError),
    #[error("cannot open {path}: {reason}")]
    Open { path: String, reason: String },
    #[error("{path} is not a file")]
    NotAFile { path: String },
    #[error("{path} cannot be accessed")]
    Protected { path: String, source: ProtectedReason },
    #[error("{path} was replaced during the query; retry")]
    Replaced { path: String },
    #[error("statements that access other files, extensions or settings of SQLite are not allowed")]
    NotAllowed,
    #[error("a value is longer than 16 MiB; select a part of it, for example with substr")]
    TooLong,
    #[error("the query needs more than {} MiB of memory; query less", MAX_HEAP >> 20)]
    Memory,
    #[error("SQLite error: {0}")]
    Sql(String),
    #[error("the worker process for databases failed")]
    Worker(#[source] io::Error),
}

/// Runs queries to SQLite files. Cheap to clone.
#[derive(Clone)]
pub(super) struct Sqlite {
    jobs: Option<Arc<Jobs>>,
    own: OwnFiles,
    permits: Arc<Semaphore>,
}

impl Sqlite {
    /// Runs queries in worker processes, or in this process if there are no `jobs`.
    pub(super) fn new(jobs: Option<Arc<Jobs>>, own: OwnFiles) -> Self {
        Self { jobs, own, permits: Arc::new(Semaphore::new(MAX_CONCURRENT)) }
    }

    pub(super) async fn run(&self, path: &Path, target: &Target, query: Query) -> Result<Outcome, ToolError> {
        self.try_run(path, target, query).await.map_err(|error| tool_error(error.into()))
    }

    async fn try_run(&self, path: &Path, target: &Target, query: Query) -> Result<Outcome, SqliteError> {
        let permit = tokio::time::timeout_at(target.deadline.into(), self.permits.acquire());
        let Ok(_permit) = permit.await else { return Err(target.timeout().into()) };
        let before = self.check(path).await?;
        let Query { sql, params, limit } = query;
        let timeout = target.deadline.saturating_duration_since(std::time::Instant::now());
        let is_writable = target.config.is_writable;
        let max_heap = if self.jobs.is_some() { MAX_HEAP } else { MAX_SHARED_HEAP };
        let job =
            sqlite::Request { path: path.to_owned(), is_writable, sql, params, limit, timeout, max_heap };
        let outcome = match &self.jobs {
            Some(jobs) => run_in_worker(jobs, &job).await?,
            None => run_in_this_process(job).await,
        };
        // SQLite opens the file by its name, so the name must refer to the same file before and after.
        if self.check(path).await? != before {
            return Err(SqliteError::Replaced { path: path.display().to_string() });
        }
        outcome.map_err(|failure| explain(failure, path, target))
    }

    /// Refuses onetool's own files; returns the file that the path refers to.
    async fn check(&self, path: &Path) -> Result<impl PartialEq + use<>, SqliteError> {
        let (own, path) = (self.own.clone(), path.to_owned());
        let shown = path.display().to_string();
        let checked = tokio::task::spawn_blocking(move || own.resolve().check_path(&path)).await;
        let checked = checked.map_err(|error| SqliteError::Worker(io::Error::other(error)))?;
        checked.map_err(|source| SqliteError::Protected { path: shown, source })
    }
}

fn explain(failure: Failure, path: &Path, target: &Target) -> SqliteError {
    let path = path.display().to_string();
    match failure {
        Failure::Open(reason) => SqliteError::Open { path, reason },
        Failure::NotAFile => SqliteError::NotAFile { path },
        Failure::Stopped => target.timeout().into(),
        Failure::ReadOnly => target.read_only().into(),
        Failure::NotAllowed => SqliteError::NotAllowed,
        Failure::TooLarge => DbError::TooLarge.into(),
        Failure::TooLong => SqliteError::TooLong,
        Failure::Memory => SqliteError::Memory,
        Failure::Sql(message) => SqliteError::Sql(message),
    }
}

/// Runs a query in this process, on a thread that may block.
async fn run_in_this_process(job: sqlite::Request) -> Result<Outcome, Failure> {
    let outcome = blocking(move |stop| Ok::<_, std::convert::Infallible>(sqlite::run(&job, stop))).await;
    outcome.unwrap_or_else(|error| Err(Failure::Sql(error.to_string())))
}

/// Runs a query in a worker process, which is killed when this future is dropped.
async fn run_in_worker(jobs: &Jobs, job: &sqlite::Request) -> Result<Result<Outcome, Failure>, SqliteError> {
    let request = serde_json::to_vec(job).map_err(io::Error::from).map_err(SqliteError::Worker)?;
    let (time, memory_bytes) = (job.timeout + GRACE, MAX_HEAP + OTHER_MEMORY);
    let limits = JobLimits { time, memory_bytes, max_output: 2 * MAX_BYTES };
    match jobs.run(JOB_NAME, &request, &limits).await {
        Ok(output) => serde_json::from_slice(&output).map_err(|error| SqliteError::Worker(error.into())),
        Err(JobError::Time(_)) => Ok(Err(Failure::Stopped)),
        // Memory that is not SQLite's exceeded the limit of the process.
        Err(JobError::Memory(_)) => Ok(Err(Failure::Memory)),
        Err(JobError::Output(_)) => Ok(Err(Failure::TooLarge)),
        Err(error) => Err(SqliteError::Worker(io::Error::other(error))),
    }
}

/// Returns the directories that a query needs: SQLite writes its other files next to the database.
fn directories(request: &[u8]) -> Vec<PathBuf> {
    let Ok(job) = serde_json::from_slice::<sqlite::Request>(request) else { return Vec::new() };
    let real = job.path.canonicalize().ok();
    let files = [Some(job.path), real].into_iter().flatten();
    files.filter_map(|path| path.parent().map(Path::to_owned)).collect()
}

/// Runs a query, in the worker process.
fn run_job(request: Vec<u8>) -> Vec<u8> {
    let Ok(job) = serde_json::from_slice::<sqlite::Request>(&request) else { return Vec::new() };
    let outcome = sqlite::run(&job, &Stop::default());
    serde_json::to_vec(&outcome).unwrap_or_default()
}
