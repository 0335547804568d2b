//! SQLite in a process of its own, which is killed when its time is over, its memory runs out or nobody waits any more.
//!
//! Some functions of SQLite take hours for one step and cannot be interrupted, and what it takes from memory is counted
//! for a process as a whole; so the process is the limit.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use onetool_cage::{Job, JobError, JobLimits, Jobs};
use onetool_core::ToolError;
use tokio::sync::Semaphore;

use super::sqlite::{self, Failure};
use super::{DbError, MAX_BYTES, Outcome, Question, Target};
use crate::blocking::{Stop, blocking};
use crate::own_files::{ClosedReason, OwnFiles};
use crate::tool::tool_error;

const JOB_NAME: &str = "sqlite";

/// Queries a SQLite file in the worker process.
pub(crate) const JOB: (&str, Job) = (JOB_NAME, Job::Files { directories, run: answer });

/// How many questions are answered at once; more wait their turn.
const AT_ONCE: usize = 4;
/// What SQLite may hold in memory for one question, in a process of its own.
const MAX_HEAP: u64 = 256 * 1024 * 1024;
/// The same for a process that has other uses for SQLite, such as stored results.
const MAX_SHARED_HEAP: u64 = 768 * 1024 * 1024;
/// What the process may take beside SQLite's own memory: rows on their way out, and the program itself.
const REST: u64 = 256 * 1024 * 1024;
/// How long a process may take to end by itself when its time is over.
const GRACE: Duration = Duration::from_millis(500);

/// What can go wrong with a SQLite file.
#[derive(Debug, thiserror::Error)]
enum SqliteError {
    #[error(transparent)]
    Db(#[from] DbError),
    #[error("cannot open {path}: {reason}")]
    Open { path: String, reason: String },
    #[error("{path} is not a file")]
    NoFile { path: String },
    #[error("{path} is out of reach")]
    Closed { path: String, source: ClosedReason },
    #[error("{path} was replaced while it was read; try again")]
    Moved { path: String },
    #[error(
        "the statement is not allowed here: other files, extensions and settings of SQLite are out of reach"
    )]
    NotAllowed,
    #[error("a value is longer than 16 MiB; ask for a part of it, for example with substr")]
    TooLong,
    #[error("the query needs more than {} MiB of memory; ask for less", MAX_HEAP >> 20)]
    Memory,
    #[error("SQLite says: {0}")]
    Sql(String),
    #[error("the process that reads databases cannot be used")]
    Worker(#[source] io::Error),
}

/// Answers questions to SQLite files. Cheap to clone.
#[derive(Clone)]
pub(super) struct Sqlite {
    jobs: Option<Arc<Jobs>>,
    own: OwnFiles,
    turns: Arc<Semaphore>,
}

impl Sqlite {
    /// Answers in processes, where there are `jobs` for it; else in this process.
    pub(super) fn new(jobs: Option<Arc<Jobs>>, own: OwnFiles) -> Self {
        Self { jobs, own, turns: Arc::new(Semaphore::new(AT_ONCE)) }
    }

    pub(super) async fn ask(
        &self,
        path: &Path,
        target: &Target,
        question: Question,
    ) -> Result<Outcome, ToolError> {
        self.answer(path, target, question).await.map_err(|error| tool_error(error.into()))
    }

    async fn answer(&self, path: &Path, target: &Target, question: Question) -> Result<Outcome, SqliteError> {
        let wait = tokio::time::timeout_at(target.deadline.into(), self.turns.acquire());
        let Ok(_turn) = wait.await else { return Err(target.timeout().into()) };
        let before = self.check(path).await?;
        let Question { sql, params, limit } = question;
        let timeout = target.deadline.saturating_duration_since(std::time::Instant::now());
        let is_writable = target.config.is_writable;
        let max_heap = if self.jobs.is_some() { MAX_HEAP } else { MAX_SHARED_HEAP };
        let job =
            sqlite::Request { path: path.to_owned(), is_writable, sql, params, limit, timeout, max_heap };
        let answer = match &self.jobs {
            Some(jobs) => in_process(jobs, &job).await?,
            None => here(job).await,
        };
        // SQLite opens by name, so the name has to lead to the same file before and after.
        if self.check(path).await? != before {
            return Err(SqliteError::Moved { path: path.display().to_string() });
        }
        answer.map_err(|failure| explain(failure, path, target))
    }

