//! The console: runs code, and expands commands.

use axum::extract::State;
use axum::response::Response;
use axum::{Extension, Json};
use onetool_core::JsonObject;
use onetool_web::{ApiError, JsonBody, output_response};
use serde::{Deserialize, Serialize};

use super::direct_tools::{as_page, output};
use super::{ApiResult, Gateway, Who};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ConsoleRequest {
    /// The code, in any form that the `run` tool accepts.
    command: String,
}

/// The code that a command expands to.
#[derive(Serialize)]
pub(super) struct Expansion {
    code: String,
}

pub(super) async fn run(
    State(inner): Gateway,
    Extension(caller): Who,
    JsonBody(ConsoleRequest { command }): JsonBody<ConsoleRequest>,
) -> Response {
    let args = JsonObject::from_iter([("command".to_owned(), command.into())]);
    let called = as_page(&inner.server, caller, async move |server, cx| server.call("run", args, cx).await);
    output_response(&output(called.await))
}

pub(super) async fn expand(
    State(inner): Gateway,
    JsonBody(ConsoleRequest { command }): JsonBody<ConsoleRequest>,
) -> ApiResult<Expansion> {
    let code = inner.interpreter.code(&inner.server, &command).map_err(ApiError::Invalid)?;
    Ok(Json(Expansion { code }))
}
