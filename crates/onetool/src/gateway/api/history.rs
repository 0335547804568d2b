//! Recorded calls, to be looked at and made again.

use axum::extract::{Path, State};
use axum::{Extension, Json};
use onetool_web::{ApiError, JsonBody, QueryParams};
use serde::Deserialize;

use super::{ApiResult, DONE, Done, EnabledRequest, Gateway, Who};
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
    Ok(Json(inner.history.list(&caller, query.tool.as_deref(), query.limit)))
}

pub(super) async fn detail(
    State(inner): Gateway,
    Extension(caller): Who,
    Path(id): Path<String>,
) -> ApiResult<RecordedCall> {
    inner.history.get(&caller, &id).map(Json).ok_or_else(|| unknown_call(&id))
}

pub(super) async fn set_pinned(
    State(inner): Gateway,
    Extension(caller): Who,
    Path(id): Path<String>,
    JsonBody(PinnedRequest { pinned }): JsonBody<PinnedRequest>,
) -> ApiResult<CallSummary> {
    inner.history.set_pinned(&caller, &id, pinned).map(Json).ok_or_else(|| unknown_call(&id))
}

/// Deletes every call that is not pinned.
pub(super) async fn clear(State(inner): Gateway, Extension(caller): Who) -> ApiResult<Done> {
    inner.history.clear(&caller);
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
