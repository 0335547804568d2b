//! The page of the gateway: what a person sees of it and does with it, over the same calls that agents make.

mod catalog;
mod events;
mod history;
mod mask;
mod servers;

use std::sync::Arc;

use axum::Router;
use futures::StreamExt as _;
use onetool_core::{
    BoxFuture, CallContext, CallHost, Caller, ClientInfo, JsonObject, ProviderError, Tool, ToolError,
    ToolOutput, ToolsProvider,
};
use onetool_web::{
    ActiveSet, ApiError, CallRecord, CallSummary, EventStream, Expansion, GatewayApi, HistoryQuery, Overview,
    PackInfo, ResultQuery, SearchAnswer, SearchQuery, ServerInfo, ServerLog, Shortcuts, StatsQuery,
    ToolDetail, ToolRow, WebOptions,
};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;
use tracing::Instrument as _;

use super::Inner;
use super::record::PAGE;
use onetool_server::Server;
use onetool_server::catalog::Source;
use onetool_server::http::HttpOptions;
use onetool_store::results::{self, QueryError, ResultInfo, ResultPage};
use onetool_store::stats::{Period, StatsError};

pub(super) use history::History;

const EXECUTE_HINT: &str = "Execution is off. Set http.allow_execute: true in onetool.yaml and reload (kill -HUP) or \
                            restart onetool to run tools from here.";

/// Makes the routes of the page, at the root and under `/ui`.
pub(super) fn router(inner: &Arc<Inner>, options: &HttpOptions) -> Router {
    let config = inner.config();
    let (access, server) = (options.access.clone(), inner.server.clone());
    let names = server.clone();
    let options = WebOptions::default()
        .title(&config.http.title)
        .allow_execute(config.http.allow_execute)
        .execute_hint(EXECUTE_HINT)
        .max_body(options.max_body)
        // Host and origin are checked before any route of the server is looked for.
        .origin(|_| Ok(()))
        .access(move |request| access.caller(&request.headers, &request.extensions))
        .on_name(move |name| match names.catalog().visible(name) {
            Ok(entry) if *entry.source() != Source::Surface => Ok(entry.name().clone()),
            Ok(_) => Err(String::new()),
            Err(unknown) => Err(unknown.hint()),
        })
        .on_call(move |call| self::call(server.clone(), call.name.to_string(), call.args, call.caller));
    let page = onetool_web::gateway_router(Arc::new(Page(inner.clone())), options);
    page.clone().nest_service("/ui", page)
}

/// A person at the page, as the client of a call: gone when the request is closed.
struct Person {
    gone: CancellationToken,
}

impl CallHost for Person {
    fn client(&self) -> ClientInfo {
        ClientInfo { name: Some(PAGE.to_owned()), ..ClientInfo::default() }
    }

    fn is_cancelled(&self) -> bool {
        self.gone.is_cancelled()
    }

    fn cancelled(&self) -> BoxFuture<'_, ()> {
        Box::pin(self.gone.cancelled())
    }
}

/// Calls a tool; it is cancelled, and recorded as that, when the future is dropped.
async fn call(
    server: Server,
    name: String,
    args: JsonObject,
    caller: Caller,
) -> Result<ToolOutput, ToolError> {
    let gone = CancellationToken::new();
    let cx = CallContext::new(caller, Arc::new(Person { gone: gone.clone() }));
    let _gone_on_drop = gone.drop_guard();
    let due = server.answers_due().clone();
    let calling = async move { server.call(&name, args, cx).await };
    let answer = due.spawn(calling.in_current_span()).await;
    match answer {
        Ok(Ok(output)) => Ok(output),
        Ok(Err(error)) => Err(ToolError::failed(error.to_string())),
        Err(error) => Err(ToolError::failed(format!("the call was lost: {error}"))),
    }
}

/// The gateway, as the page sees it.
struct Page(Arc<Inner>);

type Answer<'a, T> = BoxFuture<'a, Result<T, ApiError>>;

fn at_once<'a, T: Send + 'a>(answer: Result<T, ApiError>) -> Answer<'a, T> {
    Box::pin(std::future::ready(answer))
}

impl ToolsProvider for Page {
    fn tools(&self) -> BoxFuture<'_, Result<Vec<Arc<dyn Tool>>, ProviderError>> {
        Box::pin(async {
            self.0.server.settle().await;
            Ok(catalog::tools(&self.0))
        })
    }
}

impl GatewayApi for Page {
    type Stats = Value;
    type ResultInfo = ResultInfo;
    type ResultPage = ResultPage;

