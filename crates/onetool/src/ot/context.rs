//! The state that the functions report, and the operations that the gateway performs for them.

use std::path::PathBuf;
use std::sync::Arc;

use onetool_core::{BoxFuture, CallContext};
use serde_json::Value;

use super::stats_query::{StatsError, StatsQuery};
use crate::config::Config;
use crate::notify::{Notified, NotifyError};
use crate::search::Finder;
use onetool_run::shortcuts::{Aliases, Snippets};
use onetool_server::catalog::Catalog;
use onetool_store::results::{QueryError, ResultPage, ResultQuery};

/// The state of the gateway at the time of a call.
pub(crate) struct OtContext {
    pub(crate) catalog: Arc<Catalog>,
    pub(crate) config: Arc<Config>,
    pub(crate) aliases: Arc<Aliases>,
    pub(crate) snippets: Arc<Snippets>,
    /// The other MCP servers.
    pub(crate) servers: Vec<ServerState>,
    /// Configured packs that failed to load.
    pub(crate) failed_packs: Vec<FailedPack>,
    /// Why the storage does not work, if it does not.
    pub(crate) storage_problem: Option<String>,
    /// The size of the database in bytes, if it is a file.
    pub(crate) storage_size: Option<u64>,
    /// The version of onetool.
    pub(crate) version: String,
    /// The version of the interpreter.
    pub(crate) python: String,
    pub(crate) cwd: PathBuf,
    pub(crate) finder: Arc<Finder>,
    pub(crate) host: Arc<dyn OtHost>,
}

/// The current state of another MCP server.
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

/// Changes that a reload did not apply.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Reloaded {
    /// Settings that take effect on the next start.
    pub(crate) on_restart: Vec<String>,
    /// Settings that only the operator may change.
    pub(crate) waiting: Vec<String>,
    /// The command with which the operator reloads.
    pub(crate) operator_reload: Option<String>,
}

/// Operations that the gateway performs for the functions.
pub(crate) trait OtHost: Send + Sync + 'static {
    /// Reloads the configuration. The error says what is wrong, and where.
    fn reload(&self) -> BoxFuture<'_, Result<Reloaded, String>>;

    /// Returns statistics, and writes a report if the query requests one.
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
