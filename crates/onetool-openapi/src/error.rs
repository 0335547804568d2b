//! Errors from loading an API.

use std::io;
use std::path::PathBuf;

use onetool_cage::JobError;
use serde::{Deserialize, Serialize};

use crate::guard::GuardError;

/// A description that could not be turned into tools.
///
/// A single operation that cannot be called is not an error; it is listed in
/// [`Report::skipped`](crate::api::Report::skipped).
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LoadError {
    /// The file cannot be read.
    #[error("cannot read '{}'", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// The I/O error.
        #[source]
        source: io::Error,
    },
    /// The description cannot be fetched.
    #[error("cannot fetch '{url}': {reason}")]
    Fetch {
        /// Its URL, without credentials and query.
        url: String,
        /// Why the request failed.
        reason: String,
    },
    /// The description is larger than allowed.
    #[error("'{document}' is larger than the limit of {limit} bytes")]
    TooLarge {
        /// The document.
        document: String,
        /// The limit.
        limit: usize,
    },
    /// No plan can be made from the document.
    #[error(transparent)]
    Plan(#[from] PlanError),
    /// The caged process could not read the document, for example because it exceeded its limits.
    #[error("cannot read '{document}'")]
    Unreadable {
        /// The document.
        document: String,
        /// The error of the job.
        #[source]
        source: JobError,
    },
    /// The network guard blocks the API's address.
    #[error(transparent)]
    Blocked(#[from] GuardError),
    /// Credentials would be sent unencrypted.
    #[error("refusing to send credentials to '{host}' over plain http; use https")]
    PlainHttp {
        /// The host.
        host: String,
    },
    /// Credentials would go to a server that only the description names.
    #[error(
        "the description from {description} names a server on another origin, {server}; if you trust it with your \
         credentials, set base_url to that server"
    )]
    ForeignServer {
        /// The origin of the description.
        description: String,
        /// The origin of the server.
        server: String,
    },
    /// A client secret would go to an address that only the description names.
    #[error(
        "the description asks to send the client secret to {token}, but the API is at {server}; if you trust that \
         tokenUrl, set {key} to it"
    )]
    ForeignTokenUrl {
        /// The origin of the token server.
        token: String,
        /// The API's origin.
        server: String,
        /// The configuration key that allows it.
        key: String,
    },
    /// The pack's name leaves too little room for the names of tools.
    #[error("pack name '{name}' is too long; use at most {max} characters")]
    PackName {
        /// The name.
        name: String,
        /// The maximum length.
        max: usize,
    },
    /// The planner crashed.
    #[error("reading '{document}' crashed; this is a bug in onetool, please report it")]
    Crashed {
        /// The document.
        document: String,
    },
    /// A header in the options is invalid.
    #[error("invalid header '{name}': its name or value contains characters that headers cannot contain")]
    Header {
        /// The header.
        name: String,
    },
}

/// A document from which no plan can be made.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum PlanError {
    /// The text is not valid JSON or YAML.
    #[error("'{document}' is not valid {format}: {reason}")]
    Syntax {
        /// The document.
        document: String,
        /// The format it was parsed as.
        format: String,
        /// The position and the cause.
        reason: String,
    },
    /// The document is not an OpenAPI description.
    #[error("'{document}' is not an OpenAPI description: {reason}")]
    NotOpenApi {
        /// The document.
        document: String,
        /// What is missing or unsupported.
        reason: String,
    },
}
