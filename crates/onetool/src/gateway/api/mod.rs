//! The HTTP API of the gateway and its page. Each module has the handlers of one topic.
//!
//! | route under `/api/v1` | response |
//! |---|---|
//! | `GET overview`, `tools`, `tools/{name}`, `packs`, `shortcuts` | the catalog |
//! | `GET search?q=&limit=` | ranked tools, with scores and reasons |
//! | `PUT active` `{names, active}` | the active set |
//! | `GET servers`, `POST servers/{name}/reconnect`, `PUT servers/{name}/enabled`, `GET servers/{name}/log` | servers |
//! | `GET stats?period=&tool=` | statistics |
//! | `GET results`, `results/{handle}?offset=&limit=&search=&fuzzy=` | stored results |
//! | `POST run`, `expand` `{command}` | the console |
//! | `GET`, `PUT`, `DELETE history`; `GET history/{id}`, `PUT history/{id}/pinned` | recorded calls |
//! | `GET events` | live events |

mod active;
mod catalog;
mod console;
mod direct_tools;
mod events;
mod history;
mod overview;
mod results;
mod search;
mod servers;
mod shortcuts;
mod stats;

use std::sync::Arc;

use axum::middleware::{from_fn, from_fn_with_state};
use axum::routing::{get, post, put};
use axum::{Extension, Json, Router};
use onetool_core::Caller;
use onetool_core::state::StoreError;
use onetool_server::http::{ExtraRoutes, HttpOptions};
use onetool_web::{
    ApiError, MaxBody, PageOptions, catch_panics, page_routes, require_execution, security_headers,
    tools_routes,
};
use serde::{Deserialize, Serialize};

use super::Inner;

const EXECUTE_HINT: &str = "Execution is off. Set http.allow_execute: true in onetool.yaml and reload (kill -HUP) or \
                            restart onetool to run tools from here.";

/// The state of the handlers.
type Gateway = axum::extract::State<Arc<Inner>>;
/// The caller of a request, set by the access layer.
type Who = Extension<Caller>;
type ApiResult<T> = Result<Json<T>, ApiError>;

/// Builds the routes of the API and the page, at the root and under `/ui`.
pub(super) fn routes(inner: &Arc<Inner>, options: &HttpOptions) -> ExtraRoutes {
    let config = inner.config();
    let mut page = PageOptions::new(&config.http.title);
    page.allow_execute = config.http.allow_execute;
    page.execute_hint = EXECUTE_HINT.into();
    page.is_gateway = true;
    let open = page_routes("", page.clone()).merge(page_routes("/ui", page));
    let protected = tools_routes(direct_tools::GatewayTools::new(inner.clone()), config.http.allow_execute)
        .nest("/api/v1", api_routes(config.http.allow_execute).with_state(inner.clone()))
        .layer(Extension(MaxBody(options.max_body)));
    ExtraRoutes { protected: with_layers(protected.clone().nest("/ui", protected)), open: with_layers(open) }
}

fn with_layers(routes: Router) -> Router {
    routes.layer(from_fn(catch_panics)).layer(from_fn(security_headers))
}

fn api_routes(allow_execute: bool) -> Router<Arc<Inner>> {
    let run = post(console::run).layer(from_fn_with_state(allow_execute, require_execution));
    Router::new()
        .route("/overview", get(overview::overview))
        .route("/tools", get(catalog::list))
        .route("/tools/{name}", get(catalog::detail))
        .route("/packs", get(catalog::packs))
        .route("/search", get(search::search))
        .route("/active", put(active::change))
        .route("/servers", get(servers::list))
        .route("/servers/{name}/reconnect", post(servers::reconnect))
        .route("/servers/{name}/enabled", put(servers::set_enabled))
        .route("/servers/{name}/log", get(servers::log))
        .route("/stats", get(stats::report))
        .route("/results", get(results::list))
        .route("/results/{handle}", get(results::page))
        .route("/shortcuts", get(shortcuts::list))
        .route("/expand", post(console::expand))
        .route("/run", run)
        .route("/history", get(history::list).put(history::set_enabled).delete(history::clear))
        .route("/history/{id}", get(history::detail))
        .route("/history/{id}/pinned", put(history::set_pinned))
        .route("/events", get(events::stream))
}

/// The body of a request that enables or disables something.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct EnabledRequest {
    enabled: bool,
}

fn store_failed(error: StoreError) -> ApiError {
    ApiError::Failed(error.to_string())
}

/// The response of requests that return nothing else.
#[derive(Serialize)]
struct Done {
    ok: bool,
}

const DONE: Json<Done> = Json(Done { ok: true });
