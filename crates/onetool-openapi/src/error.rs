//! Why an API could not be loaded.

use std::io;
use std::path::PathBuf;

use onetool_cage::JobError;
use serde::{Deserialize, Serialize};

use crate::guard::Refused;

/// A description that could not be turned into tools.
///
/// A single operation that cannot be used is no error; it stands in [`Report::left_out`](crate::Report::left_out).
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LoadError {
    /// The file cannot be read.
    #[error("cannot read '{}'", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// What happened.
        #[source]
        source: io::Error,
    },
    /// The description cannot be fetched.
    #[error("cannot fetch '{url}': {reason}")]
    Fetch {
        /// Its URL, without credentials and query.
        url: String,
        /// What happened.
        reason: String,
    },
    /// The description is larger than allowed.
    #[error("'{document}' is larger than {limit} bytes; raise the limit if it is meant to be")]
    TooLarge {
        /// The document.
        document: String,
        /// The limit.
        limit: usize,
    },
    /// The document cannot be used.
    #[error(transparent)]
    Plan(#[from] PlanError),
    /// Reading the document takes too much.
    #[error("cannot read '{document}'")]
    Unreadable {
        /// The document.
        document: String,
        /// Why not.
        #[source]
        source: JobError,
    },
    /// The API is at an address that may not be reached.
    #[error(transparent)]
    Refused(#[from] Refused),
    /// Credentials would travel unprotected.
    #[error("credentials would go to '{host}' over plain http, where anybody can read them; use https")]
    PlainHttp {
        /// The host.
        host: String,
    },
    /// Credentials would go to a server that only the description names.
    #[error(
        "the description from {description} names the server {server}; credentials go only to an origin that the \
         configuration names, so set base_url to that server if you trust it"
    )]
    ForeignServer {
        /// Where the description is.
        description: String,
        /// The server's origin.
        server: String,
    },
    /// A client secret would go to an address that only the description names.
    #[error(
        "the description wants the client secret sent to {token}, but the API is at {server}; set {key} to that \
         tokenUrl if you trust it"
    )]
    ForeignTokenUrl {
        /// The origin of the token server.
        token: String,
        /// The API's origin.
        server: String,
        /// The key that allows it.
        key: String,
    },
    /// The pack's name leaves no room for the names of tools.
    #[error("the pack name '{name}' leaves no room for tool names; use one of at most {max} characters")]
    PackName {
        /// The name.
        name: String,
        /// How long it may be.
        max: usize,
    },
    /// The planner itself failed.
    #[error("reading '{document}' crashed, which is a fault of onetool; please report it")]
    Crashed {
        /// The document.
        document: String,
    },
    /// A header of the options cannot be sent.
    #[error("header '{name}' cannot be sent: its name or value has characters that no header may have")]
    Header {
        /// The header.
        name: String,
    },
}

/// A document that no plan can be made of.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum PlanError {
    /// The text is neither JSON nor YAML.
    #[error("'{document}' is not valid {format}: {reason}")]
    Syntax {
        /// The document.
        document: String,
        /// What it was read as.
        format: String,
        /// Where and why.
        reason: String,
    },
    /// The document is something else.
    #[error("'{document}' is not an OpenAPI description: {reason}")]
    NotOpenApi {
        /// The document.
        document: String,
        /// What is missing or unknown.
        reason: String,
    },
}
