//! What a gateway tells and does beyond its list of tools, and the routes for it under `/api/v1`.

mod events;
mod history;
mod overview;
mod results;
mod routes;
mod search;
mod servers;
mod stats;

use futures::stream::BoxStream;
use onetool_core::{BoxFuture, Caller, ToolError, ToolOutput, ToolsProvider};
use serde::Serialize;

pub use events::GatewayEvent;
pub use history::{CallRecord, CallSummary, HistoryQuery};
pub use overview::{
    ActiveSet, Alias, ConsoleRequest, Expansion, Overview, PackInfo, PromptInfo, Shortcuts, SnippetInfo,
    SnippetParameter, ToolDetail, ToolRow,
};
pub use results::ResultQuery;
pub use routes::gateway_router;
pub use search::{SearchAnswer, SearchHit, SearchQuery, TermMatch};
pub use servers::{Health, ServerInfo, ServerLog};
pub use stats::StatsQuery;

/// Live news, until the client goes away or the gateway shuts down.
pub type EventStream = BoxStream<'static, GatewayEvent>;

/// What a gateway can tell and do for a person with the page open.
///
/// Every method gets the caller that the access rule let in. A method's future is dropped when the client closes the
/// request. Times are milliseconds since 1970 in UTC.
///
/// Statistics and stored results are the gateway's own types: the page shows them as they are written in JSON.
pub trait GatewayApi: ToolsProvider {
    /// The figures of a period, as `ot.stats` gives them.
    type Stats: Serialize + Send;
    /// A stored result, without its text.
    type ResultInfo: Serialize + Send;
    /// Some lines of a stored result, as `ot.result` gives them; for a search also `numbers`, where in the whole result
    /// each line stands, counted from 1, and `marks`, what matched in it, as begin and end in UTF-16 units.
    type ResultPage: Serialize + Send;

    /// Says what this gateway is and which of its parts are switched on.
    fn overview(&self, caller: Caller) -> BoxFuture<'_, Result<Overview, ApiError>>;

    /// Lists the whole catalog, with where each tool comes from and whether it is active for this caller.
    fn tool_rows(&self, caller: Caller) -> BoxFuture<'_, Result<Vec<ToolRow>, ApiError>>;

    /// Tells all that is known of one tool.
    fn tool_detail(&self, caller: Caller, name: String) -> BoxFuture<'_, Result<ToolDetail, ApiError>>;

    /// Ranks tools exactly as the agent's search does.
    fn search(&self, caller: Caller, query: SearchQuery) -> BoxFuture<'_, Result<SearchAnswer, ApiError>>;

    /// Lists the packs.
    fn packs(&self, caller: Caller) -> BoxFuture<'_, Result<Vec<PackInfo>, ApiError>>;

    /// Makes tools active or inactive for this caller, all of them or none. Saying it twice changes nothing.
    fn set_active(
        &self,
        caller: Caller,
        names: Vec<String>,
        active: bool,
    ) -> BoxFuture<'_, Result<ActiveSet, ApiError>>;

    /// Lists the servers and how they are.
    fn servers(&self, caller: Caller) -> BoxFuture<'_, Result<Vec<ServerInfo>, ApiError>>;

    /// Connects to a server anew.
    fn reconnect(&self, caller: Caller, server: String) -> BoxFuture<'_, Result<ServerInfo, ApiError>>;

    /// Switches a server on or off.
    fn set_enabled(
        &self,
        caller: Caller,
        server: String,
        enabled: bool,
    ) -> BoxFuture<'_, Result<ServerInfo, ApiError>>;

    /// Returns the last lines that a server wrote to its error output.
    fn server_log(&self, caller: Caller, server: String) -> BoxFuture<'_, Result<ServerLog, ApiError>>;

    /// Adds the events of a period up.
    fn stats(&self, caller: Caller, query: StatsQuery) -> BoxFuture<'_, Result<Self::Stats, ApiError>>;

    /// Lists this caller's stored results, the newest first.
    fn results(&self, caller: Caller) -> BoxFuture<'_, Result<Vec<Self::ResultInfo>, ApiError>>;

    /// Reads lines of a stored result, or searches it.
    fn result(
        &self,
        caller: Caller,
        handle: String,
        query: ResultQuery,
    ) -> BoxFuture<'_, Result<Self::ResultPage, ApiError>>;

    /// Lists aliases, snippets and prompts.
    fn shortcuts(&self, caller: Caller) -> BoxFuture<'_, Result<Shortcuts, ApiError>>;

    /// Returns the code that a command with a snippet stands for, without running it.
    fn expand(&self, caller: Caller, command: String) -> BoxFuture<'_, Result<Expansion, ApiError>>;

    /// Runs code, as the `run` tool does.
    fn run(&self, caller: Caller, command: String) -> BoxFuture<'_, Result<ToolOutput, ToolError>>;

    /// Lists calls, the newest first; secrets are masked already.
    fn history(
        &self,
        caller: Caller,
        query: HistoryQuery,
    ) -> BoxFuture<'_, Result<Vec<CallSummary>, ApiError>>;

    /// Returns one call with its arguments and result.
    fn call_record(&self, caller: Caller, id: String) -> BoxFuture<'_, Result<CallRecord, ApiError>>;

    /// Keeps a call when older ones are forgotten, or lets it go again.
    fn set_pinned(
        &self,
        caller: Caller,
        id: String,
        pinned: bool,
    ) -> BoxFuture<'_, Result<CallSummary, ApiError>>;

    /// Forgets every call that is not pinned.
    fn clear_history(&self, caller: Caller) -> BoxFuture<'_, Result<(), ApiError>>;

    /// Begins or stops to remember calls; what is remembered stays.
    fn set_history(&self, caller: Caller, enabled: bool) -> BoxFuture<'_, Result<(), ApiError>>;

    /// Returns what happens from now on.
    fn events(&self, caller: Caller) -> EventStream;
}

/// Why a gateway cannot answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ApiError {
    /// The question makes no sense; 400.
    #[error("{0}")]
    Invalid(String),
    /// There is no such thing; 404.
    #[error("{0}")]
    NotFound(String),
    /// The part is switched off; 409.
    #[error("{0}")]
    Off(String),
    /// It was there and is gone; 410.
    #[error("{0}")]
    Expired(String),
    /// It did not work; 500.
    #[error("{0}")]
    Failed(String),
}
