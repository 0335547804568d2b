//! Reads pages in a caged process, because they may be hostile and the parsers were not written for hostile input.

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

/// Memory limit for reading a page.
const MAX_MEMORY: u64 = 256 << 20;
/// Maximum size of the output: the text of a page, including JSON escapes.
const MAX_OUTPUT: usize = 64 << 20;

/// A fetched page that cannot be read.
#[derive(Debug, thiserror::Error)]
pub(super) enum ReadError {
    #[error("cannot read {url}")]
    Unreadable { url: String, source: JobError },
    #[error("cannot read {url}: the worker process sent an invalid result")]
    InvalidResult { url: String },
    #[error("cannot read {url}: this program does not set a worker process (GatewayOptions::worker)")]
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
    /// Creates a reader with a time limit per page.
    pub(super) fn new(jobs: Option<Arc<Jobs>>, time: Duration) -> Self {
        Self { jobs, limits: JobLimits { time, memory_bytes: MAX_MEMORY, max_output: MAX_OUTPUT } }
    }

    pub(super) async fn read(&self, request: PageRequest, fetched: &Fetched) -> Result<Value, ReadError> {
        let url = || request.url.clone();
        let jobs = self.jobs.as_ref().ok_or_else(|| ReadError::NoWorker { url: url() })?;
        let output = jobs.run(JOB_NAME, &encode(&request, &fetched.body), &self.limits).await;
        let output = output.map_err(|source| ReadError::Unreadable { url: url(), source })?;
        let page: Result<Value, PageError> =
            serde_json::from_slice(&output).map_err(|_| ReadError::InvalidResult { url: url() })?;
        Ok(page?)
    }
}

/// Encodes the request as one line of JSON, followed by the body.
fn encode(request: &PageRequest, body: &[u8]) -> Vec<u8> {
    let mut message = serde_json::to_vec(request).unwrap_or_default();
    message.push(b'\n');
    message.extend_from_slice(body);
    message
}

/// Reads a page, in the worker process.
fn read_page(message: Vec<u8>) -> Vec<u8> {
    let end = message.iter().position(|byte| *byte == b'\n').unwrap_or(message.len());
    let (request, body) = message.split_at(end);
    let Ok(request) = serde_json::from_slice::<PageRequest>(request) else { return Vec::new() };
    let page = page::read(&request, body.get(1..).unwrap_or_default());
    serde_json::to_vec(&page).unwrap_or_default()
}
