//! The routes under `/api/v1`.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use axum::body::Body;
use axum::extract::rejection::QueryRejection;
use axum::extract::{Path, Query, State};
use axum::middleware::from_fn_with_state;
use axum::response::Response;
use axum::routing::{get, post, put};
use axum::{Extension, Router};
use futures::FutureExt as _;
use http::StatusCode;
use onetool_core::{BoxFuture, Caller, ProviderError, Tool, ToolOutput, ToolsProvider};
use serde::{Deserialize, Serialize};

use super::{
    ApiError, ConsoleRequest, GatewayApi, HistoryQuery, ResultQuery, SearchQuery, StatsQuery, events,
};
use crate::answer::{error, json};
use crate::discovery::{Web, guarded, tools};
use crate::{WebOptions, body, guard, page};

/// What the routes share.
struct Gateway<A> {
    api: Arc<A>,
    max_body: usize,
}

impl<A> Clone for Gateway<A> {
    fn clone(&self) -> Self {
        Self { api: self.api.clone(), max_body: self.max_body }
    }
}

/// Makes the routes of a gateway: those of [`router`](crate::router), the page with all its views, and `/api/v1`.
///
/// | route | answer |
/// |---|---|
/// | `GET overview`, `tools`, `tools/{name}`, `packs`, `shortcuts` | what there is |
/// | `GET search?q=&limit=` | ranked tools, with scores and reasons |
/// | `PUT active` `{names, active}` | the active set |
/// | `GET servers`, `POST servers/{name}/reconnect`, `PUT servers/{name}/enabled`, `GET servers/{name}/log` | servers |
/// | `GET stats?period=&tool=` | figures |
/// | `GET results`, `results/{handle}?offset=&limit=&search=&fuzzy=` | stored results |
/// | `POST run`, `expand` `{command}` | the console |
/// | `GET`, `PUT`, `DELETE history`; `GET history/{id}`, `PUT history/{id}/pinned` | calls that were made |
/// | `GET events` | live news |
pub fn gateway_router<A: GatewayApi>(api: Arc<A>, options: WebOptions) -> Router {
    let web = Web { provider: Arc::new(Provider(api.clone())), options: options.clone() };
    let gateway = Gateway { api, max_body: options.max_body };
    let run = post(run::<A>).layer(from_fn_with_state(options.clone(), guard::execution_allowed));
    let routes = Router::new()
        .route("/overview", get(overview::<A>))
        .route("/tools", get(tool_rows::<A>))
        .route("/tools/{name}", get(tool_detail::<A>))
        .route("/search", get(search::<A>))
        .route("/packs", get(packs::<A>))
        .route("/active", put(set_active::<A>))
        .route("/servers", get(servers::<A>))
        .route("/servers/{name}/reconnect", post(reconnect::<A>))
        .route("/servers/{name}/enabled", put(set_enabled::<A>))
        .route("/servers/{name}/log", get(server_log::<A>))
        .route("/stats", get(stats::<A>))
        .route("/results", get(results::<A>))
        .route("/results/{handle}", get(result::<A>))
        .route("/shortcuts", get(shortcuts::<A>))
        .route("/expand", post(expand::<A>))
        .route("/run", run)
        .route("/history", get(history::<A>).put(set_history::<A>).delete(clear_history::<A>))
        .route("/history/{id}", get(call_record::<A>))
        .route("/history/{id}/pinned", put(set_pinned::<A>))
        .route("/events", get(live::<A>))
        .with_state(gateway);
    let data = tools(&web).merge(Router::new().nest("/api/v1", routes));
    guarded(data, page::routes(&options, page::Kind::Gateway), &options)
}

/// The gateway as the provider of `/tools`.
struct Provider<A>(Arc<A>);

impl<A: GatewayApi> ToolsProvider for Provider<A> {
    fn tools(&self) -> BoxFuture<'_, Result<Vec<Arc<dyn Tool>>, ProviderError>> {
        self.0.tools()
    }
}

