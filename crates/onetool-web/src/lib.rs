//! Tool discovery over HTTP, and a page for people, as a router for any axum application.
//!
//! [`router`] serves whatever a [`ToolsProvider`](onetool_core::ToolsProvider) lists: a fixed `Vec<Arc<dyn Tool>>`, or a
//! function that is asked on every request.
//!
//! ```
//! use std::sync::Arc;
//!
//! use onetool_core::{CallContext, JsonObject, Tool, ToolSpec, dynamic_tool};
//! use onetool_web::{WebOptions, router};
//!
//! let echo = dynamic_tool(ToolSpec::new("echo", "Gives back what it gets."), |args: JsonObject, _cx: CallContext| {
//!     async move { serde_json::Value::Object(args).to_string() }
//! });
//! let tools: Vec<Arc<dyn Tool>> = vec![Arc::new(echo)];
//! let options = WebOptions::default().title("My tools").allow_execute(true);
//! let app: axum::Router = axum::Router::new().nest_service("/agents/tools", router(tools, options));
//! ```
//!
//! | route | answer |
//! |---|---|
//! | `GET /` | the page |
//! | `GET /tools` | `[{name, description, annotations?}]` |
//! | `GET /tools/{name}` | the same object with `inputSchema` |
//! | `POST /tools/{name}/validate` | `{valid, errors?}`; never calls the tool |
//! | `POST /tools/{name}/call` | what the tool answers; 500 if that is bad news |
//!
//! Every route checks, in this order: where the request comes from (403), who sends it (401), whether tools may be
//! run at all (403), whether the tool exists (404), the body (400). The page and its assets are open and hold no data.
//!
//! Mount it with `nest_service`, which answers with and without a trailing slash; with `nest`, axum itself does not
//! route the trailing slash. At the root, use `merge`.
//!
//! A gateway implements [`GatewayApi`] and serves [`gateway_router`] instead, which adds search, servers, statistics,
//! stored results, a console, history and live events under `/api/v1`.

mod answer;
mod assets;
mod body;
mod call;
mod discovery;
mod gateway;
mod guard;
mod options;
mod page;

pub use discovery::router;
pub use gateway::{
    ActiveSet, Alias, ApiError, CallRecord, CallSummary, ConsoleRequest, EventStream, Expansion, GatewayApi,
    GatewayEvent, Health, HistoryQuery, Overview, PackInfo, PromptInfo, ResultQuery, SearchAnswer, SearchHit,
    SearchQuery, ServerInfo, ServerLog, Shortcuts, SnippetInfo, SnippetParameter, StatsQuery, TermMatch,
    ToolDetail, ToolRow, gateway_router,
};
pub use onetool_core::validate::ArgumentError;
pub use options::{ToolCall, WebOptions};
