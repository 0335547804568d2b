//! SQLite in a process of its own, which is killed when its time is over, its memory runs out or nobody waits any more.
//!
//! Some functions of SQLite take hours for one step and cannot be interrupted, and what it takes from memory is counted
//! for a process as a whole; so the process is the limit.

use std::io::{self, Read as _, Write as _};
use std::path::Path;
use std::process::{ExitCode, Stdio};
use std::sync::Arc;
use std::time::Duration;

use onetool_core::ToolError;
use rustix::process::{Resource, Rlimit, Signal, set_parent_process_death_signal, setrlimit};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::process::Command;
use tokio::sync::Semaphore;

use super::sqlite::{self, Failure, Job};
use super::{DbError, MAX_BYTES, Outcome, Question, Target};
use crate::gateway::QueryWorker;
use crate::own_files::{OwnFiles, Refused};
use crate::packs::blocking::{Stop, blocking};
use crate::packs::make::told;

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
    Closed { path: String, source: Refused },
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
    worker: Option<QueryWorker>,
    own: OwnFiles,
    turns: Arc<Semaphore>,
}

impl Sqlite {
    /// Answers in processes that `worker` starts; without one, in this process.
    pub(super) fn new(worker: Option<QueryWorker>, own: OwnFiles) -> Self {
        Self { worker, own, turns: Arc::new(Semaphore::new(AT_ONCE)) }
    }

    pub(super) async fn ask(
        &self,
        path: &Path,
        target: &Target,
        question: Question,
    ) -> Result<Outcome, ToolError> {
        self.answer(path, target, question).await.map_err(|error| told(error.into()))
    }

    async fn answer(&self, path: &Path, target: &Target, question: Question) -> Result<Outcome, SqliteError> {
        let wait = tokio::time::timeout_at(target.deadline.into(), self.turns.acquire());
        let Ok(_turn) = wait.await else { return Err(target.timeout().into()) };
        let before = self.check(path).await?;
        let Question { sql, params, limit } = question;
        let timeout = target.deadline.saturating_duration_since(std::time::Instant::now());
        let is_writable = target.config.is_writable;
        let max_heap = if self.worker.is_some() { MAX_HEAP } else { MAX_SHARED_HEAP };
        let job = Job { path: path.to_owned(), is_writable, sql, params, limit, timeout, max_heap };
        let answer = match &self.worker {
            Some(worker) => match tokio::time::timeout(timeout + GRACE, in_process(worker, &job)).await {
                Ok(answer) => answer.map_err(SqliteError::Worker)?,
                Err(_) => Err(Failure::Stopped),
            },
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
async fn here(job: Job) -> Result<Outcome, Failure> {
    let answer = blocking(move |stop| Ok::<_, std::convert::Infallible>(sqlite::answer(&job, stop))).await;
    answer.unwrap_or_else(|error| Err(Failure::Sql(error.to_string())))
}

/// Answers in a process of its own, which ends with this future.
async fn in_process(worker: &QueryWorker, job: &Job) -> io::Result<Result<Outcome, Failure>> {
    let mut child = Command::new(&worker.program)
        .args(&worker.args)
        .env_clear()
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .kill_on_drop(true)
        .spawn()?;
    let request = serde_json::to_vec(job)?;
    let (input, output) = (child.stdin.take(), child.stdout.take());
    let send = async {
        if let Some(mut input) = input {
            // A process that has died does not read; how it ended says why.
            let _ = input.write_all(&request).await;
        }
    };
    let receive = async {
        let mut answer = Vec::new();
        if let Some(output) = output {
            output.take(2 * MAX_BYTES as u64).read_to_end(&mut answer).await?;
        }
        Ok::<_, io::Error>(answer)
    };
    let ((), answer) = tokio::join!(send, receive);
    let (answer, status) = (answer?, child.wait().await?);
    match serde_json::from_slice(&answer) {
        Ok(answer) => Ok(answer),
        // Whatever takes memory beside SQLite ends the process, as does its time.
        Err(_) if status.code().is_none() => Ok(Err(Failure::Memory)),
        Err(error) => Err(io::Error::other(format!("it ended with {status}: {error}"))),
    }
}

/// Answers the question on standard input; the whole of a process that [`QueryWorker`] starts.
pub fn query_worker_main() -> ExitCode {
    // What cannot be set is not there on this system; the limits of SQLite hold all the same.
    let _ = set_parent_process_death_signal(Some(Signal::KILL));
    let _ = std::fs::write("/proc/self/oom_score_adj", "1000");
    let set = |resource, value| setrlimit(resource, Rlimit { current: Some(value), maximum: Some(value) });
    let _ = set(Resource::Data, MAX_HEAP + REST);
    let _ = set(Resource::Core, 0);
    match answer_stdin() {
        Ok(()) => ExitCode::SUCCESS,
        Err(_) => ExitCode::FAILURE,
    }
}

fn answer_stdin() -> io::Result<()> {
    let mut request = Vec::new();
    io::stdin().lock().read_to_end(&mut request)?;
    let job: Job = serde_json::from_slice(&request)?;
    // A process that is stuck in one step does not hear that its time is over; the kernel ends it.
    let seconds = job.timeout.as_secs().saturating_add(2);
    let _ = setrlimit(Resource::Cpu, Rlimit { current: Some(seconds), maximum: Some(seconds) });
    let answer = sqlite::answer(&job, &Stop::default());
    let mut stdout = io::stdout().lock();
    serde_json::to_writer(&mut stdout, &answer)?;
    stdout.flush()
}
