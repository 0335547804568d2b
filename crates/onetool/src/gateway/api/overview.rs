//! The gateway's name and version, and which of its features are on.

use axum::extract::State;
use axum::{Extension, Json};
use onetool_core::state::SessionKey;
use serde::Serialize;

use super::{ApiResult, Gateway, Who};

/// The gateway's name and version, and which of its features are on.
#[derive(Serialize)]
pub(super) struct Overview {
    name: String,
    version: String,
    tool_count: usize,
    /// How many tools are active for the caller.
    active_count: usize,
    /// Whether calls are recorded.
    history: bool,
    /// Whether statistics are recorded.
    stats: bool,
    /// Whether code can be run.
    run: bool,
}

pub(super) async fn overview(State(inner): Gateway, Extension(caller): Who) -> ApiResult<Overview> {
    // Someone opened the page, so prepare the first search and the first run in the background.
    inner.server.note_greeting();
    inner.server.settle().await;
    let catalog = inner.server.catalog();
    let options = inner.server.options();
    let loaded = inner.server.active().of(&SessionKey::Every(caller)).await;
    Ok(Json(Overview {
        name: options.name.clone(),
        version: options.version.clone(),
        tool_count: catalog.tools().count(),
        active_count: loaded.iter().filter(|name| catalog.get_visible(name.as_str()).is_some()).count(),
        history: inner.history.is_on(),
        stats: inner.config().stats.enabled,
        run: catalog.get_visible("run").is_some(),
    }))
}