type Api<A> = State<Gateway<A>>;
type Who = Extension<Caller>;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ActiveRequest {
    names: Vec<String>,
    active: bool,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct EnabledRequest {
    enabled: bool,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PinnedRequest {
    pinned: bool,
}

#[derive(Serialize)]
struct Done {
    ok: bool,
}

async fn overview<A: GatewayApi>(State(it): Api<A>, Extension(caller): Who) -> Response {
    answer(it.api.overview(caller)).await
}

async fn tool_rows<A: GatewayApi>(State(it): Api<A>, Extension(caller): Who) -> Response {
    answer(it.api.tool_rows(caller)).await
}

async fn tool_detail<A: GatewayApi>(
    State(it): Api<A>,
    Extension(caller): Who,
    Path(name): Path<String>,
) -> Response {
    answer(it.api.tool_detail(caller, name)).await
}

async fn search<A: GatewayApi>(
    State(it): Api<A>,
    Extension(caller): Who,
    query: Result<Query<SearchQuery>, QueryRejection>,
) -> Response {
    match query {
        Ok(Query(query)) => answer(it.api.search(caller, query)).await,
        Err(rejection) => error(StatusCode::BAD_REQUEST, rejection.body_text()),
    }
}

async fn packs<A: GatewayApi>(State(it): Api<A>, Extension(caller): Who) -> Response {
    answer(it.api.packs(caller)).await
}

async fn set_active<A: GatewayApi>(State(it): Api<A>, Extension(caller): Who, body: Body) -> Response {
    match body::typed::<ActiveRequest>(body, it.max_body).await {
        Ok(ActiveRequest { names, active }) => answer(it.api.set_active(caller, names, active)).await,
        Err(error) => error.into_response(),
    }
}

async fn servers<A: GatewayApi>(State(it): Api<A>, Extension(caller): Who) -> Response {
    answer(it.api.servers(caller)).await
}

async fn reconnect<A: GatewayApi>(
    State(it): Api<A>,
    Extension(caller): Who,
    Path(server): Path<String>,
) -> Response {
    answer(it.api.reconnect(caller, server)).await
}

async fn set_enabled<A: GatewayApi>(
    State(it): Api<A>,
    Extension(caller): Who,
    Path(server): Path<String>,
    body: Body,
) -> Response {
    match body::typed::<EnabledRequest>(body, it.max_body).await {
        Ok(EnabledRequest { enabled }) => answer(it.api.set_enabled(caller, server, enabled)).await,
        Err(error) => error.into_response(),
    }
}

async fn server_log<A: GatewayApi>(
    State(it): Api<A>,
    Extension(caller): Who,
    Path(server): Path<String>,
) -> Response {
    answer(it.api.server_log(caller, server)).await
}

async fn stats<A: GatewayApi>(
    State(it): Api<A>,
    Extension(caller): Who,
    query: Result<Query<StatsQuery>, QueryRejection>,
) -> Response {
    match query {
        Ok(Query(query)) => answer(it.api.stats(caller, query)).await,
        Err(rejection) => error(StatusCode::BAD_REQUEST, rejection.body_text()),
    }
}

async fn results<A: GatewayApi>(State(it): Api<A>, Extension(caller): Who) -> Response {
    answer(it.api.results(caller)).await
}

async fn result<A: GatewayApi>(
    State(it): Api<A>,
    Extension(caller): Who,
    Path(handle): Path<String>,
    query: Result<Query<ResultQuery>, QueryRejection>,
) -> Response {
    match query {
        Ok(Query(query)) => answer(it.api.result(caller, handle, query)).await,
        Err(rejection) => error(StatusCode::BAD_REQUEST, rejection.body_text()),
    }
}

async fn shortcuts<A: GatewayApi>(State(it): Api<A>, Extension(caller): Who) -> Response {
    answer(it.api.shortcuts(caller)).await
}

async fn expand<A: GatewayApi>(State(it): Api<A>, Extension(caller): Who, body: Body) -> Response {
    match body::typed::<ConsoleRequest>(body, it.max_body).await {
        Ok(ConsoleRequest { command }) => answer(it.api.expand(caller, command)).await,
        Err(error) => error.into_response(),
    }
}

async fn run<A: GatewayApi>(State(it): Api<A>, Extension(caller): Who, body: Body) -> Response {
    let ConsoleRequest { command } = match body::typed(body, it.max_body).await {
        Ok(request) => request,
        Err(error) => return error.into_response(),
    };
    let output = match AssertUnwindSafe(it.api.run(caller, command)).catch_unwind().await {
        Ok(Ok(output)) => output,
        Ok(Err(error)) => ToolOutput::error(error.to_string()),
        Err(_) => ToolOutput::error("The run crashed."),
    };
    let status = if output.is_error { StatusCode::INTERNAL_SERVER_ERROR } else { StatusCode::OK };
    json(status, &output)
}

async fn history<A: GatewayApi>(
    State(it): Api<A>,
    Extension(caller): Who,
    query: Result<Query<HistoryQuery>, QueryRejection>,
) -> Response {
    match query {
        Ok(Query(query)) => answer(it.api.history(caller, query)).await,
        Err(rejection) => error(StatusCode::BAD_REQUEST, rejection.body_text()),
    }
}

async fn set_history<A: GatewayApi>(State(it): Api<A>, Extension(caller): Who, body: Body) -> Response {
    match body::typed::<EnabledRequest>(body, it.max_body).await {
        Ok(EnabledRequest { enabled }) => done(it.api.set_history(caller, enabled)).await,
        Err(error) => error.into_response(),
    }
}

async fn clear_history<A: GatewayApi>(State(it): Api<A>, Extension(caller): Who) -> Response {
    done(it.api.clear_history(caller)).await
}

async fn call_record<A: GatewayApi>(
    State(it): Api<A>,
    Extension(caller): Who,
    Path(id): Path<String>,
) -> Response {
    answer(it.api.call_record(caller, id)).await
}

async fn set_pinned<A: GatewayApi>(
    State(it): Api<A>,
    Extension(caller): Who,
    Path(id): Path<String>,
    body: Body,
) -> Response {
    match body::typed::<PinnedRequest>(body, it.max_body).await {
        Ok(PinnedRequest { pinned }) => answer(it.api.set_pinned(caller, id, pinned)).await,
        Err(error) => error.into_response(),
    }
}

async fn live<A: GatewayApi>(State(it): Api<A>, Extension(caller): Who) -> Response {
    events::stream(it.api.events(caller))
}

async fn done(asking: BoxFuture<'_, Result<(), ApiError>>) -> Response {
    answer(Box::pin(async { asking.await.map(|()| Done { ok: true }) })).await
}

/// Waits for the gateway; its error, or its panic, is an answer.
async fn answer<T: Serialize>(asking: BoxFuture<'_, Result<T, ApiError>>) -> Response {
    let failure = match AssertUnwindSafe(asking).catch_unwind().await {
        Ok(Ok(value)) => return json(StatusCode::OK, &value),
        Ok(Err(failure)) => failure,
        Err(_) => ApiError::Failed("The gateway could not answer; its log says why.".into()),
    };
    let status = match &failure {
        ApiError::Invalid(_) => StatusCode::BAD_REQUEST,
        ApiError::NotFound(_) => StatusCode::NOT_FOUND,
        ApiError::Off(_) => StatusCode::CONFLICT,
        ApiError::Expired(_) => StatusCode::GONE,
        ApiError::Failed(_) => StatusCode::INTERNAL_SERVER_ERROR,
    };
    error(status, failure.to_string())
}
