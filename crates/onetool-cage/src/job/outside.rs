//! A job, seen from the process that wants it done.

use std::process::{ExitStatus, Stdio};
use std::sync::Arc;
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWriteExt as _};
use tokio::process::{Child, Command};

use super::{ProcessLimit, limit_in};
use crate::{SlotError, Slots, Work, WorkerCommand};

/// Longest text that a failing job can say.
const MAX_STDERR: usize = 4096;

/// What one job may use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct JobLimits {
    /// Wall-clock time.
    pub time: Duration,
    /// Memory beyond what the process itself needs.
    pub memory_bytes: u64,
    /// Bytes of the answer.
    pub max_output: usize,
}

/// Has jobs done, each in a caged process of its own.
pub struct Jobs {
    command: WorkerCommand,
    slots: Arc<Slots>,
}

/// A job that gave no answer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum JobError {
    /// It took too long.
    #[error("it took longer than {} s", .0.as_secs())]
    Time(Duration),
    /// It needed too much memory.
    #[error("it needed more than {} MB of memory", .0 >> 20)]
    Memory(u64),
    /// It nests too deeply.
    #[error("it is nested too deeply")]
    Nesting,
    /// Its answer is too large.
    #[error("the answer is larger than {0} bytes")]
    Output(usize),
    /// The process ended without an answer.
    #[error("the process that read it died: {0}")]
    Died(String),
    /// Too many processes exist already.
    #[error(transparent)]
    Busy(#[from] SlotError),
    /// No process could be started.
    #[error("cannot start a process to read it: {0}")]
    Unavailable(String),
}

impl Jobs {
    /// Creates it; starts nothing. `command` must end up in [`job_main`](crate::job_main).
    pub fn new(command: WorkerCommand, slots: Arc<Slots>) -> Self {
        Self { command, slots }
    }

    /// Does one job. Dropping the future ends its process.
    ///
    /// # Errors
    /// Every way in which a job can end without an answer, see [`JobError`].
    pub async fn run(&self, job: &str, input: &[u8], limits: &JobLimits) -> Result<Vec<u8>, JobError> {
        let _slot = self.slots.take(Work::Document, limits.memory_bytes).await?;
        let mut child = self.start(job, limits).map_err(|error| JobError::Unavailable(error.to_string()))?;
        let done = tokio::time::timeout(limits.time, exchange(&mut child, input, limits)).await;
        done.unwrap_or(Err(JobError::Time(limits.time)))
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

/// Hands the document over and takes the answer.
async fn exchange(child: &mut Child, input: &[u8], limits: &JobLimits) -> Result<Vec<u8>, JobError> {
    let (Some(mut stdin), Some(stdout), Some(stderr)) =
        (child.stdin.take(), child.stdout.take(), child.stderr.take())
    else {
        return Err(JobError::Unavailable("it has no standard streams".to_owned()));
    };
    let write = async move {
        // A process that ends before it has read everything says why elsewhere.
        let _ = stdin.write_all(input).await;
        Ok(())
    };
    let output = read(stdout, limits.max_output);
    let said = async { Ok(read(stderr, MAX_STDERR).await.unwrap_or_default()) };
    let ((), output, said) = tokio::try_join!(write, output, said)?;
    let status = child.wait().await.map_err(|error| JobError::Died(error.to_string()))?;
    if status.success() { Ok(output) } else { Err(died(status, &String::from_utf8_lossy(&said), limits)) }
}

/// Reads to the end, or until there is more than `max`.
async fn read(from: impl AsyncRead + Unpin, max: usize) -> Result<Vec<u8>, JobError> {
    let mut bytes = Vec::new();
    let read = from.take(max as u64 + 1).read_to_end(&mut bytes).await;
    match read {
        Ok(_) if bytes.len() > max => Err(JobError::Output(max)),
        Ok(_) => Ok(bytes),
        Err(error) => Err(JobError::Died(error.to_string())),
    }
}

fn died(status: ExitStatus, said: &str, limits: &JobLimits) -> JobError {
    match limit_in(said) {
        Some(ProcessLimit::Memory) => return JobError::Memory(limits.memory_bytes),
        Some(ProcessLimit::Stack) => return JobError::Nesting,
        None => {}
    }
    let said: Vec<&str> = said.lines().map(str::trim).filter(|line| !line.is_empty()).take(2).collect();
    JobError::Died(if said.is_empty() { status.to_string() } else { format!("{status}: {}", said.join(" ")) })
}
