//! The catalog for the page: tools with their sources, and packs.

use std::sync::Arc;

use axum::extract::{Path, State};
use axum::{Extension, Json};
use indexmap::IndexMap;
use onetool_core::state::SessionKey;
use onetool_core::{JsonObject, ToolAnnotations};
use onetool_server::catalog::{Catalog, Entry, Source};
use onetool_web::ApiError;
use serde::Serialize;

use super::{ApiResult, Gateway, Who};
use crate::gateway::suspicion;

/// One tool in the list.
#[derive(Serialize)]
pub(super) struct ToolRow {
    /// Its canonical name.
    name: String,
    description: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pack: Option<String>,
    /// `local`, `proxy:{server}` or `openapi:{api}`.
    source: String,
    /// Whether it is active for the caller.
    active: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    annotations: Option<ToolAnnotations>,
}

/// Everything about one tool.
#[derive(Serialize)]
pub(super) struct ToolDetail {
    #[serde(flatten)]
    row: ToolRow,
    /// The name that MCP clients see.
    flat_name: String,
    /// A Python-like signature.
    signature: String,
    input_schema: JsonObject,
    #[serde(skip_serializing_if = "Option::is_none")]
    output_schema: Option<JsonObject>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    examples: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    keywords: Vec<String>,
    /// What is suspicious about its definition, such as hidden instructions.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    warnings: Vec<String>,
}

/// Tools from one source under one name.
#[derive(Serialize)]
pub(super) struct PackInfo {
    name: String,
    /// `local`, `proxy` or `openapi`.
    source: String,
    tool_count: usize,
    /// The description that agents get.
    #[serde(skip_serializing_if = "Option::is_none")]
    instructions: Option<String>,
}

pub(super) async fn list(State(inner): Gateway, Extension(caller): Who) -> ApiResult<Vec<ToolRow>> {
    inner.server.settle().await;
    let catalog = inner.server.catalog();
    let active = inner.server.active().of(&SessionKey::Every(caller)).await;
    let rows = catalog.tools().map(|entry| row(&catalog, entry, active.contains(entry.name())));
    Ok(Json(rows.collect()))
}

pub(super) async fn detail(
    State(inner): Gateway,
    Extension(caller): Who,
    Path(name): Path<String>,
) -> ApiResult<ToolDetail> {
    inner.server.settle().await;
    let catalog = inner.server.catalog();
    let entry = find(&catalog, &name)?;
    let active = inner.server.active().of(&SessionKey::Every(caller)).await.contains(entry.name());
    let docs = catalog.docs(entry.name()).cloned().unwrap_or_default();
    let spec = entry.spec();
    let warning = |it: suspicion::Suspicion| format!("It has {}: “{}”.", it.why, it.excerpt);
    Ok(Json(ToolDetail {
        row: row(&catalog, entry, active),
        flat_name: entry.flat_name().to_owned(),
        signature: spec.short_signature(),
        input_schema: JsonObject::clone(&spec.input_schema),
        output_schema: spec.output_schema.as_deref().cloned(),
        examples: docs.examples,
        keywords: docs.keywords,
        warnings: suspicion::in_tool(entry).into_iter().map(warning).collect(),
    }))
}

pub(super) async fn packs(State(inner): Gateway) -> ApiResult<Vec<PackInfo>> {
    inner.server.settle().await;
    let (catalog, config) = (inner.server.catalog(), inner.config());
    let mut packs: IndexMap<&str, PackInfo> = IndexMap::new();
    for entry in catalog.tools() {
        let Some(pack) = entry.name().pack() else { continue };
        let new = || {
            let source = entry.source().to_string();
            let instructions = config.docs.packs.get(pack).map(String::as_str);
            PackInfo {
                name: pack.to_owned(),
                source: source.split(':').next().unwrap_or_default().to_owned(),
                tool_count: 0,
                instructions: instructions.or_else(|| catalog.pack_description(pack)).map(str::to_owned),
            }
        };
        packs.entry(pack).or_insert_with(new).tool_count += 1;
    }
    Ok(Json(packs.into_values().collect()))
}

/// Finds a tool in the catalog, except the meta tools, which are on every client's list.
pub(super) fn find<'a>(catalog: &'a Catalog, name: &str) -> Result<&'a Arc<Entry>, ApiError> {
    let found = catalog.visible(name).map_err(|error| ApiError::NotFound(error.to_string()))?;
    if *found.source() == Source::Surface {
        let message = format!("'{name}' is on every client's list and not in the catalog");
        return Err(ApiError::NotFound(message));
    }
    Ok(found)
}

fn row(catalog: &Catalog, entry: &Entry, active: bool) -> ToolRow {
    ToolRow {
        name: entry.name().to_string(),
        description: catalog.description(entry).to_owned(),
        pack: entry.name().pack().map(str::to_owned),
        source: entry.source().to_string(),
        active,
        annotations: entry.spec().annotations.filter(|annotations| !annotations.is_empty()),
    }
}
