//! The client side of jobs: starts a worker process for each job and exchanges its input and output.

use std::process::{ExitStatus, Stdio};
use std::sync::Arc;
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWriteExt as _};
use tokio::process::{Child, Command};

use super::{ProcessLimit, limit_from_stderr};
use crate::{SlotError, SlotKind, Slots, WorkerCommand};

/// Maximum size of a failed job's stderr.
const MAX_STDERR: usize = 4096;

/// Limits of one job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct JobLimits {
    /// Wall-clock time.
    pub time: Duration,
    /// Memory in addition to what the process itself needs.
    pub memory_bytes: u64,
    /// Maximum size of the output, in bytes.
    pub max_output: usize,
}

/// Runs jobs, each in its own caged process.
pub struct Jobs {
    command: WorkerCommand,
    slots: Arc<Slots>,
}

/// A job that produced no output.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum JobError {
    /// It took too long.
    #[error("it took longer than {} s", .0.as_secs())]
    Time(Duration),
    /// It needed too much memory.
    #[error("it needed more than {} MB of memory", .0 >> 20)]
    Memory(u64),
    /// Its input is nested too deeply.
    #[error("it is nested too deeply")]
    Nesting,
    /// Its output is too large.
    #[error("the output is larger than {0} bytes")]
    Output(usize),
    /// The process ended without output.
    #[error("the worker process died: {0}")]
    Died(String),
    /// There are too many processes.
    #[error(transparent)]
    Busy(#[from] SlotError),
    /// The process could not be started.
    #[error("cannot start a worker process: {0}")]
    Unavailable(String),
}

impl Jobs {
    /// Creates a job runner; starts no process yet. `command` must call [`job_main`](crate::job_main).
    pub fn new(command: WorkerCommand, slots: Arc<Slots>) -> Self {
        Self { command, slots }
    }

    /// Runs one job. Dropping the future kills its process.
    ///
    /// # Errors
    /// If the job produces no output, see [`JobError`].
    pub async fn run(&self, job: &str, input: &[u8], limits: &JobLimits) -> Result<Vec<u8>, JobError> {
        let _slot = self.slots.acquire(SlotKind::Document, limits.memory_bytes).await?;
        let mut child = self.start(job, limits).map_err(|error| JobError::Unavailable(error.to_string()))?;
        let result = tokio::time::timeout(limits.time, exchange(&mut child, input, limits)).await;
        result.unwrap_or(Err(JobError::Time(limits.time)))
    }

    fn start(&self, job: &str, limits: &JobLimits) -> std::io::Result<Child> {
        Command::new(&self.command.program)
            .args(&self.command.args)
            .arg(job)
            .arg(limits.memory_bytes.to_string())
            .arg(limits.time.as_secs().saturating_add(1).to_string())
            .env_clear()
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0)
            .kill_on_drop(true)
            .spawn()
    }
}

/// Sends the input and receives the output.
async fn exchange(child: &mut Child, input: &[u8], limits: &JobLimits) -> Result<Vec<u8>, JobError> {
    let (Some(mut stdin), Some(stdout), Some(stderr)) =
        (child.stdin.take(), child.stdout.take(), child.stderr.take())
    else {
        return Err(JobError::Unavailable("it has no standard streams".to_owned()));
    };
    let write = async move {
        // If the process ends before it has read everything, its exit status says why.
        let _ = stdin.write_all(input).await;
        Ok(())
    };
    let output = read(stdout, limits.max_output);
    let stderr = async { Ok(read(stderr, MAX_STDERR).await.unwrap_or_default()) };
    let ((), output, stderr) = tokio::try_join!(write, output, stderr)?;
    let status = child.wait().await.map_err(|error| JobError::Died(error.to_string()))?;
    if status.success() {
        Ok(output)
    } else {
        Err(exit_error(status, &String::from_utf8_lossy(&stderr), limits))
    }
}

/// Reads to the end, but fails if there are more than `max` bytes.
async fn read(from: impl AsyncRead + Unpin, max: usize) -> Result<Vec<u8>, JobError> {
    let mut bytes = Vec::new();
    let read = from.take(max as u64 + 1).read_to_end(&mut bytes).await;
    match read {
        Ok(_) if bytes.len() > max => Err(JobError::Output(max)),
        Ok(_) => Ok(bytes),
        Err(error) => Err(JobError::Died(error.to_string())),
    }
}

fn exit_error(status: ExitStatus, stderr: &str, limits: &JobLimits) -> JobError {
    match limit_from_stderr(stderr) {
        Some(ProcessLimit::Memory) => return JobError::Memory(limits.memory_bytes),
        Some(ProcessLimit::Stack) => return JobError::Nesting,
        None => {}
    }
    let lines: Vec<&str> = stderr.lines().map(str::trim).filter(|line| !line.is_empty()).take(2).collect();
    JobError::Died(if lines.is_empty() {
        status.to_string()
    } else {
        format!("{status}: {}", lines.join(" "))
    })
}
