//! The router for any application: the tools of a provider, and the page.

use std::marker::PhantomData;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use axum::middleware::{from_fn, from_fn_with_state};
use axum::{Extension, Router};
use futures::FutureExt as _;
use onetool_core::validate::{ArgumentError, Validator, WorkLimit};
use onetool_core::{
    BoxFuture, CallContext, CallHost, Caller, FailureRedactor, JsonObject, ProviderError, Tool, ToolOutput,
    ToolSpec, ToolsProvider, abbreviate, similar_names,
};
use serde_json::Value;

use crate::guard::{require_access, require_known_origin};
use crate::layers::{catch_panics, security_headers};
use crate::options::{ToolCall, WebOptions};
use crate::page::{PageOptions, page_routes};
use crate::request::MaxBody;
use crate::response::ApiError;
use crate::tools::{InvalidArguments, ToolsApi, tools_routes};

/// Returns the routes and the page for the tools of `provider`, to mount in any axum application.
///
/// The provider is called on every request; nothing is cached. It can be a fixed list, or a closure that returns one,
/// async or not. See the [crate](crate) for the routes.
///
/// ```
/// use onetool_core::{CallContext, tool_fn};
/// use onetool_web::{WebOptions, router};
///
/// let tools = || [tool_fn("clock.ping", "Replies with pong.", |(): (), _: CallContext| async { "pong" })];
/// let app: axum::Router = axum::Router::new().nest_service("/now", router(tools, WebOptions::default()));
/// let app = app.nest_service("/later", router(move || async move { tools() }, WebOptions::default()));
/// ```
pub fn router<Kind: 'static>(provider: impl ToolsProvider<Kind>, options: WebOptions) -> Router {
    let page = PageOptions {
        title: options.title.clone(),
        allow_execute: options.allow_execute,
        execute_hint: options.execute_hint.clone(),
        is_gateway: false,
    };
    let (max_body, allow_execute) = (options.max_body, options.allow_execute);
    let api =
        ProviderApi { provider: Arc::new(AnyProvider(provider, PhantomData)), options: options.clone() };
    tools_routes(api, allow_execute)
        .layer(Extension(MaxBody(max_body)))
        .layer(from_fn(catch_panics))
        .layer(from_fn_with_state(options.clone(), require_access))
        .merge(page_routes("", page))
        .layer(from_fn_with_state(options, require_known_origin))
        .layer(from_fn(security_headers))
}

/// A provider of any kind.
struct AnyProvider<P, Kind>(P, PhantomData<fn() -> Kind>);

impl<P: ToolsProvider<Kind>, Kind: 'static> ToolsProvider for AnyProvider<P, Kind> {
    fn tools(&self) -> BoxFuture<'_, Result<Vec<Arc<dyn Tool>>, ProviderError>> {
        self.0.tools()
    }
}

/// The tools of a provider, called directly or by the handler in the options.
#[derive(Clone)]
struct ProviderApi {
    provider: Arc<dyn ToolsProvider>,
    options: WebOptions,
}

impl ToolsApi for ProviderApi {
    type Tool = Arc<dyn Tool>;

    async fn list(&self) -> Result<Vec<Arc<dyn Tool>>, ApiError> {
        let listing = AssertUnwindSafe(async { self.provider.tools().await }).catch_unwind().await;
        let message = match listing {
            Ok(Ok(tools)) => return Ok(tools),
            Ok(Err(error)) => error.to_string(),
            Err(_) => "the tools provider crashed".to_owned(),
        };
        tracing::error!(reason = %message, "cannot list tools");
        Err(ApiError::Failed(message))
    }

    async fn find(&self, name: &str) -> Result<Arc<dyn Tool>, ApiError> {
        let tools = self.list().await?;
        let canonical = tools.iter().find(|tool| tool.spec().name.as_str() == name);
        let found = canonical.or_else(|| tools.iter().find(|tool| tool.spec().name.flat() == name));
        found.cloned().ok_or_else(|| {
            let hint = similar_hint(name, &tools);
            ApiError::NotFound(format!("Tool not found: {}{hint}", abbreviate(name)))
        })
    }

    fn spec<'a>(&self, tool: &'a Arc<dyn Tool>) -> &'a ToolSpec {
        tool.spec()
    }

    async fn validate(&self, tool: Arc<dyn Tool>, args: JsonObject) -> Vec<ArgumentError> {
        check(&tool, args).await.1
    }

    async fn call(
        &self,
        tool: Arc<dyn Tool>,
        args: JsonObject,
        caller: Caller,
    ) -> Result<ToolOutput, InvalidArguments> {
        let (args, errors) = check(&tool, args).await;
        if !errors.is_empty() {
            return Err(InvalidArguments(errors));
        }
        let name = tool.spec().name.clone();
        let failures = FailureRedactor::new(&args);
        let calling = async {
            match &self.options.call {
                Some(handler) => handler(ToolCall { name: name.clone(), args, caller }).await,
                None => tool.call(args, &CallContext::new(caller, Arc::new(HttpClient))).await,
            }
        };
        Ok(match AssertUnwindSafe(calling).catch_unwind().await {
            Ok(Ok(output)) => output,
            Ok(Err(error)) => {
                // A handler in the options logs its own calls.
                if self.options.call.is_none() {
                    let reason = failures.redact(&error.to_string());
                    tracing::warn!(tool = name.as_str(), reason, "tool call failed");
                }
                ToolOutput::error(error.to_string())
            }
            Err(_) => {
                tracing::error!(tool = %name, "a tool crashed");
                ToolOutput::error(format!("The tool '{name}' crashed."))
            }
        })
    }
}

/// A client over plain HTTP: it gets no notifications and cannot be asked for input.
struct HttpClient;

impl CallHost for HttpClient {}

/// Validates arguments on a separate thread, because both compiling and checking may take long. The schema is compiled
/// every time, because the provider may list another one next time.
async fn check(tool: &Arc<dyn Tool>, args: JsonObject) -> (JsonObject, Vec<ArgumentError>) {
    let tool = tool.clone();
    let checked = tokio::task::spawn_blocking(move || {
        let schema = &tool.spec().input_schema;
        let args = Value::Object(args);
        let validator = Validator::for_value(schema, &WorkLimit::FULL);
        let errors = validator.check(&args, &WorkLimit::FULL);
        let errors = errors.unwrap_or_else(|error| vec![ArgumentError::at_root(error.to_string(), "schema")]);
        match args {
            Value::Object(args) => (args, errors),
            _ => (JsonObject::new(), errors),
        }
    });
    checked.await.unwrap_or_else(|error| {
        (JsonObject::new(), vec![ArgumentError::at_root(format!("the check failed: {error}"), "schema")])
    })
}

fn similar_hint(name: &str, tools: &[Arc<dyn Tool>]) -> String {
    let similar = similar_names(name, tools.iter().map(|tool| tool.spec().name.as_str()));
    let similar: Vec<String> = similar.into_iter().map(|it| format!("'{it}'")).collect();
    if similar.is_empty() { String::new() } else { format!("; did you mean {}?", similar.join(" or ")) }
}
