//! Active tools that a person adds to the list of every session.

use axum::extract::State;
use axum::{Extension, Json};
use onetool_core::ToolName;
use onetool_core::state::SessionKey;
use onetool_web::JsonBody;
use serde::{Deserialize, Serialize};

use super::catalog::find;
use super::{ApiResult, Gateway, Who, store_failed};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ActiveRequest {
    names: Vec<String>,
    active: bool,
}

/// The active tools of a caller.
#[derive(Serialize)]
pub(super) struct ActiveSet {
    names: Vec<String>,
    count: usize,
}

/// Adds tools to the list of every session of the caller, or removes them; all of them or none.
pub(super) async fn change(
    State(inner): Gateway,
    Extension(caller): Who,
    JsonBody(ActiveRequest { names, active }): JsonBody<ActiveRequest>,
) -> ApiResult<ActiveSet> {
    inner.server.settle().await;
    let catalog = inner.server.catalog();
    let key = SessionKey::Every(caller);
    let loaded = inner.server.active().of(&key).await;
    let mut changed: Vec<ToolName> = Vec::new();
    for name in &names {
        match find(&catalog, name) {
            Ok(entry) => changed.push(entry.name().clone()),
            // A tool that is no longer in the catalog can still be removed from the list.
            Err(_) if !active && loaded.contains(name.as_str()) => changed.push(ToolName::new(name.as_str())),
            Err(error) => return Err(error),
        }
    }
    let (load, unload) = if active { (&changed[..], &[][..]) } else { (&[][..], &changed[..]) };
    inner.server.active().change(&key, load, unload).await.map_err(store_failed)?;
    let names: Vec<String> = inner.server.active().of(&key).await.iter().map(ToString::to_string).collect();
    Ok(Json(ActiveSet { count: names.len(), names }))
}
