//! Reads descriptions: from the bytes of documents to a plan, in a caged process where there is one.
//!
//! Descriptions come from outside, and their size is no measure of what parsing them takes. So the gateway itself does
//! not parse them: it sends the bytes, and what the plan depends on, to a process that can do nothing else, and takes
//! the plan back in the form in which plans are cached.

use std::time::Duration;

use indexmap::{IndexMap, IndexSet};
use onetool_cage::{JobLimits, Jobs};
use serde::{Deserialize, Serialize};

use crate::cache;
use crate::document::{Location, Text};
use crate::options::PlanOptions;
use crate::plan::{self, Plan, Planned};
use crate::{LoadError, PlanError};

/// The name of the job that reads descriptions.
pub const JOB: &str = "openapi";

/// What reading a description may take. GitHub's, ten megabytes of YAML, takes a fifth of this memory.
const LIMITS: JobLimits =
    JobLimits { time: Duration::from_mins(1), memory_bytes: 512 << 20, max_output: 256 << 20 };

/// What is known so far of a description and the documents that it refers to.
pub(crate) struct Reading {
    /// The description, then documents that it refers to.
    pub(crate) documents: Vec<(Location, Vec<u8>)>,
    /// Documents that cannot be read, and why.
    pub(crate) failed: IndexMap<Location, String>,
    pub(crate) options: PlanOptions,
}

/// What came of reading.
pub(crate) enum Read {
    Plan(Box<Plan>),
    /// These documents are needed too.
    Needs(IndexSet<Location>),
    /// This document, to which the description refers, cannot be parsed.
    Broken {
        document: usize,
        reason: String,
    },
    Failed(PlanError),
}

impl Reading {
    /// Reads what is there, in a caged process if there is one for it. Returns itself for the next round.
    pub(crate) async fn read(self, jobs: Option<&Jobs>) -> Result<(Self, Read), LoadError> {
        let document = self.documents[0].0.to_string();
        let Some(jobs) = jobs else {
            let read = tokio::task::spawn_blocking(move || {
                let read = self.read_here();
                (self, read)
            });
            return read.await.map_err(|_| LoadError::Crashed { document });
        };
        match jobs.run(JOB, &self.encode(), &LIMITS).await {
            Ok(answer) => match Read::decode(answer) {
                Some(read) => Ok((self, read)),
                None => Err(LoadError::Crashed { document }),
            },
            Err(source) => Err(LoadError::Unreadable { document, source }),
        }
    }

    fn read_here(&self) -> Read {
        let mut texts = Vec::with_capacity(self.documents.len());
        for (location, bytes) in &self.documents {
            match Text::new(location, bytes) {
                Ok(text) => texts.push(text),
                Err(error) => return Read::unparsed(texts.len(), error),
            }
        }
        let mut documents = Vec::with_capacity(texts.len());
        for text in &texts {
            match text.parse() {
                Ok(document) => documents.push(document),
                Err(error) => return Read::unparsed(documents.len(), error),
            }
        }
        match plan::plan(&documents, &self.failed, &self.options) {
            Ok(Planned::Whole(plan)) => Read::Plan(plan),
            Ok(Planned::Needs(wanted)) => Read::Needs(wanted),
            Err(error) => Read::Failed(error),
        }
    }

    /// Reads both ways, which must come to the same.
    #[cfg(fuzzing)]
    pub(crate) fn fuzz(&self) {
        assert!(self.read_here().encode() == read_description(self.encode()), "it depends on who reads it");
    }

    fn encode(&self) -> Vec<u8> {
        let header = Header {
            documents: self
                .documents
                .iter()
                .map(|(location, bytes)| (location.clone(), bytes.len()))
                .collect(),
            failed: self.failed.iter().map(|(location, reason)| (location.clone(), reason.clone())).collect(),
            options: self.options.clone(),
        };
        let header = serde_json::to_vec(&header).unwrap_or_default();
        let texts: usize = self.documents.iter().map(|(_, bytes)| bytes.len()).sum();
        let mut message = Vec::with_capacity(8 + header.len() + texts);
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
        let header: Header = serde_json::from_slice(header).ok()?;
        let mut documents = Vec::with_capacity(header.documents.len());
        for (location, length) in header.documents {
            let (bytes, next) = rest.split_at_checked(length)?;
            documents.push((location, bytes.to_vec()));
            rest = next;
        }
        Some(Self { documents, failed: header.failed.into_iter().collect(), options: header.options })
    }
}

/// What precedes the documents in a message.
#[derive(Serialize, Deserialize)]
struct Header {
    documents: Vec<(Location, usize)>,
    failed: Vec<(Location, String)>,
    options: PlanOptions,
}

/// What is answered where there is no plan.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum NoPlan {
    Needs(Vec<Location>),
    Broken { document: usize, reason: String },
    Failed(PlanError),
}

impl Read {
    /// The description itself has to be readable; what it refers to does not.
    fn unparsed(document: usize, error: PlanError) -> Self {
        if document == 0 { Self::Failed(error) } else { Self::Broken { document, reason: error.to_string() } }
    }

    fn encode(self) -> Vec<u8> {
        let no_plan = match self {
            Self::Plan(plan) => return cache::encode(&plan, &[0; 32]).unwrap_or_default(),
            Self::Needs(wanted) => NoPlan::Needs(wanted.into_iter().collect()),
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
            NoPlan::Needs(wanted) => Self::Needs(wanted.into_iter().collect()),
            NoPlan::Broken { document, reason } => Self::Broken { document, reason },
            NoPlan::Failed(error) => Self::Failed(error),
        })
    }
}

/// Reads a description in the process that is there for it: the [`Job`](onetool_cage::Job) named [`JOB`].
pub fn read_description(message: Vec<u8>) -> Vec<u8> {
    let Some(reading) = Reading::decode(&message) else { return Vec::new() };
    drop(message);
    reading.read_here().encode()
}

#[cfg(test)]
mod tests;
