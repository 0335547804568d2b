//! The routes that check arguments and call a tool with them.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use axum::Extension;
use axum::body::Body;
use axum::extract::{Path, State};
use axum::response::Response;
use futures::FutureExt as _;
use http::StatusCode;
use onetool_core::validate::{ArgumentError, Validator, WorkLimit};
use onetool_core::{CallContext, CallHost, Caller, FailureRedactor, JsonObject, Tool, ToolOutput};
use serde::Serialize;
use serde_json::Value;

use crate::answer::json;
use crate::body;
use crate::discovery::Web;
use crate::options::ToolCall;

#[derive(Serialize)]
struct Verdict {
    valid: bool,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    errors: Vec<ArgumentError>,
}

#[derive(Serialize)]
struct Refused {
    error: &'static str,
    errors: Vec<ArgumentError>,
}

/// Says what is wrong with arguments. The tool is never called.
pub(crate) async fn validate(State(web): State<Web>, Path(name): Path<String>, body: Body) -> Response {
    let tool = match web.find(&name).await {
        Ok(tool) => tool,
        Err(response) => return response,
    };
    let (status, errors) = match body::object(body, web.options.max_body).await {
        Ok(args) => (StatusCode::OK, check(&tool, args).await.1),
        Err(error) => (error.status(), vec![ArgumentError::at_root(error.to_string(), "format")]),
    };
    json(status, &Verdict { valid: errors.is_empty(), errors })
}

/// Returns the arguments and what is wrong with them; nothing passes a schema that is broken.
///
/// The schema is compiled each time, as the provider may list another one under the same name next time; and on a thread
/// of its own, as nobody knows how long either takes.
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

/// Calls a tool. Its future is dropped, and so cancelled, when the client closes the request.
pub(crate) async fn call(
    State(web): State<Web>,
    Path(name): Path<String>,
    Extension(caller): Extension<Caller>,
    body: Body,
) -> Response {
    let tool = match web.find(&name).await {
        Ok(tool) => tool,
        Err(response) => return response,
    };
    let args = match body::object(body, web.options.max_body).await {
        Ok(args) => args,
        Err(error) => return error.into_response(),
    };
    let (args, errors) = check(&tool, args).await;
    if !errors.is_empty() {
        let refused = Refused { error: "The arguments do not fit the tool's schema.", errors };
        return json(StatusCode::BAD_REQUEST, &refused);
    }
    let output = web.run(tool, args, caller).await;
    let status = if output.is_error { StatusCode::INTERNAL_SERVER_ERROR } else { StatusCode::OK };
    json(status, &output)
}

/// A caller over HTTP can be told nothing before the answer, and has nobody to ask.
struct Page;

impl CallHost for Page {}

impl Web {
    async fn run(&self, tool: Arc<dyn Tool>, args: JsonObject, caller: Caller) -> ToolOutput {
        let name = tool.spec().name.clone();
        let failures = FailureRedactor::new(&args);
        let calling = async {
            match &self.options.call {
                Some(handler) => handler(ToolCall { name: name.clone(), args, caller }).await,
                None => tool.call(args, &CallContext::new(caller, Arc::new(Page))).await,
            }
        };
        match AssertUnwindSafe(calling).catch_unwind().await {
            Ok(Ok(output)) => without_empty_meta(output),
            Ok(Err(error)) => {
                // Whoever makes the calls logs them, too.
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
        }
    }
}

/// Leaves out metadata that says nothing.
fn without_empty_meta(mut output: ToolOutput) -> ToolOutput {
    if let Some(meta) = &mut output.meta {
        meta.retain(|key, value| key != "_trace_id" || !(value.is_null() || value == ""));
    }
    output.meta = output.meta.filter(|meta| !meta.is_empty());
    output
}
