//! The routes under `/tools`: list, describe, validate and call.

use axum::extract::{FromRequest as _, Path, Request, State};
use axum::middleware::from_fn_with_state;
use axum::response::{IntoResponse as _, Response};
use axum::routing::{get, post};
use axum::{Extension, Json, Router};
use http::StatusCode;
use onetool_core::validate::ArgumentError;
use onetool_core::{Caller, JsonObject, ToolAnnotations, ToolOutput, ToolSpec};
use serde::Serialize;

use crate::layers::require_execution;
use crate::request::ObjectBody;
use crate::response::ApiError;

/// The tools behind the routes under `/tools`.
///
/// A request looks up its tool once and keeps it, so that a concurrent change of the catalog does not affect it.
pub trait ToolsApi: Clone + Send + Sync + 'static {
    /// A tool that was found.
    type Tool: Send + Sync + 'static;

    /// Lists every tool.
    fn list(&self) -> impl Future<Output = Result<Vec<Self::Tool>, ApiError>> + Send;

    /// Finds a tool by its canonical or flat name.
    fn find(&self, name: &str) -> impl Future<Output = Result<Self::Tool, ApiError>> + Send;

    /// Returns the definition of a tool.
    fn spec<'a>(&self, tool: &'a Self::Tool) -> &'a ToolSpec;

    /// Returns the description of a tool.
    fn description<'a>(&self, tool: &'a Self::Tool) -> &'a str {
        &self.spec(tool).description
    }

    /// Checks arguments without calling the tool.
    fn validate(&self, tool: Self::Tool, args: JsonObject)
    -> impl Future<Output = Vec<ArgumentError>> + Send;

    /// Checks the arguments and calls the tool. The future is dropped when the client closes the request.
    fn call(
        &self,
        tool: Self::Tool,
        args: JsonObject,
        caller: Caller,
    ) -> impl Future<Output = Result<ToolOutput, InvalidArguments>> + Send;
}

/// Arguments that do not match the schema of a tool.
#[derive(Debug)]
pub struct InvalidArguments(pub Vec<ArgumentError>);

/// Returns the routes under `/tools`. They need a [`Caller`] in the extensions of every request.
pub fn tools_routes<A: ToolsApi>(api: A, allow_execute: bool) -> Router {
    let execute = post(call::<A>).layer(from_fn_with_state(allow_execute, require_execution));
    Router::new()
        .route("/tools", get(list::<A>))
        .route("/tools/{name}", get(describe::<A>))
        .route("/tools/{name}/validate", post(validate::<A>))
        .route("/tools/{name}/call", execute)
        .with_state(api)
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ToolView<'a> {
    name: &'a str,
    description: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    input_schema: Option<&'a JsonObject>,
    #[serde(skip_serializing_if = "Option::is_none")]
    annotations: Option<&'a ToolAnnotations>,
}

impl<'a> ToolView<'a> {
    fn new<A: ToolsApi>(api: &A, tool: &'a A::Tool) -> Self {
        let spec = api.spec(tool);
        Self {
            name: spec.name.as_str(),
            description: api.description(tool),
            input_schema: None,
            annotations: spec.annotations.as_ref().filter(|annotations| !annotations.is_empty()),
        }
    }
}

#[derive(Serialize)]
struct Validation {
    valid: bool,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    errors: Vec<ArgumentError>,
}

#[derive(Serialize)]
struct Rejection {
    error: &'static str,
    errors: Vec<ArgumentError>,
}

async fn list<A: ToolsApi>(State(api): State<A>) -> Result<Response, ApiError> {
    let tools = api.list().await?;
    let views: Vec<ToolView<'_>> = tools.iter().map(|tool| ToolView::new(&api, tool)).collect();
    Ok(Json(views).into_response())
}

async fn describe<A: ToolsApi>(State(api): State<A>, Path(name): Path<String>) -> Result<Response, ApiError> {
    let tool = api.find(&name).await?;
    let input_schema = Some(&*api.spec(&tool).input_schema);
    Ok(Json(ToolView { input_schema, ..ToolView::new(&api, &tool) }).into_response())
}

async fn validate<A: ToolsApi>(
    State(api): State<A>,
    Path(name): Path<String>,
    request: Request,
) -> Result<Response, ApiError> {
    let tool = api.find(&name).await?;
    let (status, errors) = match ObjectBody::from_request(request, &()).await {
        Ok(ObjectBody(args)) => (StatusCode::OK, api.validate(tool, args).await),
        Err(error) => (error.status(), vec![ArgumentError::at_root(error.to_string(), "format")]),
    };
    Ok((status, Json(Validation { valid: errors.is_empty(), errors })).into_response())
}

async fn call<A: ToolsApi>(
    State(api): State<A>,
    Path(name): Path<String>,
    Extension(caller): Extension<Caller>,
    request: Request,
) -> Result<Response, ApiError> {
    let tool = api.find(&name).await?;
    let ObjectBody(args) = ObjectBody::from_request(request, &()).await?;
    Ok(match api.call(tool, args, caller).await {
        Ok(output) => output_response(&without_empty_meta(output)),
        Err(InvalidArguments(errors)) => {
            let error = "The arguments do not match the tool's schema.";
            (StatusCode::BAD_REQUEST, Json(Rejection { error, errors })).into_response()
        }
    })
}

/// Returns the response for a tool's output: 200, or 500 for an error.
pub fn output_response(output: &ToolOutput) -> Response {
    let status = if output.is_error { StatusCode::INTERNAL_SERVER_ERROR } else { StatusCode::OK };
    (status, Json(output)).into_response()
}

/// Removes an empty trace id, and metadata that is empty.
fn without_empty_meta(mut output: ToolOutput) -> ToolOutput {
    if let Some(meta) = &mut output.meta {
        meta.retain(|key, value| key != "_trace_id" || !(value.is_null() || value == ""));
    }
    output.meta = output.meta.filter(|meta| !meta.is_empty());
    output
}
