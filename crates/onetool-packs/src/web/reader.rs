//! Pages are read in a caged process: they come from anywhere, and their parsers were not written for hostile input.

use std::sync::Arc;
use std::time::Duration;

use onetool_cage::{Job, JobError, JobLimits, Jobs};
use serde_json::Value;

use super::fetch::Fetched;
use super::page::{self, PageError, PageRequest};

/// The name of the job that reads pages.
const JOB_NAME: &str = "page";

/// Extracts the content of a page in the worker process.
pub(crate) const JOB: (&str, Job) = (JOB_NAME, Job::Pure(read_page));

/// The most memory that reading a page may take.
const MAX_MEMORY: u64 = 256 << 20;
/// The largest answer: a page as text, with room for the escapes of JSON.
const MAX_ANSWER: usize = 64 << 20;

/// A page that was fetched and gives nothing.
#[derive(Debug, thiserror::Error)]
pub(super) enum ReadError {
    #[error("cannot read {url}")]
    Unreadable { url: String, source: JobError },
    #[error("cannot read {url}: the process that read it sent nothing useful")]
    NoAnswer { url: String },
    #[error("cannot read {url}: this program names no worker process for it (GatewayOptions::worker)")]
    NoWorker { url: String },
    #[error(transparent)]
    Page(#[from] PageError),
}

/// Reads pages.
pub(super) struct PageReader {
    jobs: Option<Arc<Jobs>>,
    limits: JobLimits,
}

impl PageReader {
    /// Creates a reader that takes at most `time` for a page.
    pub(super) fn new(jobs: Option<Arc<Jobs>>, time: Duration) -> Self {
        Self { jobs, limits: JobLimits { time, memory_bytes: MAX_MEMORY, max_output: MAX_ANSWER } }
    }

    pub(super) async fn read(&self, request: PageRequest, fetched: &Fetched) -> Result<Value, ReadError> {
        let url = || request.url.clone();
        let jobs = self.jobs.as_ref().ok_or_else(|| ReadError::NoWorker { url: url() })?;
        let answer = jobs.run(JOB_NAME, &encode(&request, &fetched.body), &self.limits).await;
        let answer = answer.map_err(|source| ReadError::Unreadable { url: url(), source })?;
        let page: Result<Value, PageError> =
            serde_json::from_slice(&answer).map_err(|_| ReadError::NoAnswer { url: url() })?;
        Ok(page?)
    }
}

/// Writes the request as one line of JSON, then the body.
fn encode(request: &PageRequest, body: &[u8]) -> Vec<u8> {
    let mut message = serde_json::to_vec(request).unwrap_or_default();
    message.push(b'\n');
    message.extend_from_slice(body);
    message
}

/// Reads a page in the process that is there for it.
fn read_page(message: Vec<u8>) -> Vec<u8> {
    let end = message.iter().position(|byte| *byte == b'\n').unwrap_or(message.len());
    let (request, body) = message.split_at(end);
    let Ok(request) = serde_json::from_slice::<PageRequest>(request) else { return Vec::new() };
    let page = page::read(&request, body.get(1..).unwrap_or_default());
    serde_json::to_vec(&page).unwrap_or_default()
}
