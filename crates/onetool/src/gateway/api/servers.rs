//! Servers and APIs: their state, and actions on them.

use axum::Json;
use axum::extract::{Path, State};
use onetool_web::{ApiError, JsonBody};
use serde::Serialize;

use super::{ApiResult, EnabledRequest, Gateway};
use crate::gateway::source_switch::SourceError;
use crate::gateway::sources::Sources;
use crate::gateway::{SourceReport, SourceState};

/// Whether calls to a server are likely to succeed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
enum Health {
    /// It responds.
    Healthy,
    /// It is starting or disabled.
    Degraded,
    /// It does not respond.
    Unhealthy,
}

/// The state of a server, with the details that help to fix a problem.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(super) struct ServerInfo {
    /// Its name, which is also that of its pack.
    pub(super) name: String,
    /// `stdio`, `http` or `openapi`.
    transport: String,
    /// Its health; meaningless while it is disabled.
    health: Health,
    enabled: bool,
    tool_count: usize,
    /// Why it is not healthy.
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
    /// What to do about it.
    #[serde(skip_serializing_if = "Option::is_none")]
    next_action: Option<String>,
    /// The last error, even if it has recovered since.
    #[serde(skip_serializing_if = "Option::is_none")]
    last_error: Option<String>,
    /// When it entered this state.
    since_ms: u64,
}

/// The latest lines of a server's stderr.
#[derive(Serialize)]
pub(super) struct ServerLog {
    lines: Vec<String>,
}

pub(super) async fn list(State(inner): Gateway) -> ApiResult<Vec<ServerInfo>> {
    Ok(Json(all(&inner.sources)))
}

pub(super) async fn reconnect(State(inner): Gateway, Path(name): Path<String>) -> ApiResult<ServerInfo> {
    after(&inner.sources, &name, inner.sources.reconnect(&name))
}

pub(super) async fn set_enabled(
    State(inner): Gateway,
    Path(name): Path<String>,
    JsonBody(EnabledRequest { enabled }): JsonBody<EnabledRequest>,
) -> ApiResult<ServerInfo> {
    after(&inner.sources, &name, inner.sources.set_enabled(&name, enabled).await)
}

pub(super) async fn log(State(inner): Gateway, Path(name): Path<String>) -> ApiResult<ServerLog> {
    let lines = inner.sources.last_lines(&name).map_err(|error| ApiError::NotFound(error.to_string()))?;
    Ok(Json(ServerLog { lines }))
}

/// Returns every source, in the order of the configuration.
pub(super) fn all(sources: &Sources) -> Vec<ServerInfo> {
    sources.reports().into_iter().map(info).collect()
}

/// Returns the state of a source after an action.
fn after(sources: &Sources, name: &str, done: Result<(), SourceError>) -> ApiResult<ServerInfo> {
    done.map_err(|error| match error {
        SourceError::Unknown { .. } => ApiError::NotFound(error.to_string()),
        SourceError::Store(_) => ApiError::Failed(error.to_string()),
    })?;
    let report = sources.reports().into_iter().find(|report| report.name == name);
    let gone = || ApiError::NotFound(format!("'{name}' is no longer in the configuration"));
    report.map(|report| Json(info(report))).ok_or_else(gone)
}

fn info(report: SourceReport) -> ServerInfo {
    let health = match (&report.state, &report.conflict) {
        (SourceState::Connected, None) => Health::Healthy,
        (SourceState::Connecting | SourceState::Disabled, _) => Health::Degraded,
        _ => Health::Unhealthy,
    };
    let reason = report.reason().map(str::to_owned);
    let next_action = match (&report.state, &report.conflict) {
        (_, Some(_)) | (SourceState::Connected | SourceState::Disabled, _) => None,
        (SourceState::Connecting, _) => Some("It has not responded yet."),
        (SourceState::Retrying { .. }, _) => Some("Retrying automatically; reconnect to retry immediately."),
        (SourceState::Failed { .. }, _) => Some("Fix it, then reconnect."),
    };
    ServerInfo {
        name: report.name,
        transport: report.transport.to_owned(),
        health,
        enabled: report.state != SourceState::Disabled,
        tool_count: report.tools,
        reason,
        next_action: next_action.map(str::to_owned),
        last_error: report.last_error,
        since_ms: report.since.map_or(0, |since| u64::try_from(since.as_millis()).unwrap_or_default()),
    }
}
