//! What the functions know, and what they ask the gateway to do.

use std::path::PathBuf;
use std::sync::Arc;

use onetool_core::{BoxFuture, CallContext};
use serde_json::Value;

use super::{StatsError, StatsQuery};
use crate::config::Config;
use crate::notify::{Notified, NotifyError};
use crate::search::Finder;
use onetool_run::shortcuts::{Aliases, Snippets};
use onetool_server::catalog::Catalog;
use onetool_store::results::{QueryError, ResultPage, ResultQuery};

/// Everything that a function may tell, as it is at the moment of a call.
pub(crate) struct OtContext {
    pub(crate) catalog: Arc<Catalog>,
    pub(crate) config: Arc<Config>,
    pub(crate) aliases: Arc<Aliases>,
    pub(crate) snippets: Arc<Snippets>,
    /// The other MCP servers.
    pub(crate) servers: Vec<ServerState>,
    /// Packs that the configuration asks for and that are not there.
    pub(crate) failed_packs: Vec<FailedPack>,
    /// What the storage cannot do.
    pub(crate) storage_trouble: Option<String>,
    /// How many bytes the database has, if it is a file.
    pub(crate) storage_size: Option<u64>,
    /// The version of onetool.
    pub(crate) version: String,
    /// The version of the interpreter.
    pub(crate) python: String,
    pub(crate) cwd: PathBuf,
    pub(crate) finder: Arc<Finder>,
    pub(crate) host: Arc<dyn OtHost>,
}

/// Another MCP server, as it is now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ServerState {
    pub(crate) name: String,
    pub(crate) connected: bool,
    /// Why it is not connected.
    pub(crate) reason: Option<String>,
    pub(crate) enabled: bool,
}

/// A pack that could not be loaded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct FailedPack {
    pub(crate) name: String,
    pub(crate) reason: String,
}

/// What a reload could not bring into force.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Reloaded {
    /// Settings that take effect on the next start.
    pub(crate) on_restart: Vec<String>,
    /// Settings that only the operator may change.
    pub(crate) waiting: Vec<String>,
    /// What the operator types to reload.
    pub(crate) operator_reload: Option<String>,
}

/// What the gateway does for the functions that do more than tell.
pub(crate) trait OtHost: Send + Sync + 'static {
    /// Reads the configuration again; the error says what is wrong and where.
    fn reload(&self) -> BoxFuture<'_, Result<Reloaded, String>>;

    /// Counts calls, and writes the report if the query asks for one.
    fn stats<'a>(
        &'a self,
        query: StatsQuery,
        cx: &'a CallContext,
    ) -> BoxFuture<'a, Result<Value, StatsError>>;

    /// Returns a page of a stored result.
    fn result<'a>(
        &'a self,
        query: ResultQuery,
        cx: &'a CallContext,
    ) -> BoxFuture<'a, Result<ResultPage, QueryError>>;

    /// Returns a whole stored result as data.
    fn load<'a>(&'a self, handle: String, cx: &'a CallContext) -> BoxFuture<'a, Result<Value, QueryError>>;

    /// Appends a note to the file of its topic.
    fn notify(&self, topic: String, message: String) -> BoxFuture<'_, Result<Notified, NotifyError>>;
}