    fn overview(&self, caller: Caller) -> Answer<'_, Overview> {
        // Somebody is here: what the first search and the first run would wait for can begin.
        self.0.server.note_greeting();
        Box::pin(async move {
            self.0.server.settle().await;
            Ok(catalog::overview(&self.0, caller))
        })
    }

    fn tool_rows(&self, caller: Caller) -> Answer<'_, Vec<ToolRow>> {
        Box::pin(async move {
            self.0.server.settle().await;
            Ok(catalog::rows(&self.0, caller))
        })
    }

    fn tool_detail(&self, caller: Caller, name: String) -> Answer<'_, ToolDetail> {
        Box::pin(async move {
            self.0.server.settle().await;
            catalog::detail(&self.0, caller, &name)
        })
    }

    fn search(&self, _: Caller, query: SearchQuery) -> Answer<'_, SearchAnswer> {
        Box::pin(async move {
            self.0.server.settle().await;
            Ok(catalog::search(&self.0, &query).await)
        })
    }

    fn packs(&self, _: Caller) -> Answer<'_, Vec<PackInfo>> {
        Box::pin(async move {
            self.0.server.settle().await;
            Ok(catalog::packs(&self.0))
        })
    }

    fn set_active(&self, caller: Caller, names: Vec<String>, active: bool) -> Answer<'_, ActiveSet> {
        Box::pin(async move {
            self.0.server.settle().await;
            catalog::set_active(&self.0, caller, &names, active)
        })
    }

    fn servers(&self, _: Caller) -> Answer<'_, Vec<ServerInfo>> {
        at_once(Ok(servers::all(&self.0.sources)))
    }

    fn reconnect(&self, _: Caller, server: String) -> Answer<'_, ServerInfo> {
        let done = self.0.sources.reconnect(&server);
        at_once(servers::after(&self.0.sources, &server, done))
    }

    fn set_enabled(&self, _: Caller, server: String, enabled: bool) -> Answer<'_, ServerInfo> {
        let done = self.0.sources.set_enabled(&server, enabled);
        at_once(servers::after(&self.0.sources, &server, done))
    }

    fn server_log(&self, _: Caller, server: String) -> Answer<'_, ServerLog> {
        let lines = self.0.sources.last_lines(&server);
        at_once(match lines {
            Ok(lines) => Ok(ServerLog { lines }),
            Err(error) => Err(ApiError::NotFound(error.to_string())),
        })
    }

    fn stats(&self, _: Caller, query: StatsQuery) -> Answer<'_, Value> {
        Box::pin(async move {
            let period = query.period.as_deref().map_or(Ok(Period::All), Period::parse);
            let period = period.map_err(|error| ApiError::Invalid(error.to_string()))?;
            match self.0.stats.report(period, query.tool.as_deref()).await {
                Ok(report) => Ok(without_nulls(json!(report))),
                Err(error @ StatsError::Disabled) => Err(ApiError::Off(error.to_string())),
                Err(error) => Err(ApiError::Failed(error.to_string())),
            }
        })
    }

    fn results(&self, caller: Caller) -> Answer<'_, Vec<ResultInfo>> {
        Box::pin(async move {
            let list = self.0.results.list(&caller).await;
            list.map_err(|error| ApiError::Failed(error.to_string()))
        })
    }

    fn result(&self, caller: Caller, handle: String, query: ResultQuery) -> Answer<'_, ResultPage> {
        let ResultQuery { offset, limit, search, fuzzy } = query;
        let query = results::ResultQuery {
            offset,
            limit,
            search,
            fuzzy,
            with_places: true,
            ..results::ResultQuery::new(handle)
        };
        Box::pin(async move {
            self.0.results.query(&caller, query).await.map_err(|error| match error {
                QueryError::NotFound { .. } => ApiError::NotFound(error.to_string()),
                QueryError::Expired { .. } => ApiError::Expired(error.to_string()),
                QueryError::Storage { .. } | QueryError::Unreadable { .. } => {
                    ApiError::Failed(error.to_string())
                }
                _ => ApiError::Invalid(error.to_string()),
            })
        })
    }

    fn shortcuts(&self, _: Caller) -> Answer<'_, Shortcuts> {
        at_once(Ok(catalog::shortcuts(&self.0)))
    }

    fn expand(&self, _: Caller, command: String) -> Answer<'_, Expansion> {
        let code = self.0.interpreter.code(&self.0.server, &command);
        at_once(code.map(|code| Expansion { code }).map_err(ApiError::Invalid))
    }

    fn run(&self, caller: Caller, command: String) -> BoxFuture<'_, Result<ToolOutput, ToolError>> {
        let args = JsonObject::from_iter([("command".to_owned(), Value::String(command))]);
        Box::pin(call(self.0.server.clone(), "run".to_owned(), args, caller))
    }

    fn history(&self, caller: Caller, query: HistoryQuery) -> Answer<'_, Vec<CallSummary>> {
        at_once(Ok(self.0.history.list(&caller, &query)))
    }

    fn call_record(&self, caller: Caller, id: String) -> Answer<'_, CallRecord> {
        at_once(self.0.history.get(&caller, &id).ok_or_else(|| no_call(&id)))
    }

    fn set_pinned(&self, caller: Caller, id: String, pinned: bool) -> Answer<'_, CallSummary> {
        at_once(self.0.history.set_pinned(&caller, &id, pinned).ok_or_else(|| no_call(&id)))
    }

    fn clear_history(&self, caller: Caller) -> Answer<'_, ()> {
        self.0.history.clear(&caller);
        at_once(Ok(()))
    }

    fn set_history(&self, _: Caller, enabled: bool) -> Answer<'_, ()> {
        self.0.history.set_on(enabled);
        at_once(Ok(()))
    }

    fn events(&self, caller: Caller) -> EventStream {
        let end = self.0.server.shutdown_token().clone();
        events::stream(self.0.clone(), caller).take_until(end.cancelled_owned()).boxed()
    }
}

fn no_call(id: &str) -> ApiError {
    ApiError::NotFound(format!("there is no call '{id}' any more"))
}

/// Leaves out what has no value; `ot.stats` says `None` there, the API says nothing.
fn without_nulls(value: Value) -> Value {
    match value {
        Value::Object(object) => {
            let kept = object.into_iter().filter(|(_, value)| !value.is_null());
            Value::Object(kept.map(|(key, value)| (key, without_nulls(value))).collect())
        }
        Value::Array(items) => Value::Array(items.into_iter().map(without_nulls).collect()),
        other => other,
    }
}
