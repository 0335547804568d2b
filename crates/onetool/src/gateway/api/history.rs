//! Recorded calls, to inspect and repeat.

use axum::extract::{Path, State};
use axum::{Extension, Json};
use onetool_web::{ApiError, JsonBody, QueryParams};
use serde::Deserialize;

use super::{ApiResult, DONE, Done, EnabledRequest, Gateway, Who, store_failed};
use crate::gateway::call_history::{CallSummary, RecordedCall};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct HistoryQuery {
    /// Only calls of this tool.
    tool: Option<String>,
    /// Maximum number of calls.
    limit: Option<usize>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct PinnedRequest {
    pinned: bool,
}

/// Lists calls, newest first.
pub(super) async fn list(
    State(inner): Gateway,
    Extension(caller): Who,
    QueryParams(query): QueryParams<HistoryQuery>,
) -> ApiResult<Vec<CallSummary>> {
    inner.history.list(&caller, query.tool, query.limit).await.map(Json).map_err(store_failed)
}

pub(super) async fn detail(
    State(inner): Gateway,
    Extension(caller): Who,
    Path(id): Path<String>,
) -> ApiResult<RecordedCall> {
    let call = inner.history.get(&caller, &id).await.map_err(store_failed)?;
    call.map(Json).ok_or_else(|| unknown_call(&id))
}

pub(super) async fn set_pinned(
    State(inner): Gateway,
    Extension(caller): Who,
    Path(id): Path<String>,
    JsonBody(PinnedRequest { pinned }): JsonBody<PinnedRequest>,
) -> ApiResult<CallSummary> {
    let call = inner.history.set_pinned(&caller, &id, pinned).await.map_err(store_failed)?;
    call.map(Json).ok_or_else(|| unknown_call(&id))
}

/// Deletes every call that is not pinned.
pub(super) async fn clear(State(inner): Gateway, Extension(caller): Who) -> ApiResult<Done> {
    inner.history.clear(&caller).await.map_err(store_failed)?;
    Ok(DONE)
}

/// Starts or stops recording; recorded calls stay.
pub(super) async fn set_enabled(
    State(inner): Gateway,
    JsonBody(EnabledRequest { enabled }): JsonBody<EnabledRequest>,
) -> ApiResult<Done> {
    inner.history.set_on(enabled);
    Ok(DONE)
}

fn unknown_call(id: &str) -> ApiError {
    ApiError::NotFound(format!("call '{id}' is no longer recorded"))
}
