//! The routes that list tools, for any provider.

use std::marker::PhantomData;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use axum::Router;
use axum::extract::{Path, State};
use axum::middleware::from_fn_with_state;
use axum::response::Response;
use axum::routing::{get, post};
use futures::FutureExt as _;
use http::StatusCode;
use onetool_core::{
    BoxFuture, JsonObject, ProviderError, Tool, ToolAnnotations, ToolSpec, ToolsProvider, abbreviate,
    similar_names,
};
use serde::Serialize;

use crate::answer::{error, json};
use crate::{WebOptions, call, guard, page};

/// What the routes share.
#[derive(Clone)]
pub(crate) struct Web {
    pub(crate) provider: Arc<dyn ToolsProvider>,
    pub(crate) options: WebOptions,
}

/// Makes the routes and the page for what `provider` lists, to be mounted in any axum application.
///
/// The provider is asked on every request; nothing is cached. It can be a fixed list, or a closure that returns one,
/// with or without waiting for it. See the [crate](crate) for the routes.
///
/// ```
/// use onetool_core::{CallContext, tool_fn};
/// use onetool_web::{WebOptions, router};
///
/// let tools = || [tool_fn("clock.ping", "Says that it is there.", |(): (), _: CallContext| async { "pong" })];
/// let app: axum::Router = axum::Router::new().nest_service("/now", router(tools, WebOptions::default()));
/// let app = app.nest_service("/later", router(move || async move { tools() }, WebOptions::default()));
/// ```
pub fn router<Kind: 'static>(provider: impl ToolsProvider<Kind>, options: WebOptions) -> Router {
    let provider = Arc::new(AnyKind(provider, PhantomData));
    let web = Web { provider, options: options.clone() };
    guarded(tools(&web), page::routes(&options, page::Kind::Tools), &options)
}

/// A provider of any kind.
struct AnyKind<P, Kind>(P, PhantomData<fn() -> Kind>);

impl<P: ToolsProvider<Kind>, Kind: 'static> ToolsProvider for AnyKind<P, Kind> {
    fn tools(&self) -> BoxFuture<'_, Result<Vec<Arc<dyn Tool>>, ProviderError>> {
        self.0.tools()
    }
}

/// Puts open routes beside those that need access, and all of them behind the check of the origin.
pub(crate) fn guarded(data: Router, open: Router, options: &WebOptions) -> Router {
    data.layer(from_fn_with_state(options.clone(), guard::known_caller))
        .merge(open)
        .layer(from_fn_with_state(options.clone(), guard::known_origin))
}

/// Makes the routes under `/tools`, without access control.
pub(crate) fn tools(web: &Web) -> Router {
    let execute = post(call::call).layer(from_fn_with_state(web.options.clone(), guard::execution_allowed));
    Router::new()
        .route("/tools", get(list))
        .route("/tools/{name}", get(describe))
        .route("/tools/{name}/validate", post(call::validate))
        .route("/tools/{name}/call", execute)
        .with_state(web.clone())
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Listed<'a> {
    name: &'a str,
    description: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    input_schema: Option<&'a JsonObject>,
    #[serde(skip_serializing_if = "Option::is_none")]
    annotations: Option<&'a ToolAnnotations>,
}

impl<'a> Listed<'a> {
    fn new(spec: &'a ToolSpec) -> Self {
        Self {
            name: spec.name.as_str(),
            description: &spec.description,
            input_schema: None,
            annotations: spec.annotations.as_ref().filter(|annotations| !annotations.is_empty()),
        }
    }
}

async fn list(State(web): State<Web>) -> Response {
    match web.list().await {
        Ok(tools) => {
            let listed: Vec<Listed<'_>> = tools.iter().map(|tool| Listed::new(tool.spec())).collect();
            json(StatusCode::OK, &listed)
        }
        Err(response) => response,
    }
}

async fn describe(State(web): State<Web>, Path(name): Path<String>) -> Response {
    match web.find(&name).await {
        Ok(tool) => {
            let spec = tool.spec();
            json(StatusCode::OK, &Listed { input_schema: Some(&spec.input_schema), ..Listed::new(spec) })
        }
        Err(response) => response,
    }
}

impl Web {
    /// Asks the provider; an error or a panic of it is an answer.
    pub(crate) async fn list(&self) -> Result<Vec<Arc<dyn Tool>>, Response> {
        let listing = AssertUnwindSafe(async { self.provider.tools().await }).catch_unwind().await;
        let message = match listing {
            Ok(Ok(tools)) => return Ok(tools),
            Ok(Err(cause)) => cause.to_string(),
            Err(_) => "the provider of the tools crashed".to_owned(),
        };
        tracing::error!(reason = %message, "cannot list the tools");
        Err(error(StatusCode::INTERNAL_SERVER_ERROR, message))
    }

    /// Finds a tool by its name; says what may have been meant if there is none.
    pub(crate) async fn find(&self, name: &str) -> Result<Arc<dyn Tool>, Response> {
        let tools = self.list().await?;
        let canonical = |name: &str| tools.iter().find(|tool| tool.spec().name.as_str() == name).cloned();
        let found = match &self.options.name {
            Some(hook) => hook(name).and_then(|name| canonical(name.as_str()).ok_or_else(String::new)),
            None => {
                let flat = || tools.iter().find(|tool| tool.spec().name.flat() == name).cloned();
                canonical(name).or_else(flat).ok_or_else(|| similar_hint(name, &tools))
            }
        };
        let not_found =
            |hint| error(StatusCode::NOT_FOUND, format!("Tool not found: {}{hint}", abbreviate(name)));
        found.map_err(not_found)
    }
}

/// Says which names look like the one that was asked for.
fn similar_hint(name: &str, tools: &[Arc<dyn Tool>]) -> String {
    let near = similar_names(name, tools.iter().map(|tool| tool.spec().name.as_str()));
    let near: Vec<String> = near.into_iter().map(|it| format!("'{it}'")).collect();
    if near.is_empty() { String::new() } else { format!("; did you mean {}?", near.join(" or ")) }
}
