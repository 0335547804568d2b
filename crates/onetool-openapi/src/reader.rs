//! Turns the bytes of documents into a plan, in a caged process if one is available.
//!
//! Descriptions come from outside, and their size says little about what parsing them costs. So the gateway does not
//! parse them itself: it sends the bytes, and the options that the plan depends on, to a process that can only compute,
//! and gets the plan back in the format of the cache.

use std::time::Duration;

use indexmap::{IndexMap, IndexSet};
use onetool_cage::{JobLimits, Jobs};
use serde::{Deserialize, Serialize};

use crate::cache;
use crate::document::DocumentText;
use crate::error::{LoadError, PlanError};
use crate::location::Location;
use crate::options::PlanOptions;
use crate::plan::model::Plan;
use crate::plan::{self, PlanOutcome};

/// The name of the job that reads descriptions.
pub const JOB: &str = "openapi";

/// Limits for reading a description. GitHub's, 10 MB of YAML, needs a fifth of this memory.
const LIMITS: JobLimits =
    JobLimits { time: Duration::from_mins(1), memory_bytes: 512 << 20, max_output: 256 << 20 };

/// A description and the documents it refers to, as far as they have been fetched.
pub(crate) struct ReadRequest {
    /// The description, followed by the documents it refers to.
    pub(crate) documents: Vec<(Location, Vec<u8>)>,
    /// Documents that cannot be read, with the reason.
    pub(crate) failed: IndexMap<Location, String>,
    pub(crate) options: PlanOptions,
}

/// The result of reading a description.
pub(crate) enum ReadResponse {
    Plan(Box<Plan>),
    /// More documents are needed.
    Needs(IndexSet<Location>),
    /// A referenced document cannot be parsed.
    Broken {
        document: usize,
        reason: String,
    },
    Failed(PlanError),
}

impl ReadRequest {
    /// Reads the documents, in a caged process if there is one. Returns the request for the next round.
    pub(crate) async fn run(self, jobs: Option<&Jobs>) -> Result<(Self, ReadResponse), LoadError> {
        let document = self.documents[0].0.to_string();
        let Some(jobs) = jobs else {
            let task = tokio::task::spawn_blocking(move || {
                let response = self.run_in_process();
                (self, response)
            });
            return task.await.map_err(|_| LoadError::Crashed { document });
        };
        match jobs.run(JOB, &self.encode(), &LIMITS).await {
            Ok(output) => match ReadResponse::decode(output) {
                Some(response) => Ok((self, response)),
                None => Err(LoadError::Crashed { document }),
            },
            Err(source) => Err(LoadError::Unreadable { document, source }),
        }
    }

    fn run_in_process(&self) -> ReadResponse {
        let mut texts = Vec::with_capacity(self.documents.len());
        for (location, bytes) in &self.documents {
            match DocumentText::new(location, bytes) {
                Ok(text) => texts.push(text),
                Err(error) => return ReadResponse::from_parse_error(texts.len(), error),
            }
        }
        let mut documents = Vec::with_capacity(texts.len());
        for text in &texts {
            match text.parse() {
                Ok(document) => documents.push(document),
                Err(error) => return ReadResponse::from_parse_error(documents.len(), error),
            }
        }
        match plan::plan(&documents, &self.failed, &self.options) {
            Ok(PlanOutcome::Complete(plan)) => ReadResponse::Plan(plan),
            Ok(PlanOutcome::Needs(missing)) => ReadResponse::Needs(missing),
            Err(error) => ReadResponse::Failed(error),
        }
    }

    /// Checks that reading in this process and reading in a job give the same response.
    #[cfg(fuzzing)]
    pub(crate) fn fuzz(&self) {
        assert!(
            self.run_in_process().encode() == read_description(self.encode()),
            "reading in the process and in a job differ"
        );
    }

    fn encode(&self) -> Vec<u8> {
        let header = RequestHeader {
            documents: self
                .documents
                .iter()
                .map(|(location, bytes)| (location.clone(), bytes.len()))
                .collect(),
            failed: self.failed.iter().map(|(location, reason)| (location.clone(), reason.clone())).collect(),
            options: self.options.clone(),
        };
        let header = serde_json::to_vec(&header).unwrap_or_default();
        let body_length: usize = self.documents.iter().map(|(_, bytes)| bytes.len()).sum();
        let mut message = Vec::with_capacity(8 + header.len() + body_length);
        message.extend_from_slice(&(header.len() as u64).to_le_bytes());
        message.extend_from_slice(&header);
        for (_, bytes) in &self.documents {
            message.extend_from_slice(bytes);
        }
        message
    }

    fn decode(message: &[u8]) -> Option<Self> {
        let (length, rest) = message.split_first_chunk()?;
        let (header, mut rest) = rest.split_at_checked(usize::try_from(u64::from_le_bytes(*length)).ok()?)?;
        let header: RequestHeader = serde_json::from_slice(header).ok()?;
        let mut documents = Vec::with_capacity(header.documents.len());
        for (location, length) in header.documents {
            let (bytes, next) = rest.split_at_checked(length)?;
            documents.push((location, bytes.to_vec()));
            rest = next;
        }
        Some(Self { documents, failed: header.failed.into_iter().collect(), options: header.options })
    }
}

/// The part of a request before the bytes of the documents.
#[derive(Serialize, Deserialize)]
struct RequestHeader {
    documents: Vec<(Location, usize)>,
    failed: Vec<(Location, String)>,
    options: PlanOptions,
}

/// The encoded form of a response without a plan.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum NoPlan {
    Needs(Vec<Location>),
    Broken { document: usize, reason: String },
    Failed(PlanError),
}

impl ReadResponse {
    /// Only the description itself must be valid; documents it refers to may be broken.
    fn from_parse_error(document: usize, error: PlanError) -> Self {
        if document == 0 { Self::Failed(error) } else { Self::Broken { document, reason: error.to_string() } }
    }

    fn encode(self) -> Vec<u8> {
        let no_plan = match self {
            Self::Plan(plan) => return cache::encode(&plan, &[0; 32]).unwrap_or_default(),
            Self::Needs(missing) => NoPlan::Needs(missing.into_iter().collect()),
            Self::Broken { document, reason } => NoPlan::Broken { document, reason },
            Self::Failed(error) => NoPlan::Failed(error),
        };
        serde_json::to_vec(&no_plan).unwrap_or_default()
    }

    fn decode(bytes: Vec<u8>) -> Option<Self> {
        if bytes.first() != Some(&b'{') {
            return cache::decode(bytes, &[0; 32]).map(|plan| Self::Plan(Box::new(plan)));
        }
        Some(match serde_json::from_slice(&bytes).ok()? {
            NoPlan::Needs(missing) => Self::Needs(missing.into_iter().collect()),
            NoPlan::Broken { document, reason } => Self::Broken { document, reason },
            NoPlan::Failed(error) => Self::Failed(error),
        })
    }
}

/// Reads a description inside the caged process: the [`Job`](onetool_cage::Job) named [`JOB`].
pub fn read_description(message: Vec<u8>) -> Vec<u8> {
    let Some(request) = ReadRequest::decode(&message) else { return Vec::new() };
    drop(message);
    request.run_in_process().encode()
}

#[cfg(test)]
mod tests;
