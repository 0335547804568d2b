//! How the sources are, in the page's words.

use std::sync::Arc;

use onetool_web::{ApiError, Health, ServerInfo};

use crate::gateway::source_switch::UnknownSource;
use crate::gateway::sources::Sources;
use crate::gateway::{SourceReport, SourceState};

/// Returns every source, in the order of the configuration.
pub(super) fn all(sources: &Sources) -> Vec<ServerInfo> {
    sources.reports().into_iter().map(info).collect()
}

/// Returns a source as it is after somebody did something about it.
pub(super) fn after(
    sources: &Arc<Sources>,
    name: &str,
    done: Result<(), UnknownSource>,
) -> Result<ServerInfo, ApiError> {
    let unknown = |error: UnknownSource| ApiError::NotFound(error.to_string());
    done.map_err(unknown)?;
    let report = sources.reports().into_iter().find(|report| report.name == name);
    report.map(info).ok_or_else(|| ApiError::NotFound(format!("'{name}' is gone from the configuration")))
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
        (SourceState::Connecting, _) => Some("It has not answered yet."),
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