    /// Refuses one of our own files; returns which file the path leads to.
    async fn check(&self, path: &Path) -> Result<impl PartialEq + use<>, SqliteError> {
        let (own, path) = (self.own.clone(), path.to_owned());
        let shown = path.display().to_string();
        let checked = tokio::task::spawn_blocking(move || own.look().check_path(&path)).await;
        let checked = checked.map_err(|error| SqliteError::Worker(io::Error::other(error)))?;
        checked.map_err(|source| SqliteError::Closed { path: shown, source })
    }
}

fn explain(failure: Failure, path: &Path, target: &Target) -> SqliteError {
    let path = path.display().to_string();
    match failure {
        Failure::Open(reason) => SqliteError::Open { path, reason },
        Failure::NoFile => SqliteError::NoFile { path },
        Failure::Stopped => target.timeout().into(),
        Failure::ReadOnly => target.read_only().into(),
        Failure::NotAllowed => SqliteError::NotAllowed,
        Failure::TooLarge => DbError::TooLarge.into(),
        Failure::TooLong => SqliteError::TooLong,
        Failure::Memory => SqliteError::Memory,
        Failure::Sql(message) => SqliteError::Sql(message),
    }
}

/// Answers in this process, on a thread where it may take its time.
async fn here(job: sqlite::Request) -> Result<Outcome, Failure> {
    let answer = blocking(move |stop| Ok::<_, std::convert::Infallible>(sqlite::answer(&job, stop))).await;
    answer.unwrap_or_else(|error| Err(Failure::Sql(error.to_string())))
}

/// Answers in a process of its own, which ends with this future.
async fn in_process(jobs: &Jobs, job: &sqlite::Request) -> Result<Result<Outcome, Failure>, SqliteError> {
    let request = serde_json::to_vec(job).map_err(io::Error::from).map_err(SqliteError::Worker)?;
    let limits =
        JobLimits { time: job.timeout + GRACE, memory_bytes: MAX_HEAP + REST, max_output: 2 * MAX_BYTES };
    match jobs.run(JOB_NAME, &request, &limits).await {
        Ok(answer) => serde_json::from_slice(&answer).map_err(|error| SqliteError::Worker(error.into())),
        Err(JobError::Time(_)) => Ok(Err(Failure::Stopped)),
        // What takes memory beside SQLite ends the process.
        Err(JobError::Memory(_)) => Ok(Err(Failure::Memory)),
        Err(JobError::Output(_)) => Ok(Err(Failure::TooLarge)),
        Err(error) => Err(SqliteError::Worker(io::Error::other(error))),
    }
}

/// Returns where the file of a question is; what SQLite keeps beside it is in the same directory.
fn directories(request: &[u8]) -> Vec<PathBuf> {
    let Ok(job) = serde_json::from_slice::<sqlite::Request>(request) else { return Vec::new() };
    let real = job.path.canonicalize().ok();
    let files = [Some(job.path), real].into_iter().flatten();
    files.filter_map(|path| path.parent().map(Path::to_owned)).collect()
}

/// Answers a question to a SQLite file, in the process that is there for it.
fn answer(request: Vec<u8>) -> Vec<u8> {
    let Ok(job) = serde_json::from_slice::<sqlite::Request>(&request) else { return Vec::new() };
    let answer = sqlite::answer(&job, &Stop::default());
    serde_json::to_vec(&answer).unwrap_or_default()
}
