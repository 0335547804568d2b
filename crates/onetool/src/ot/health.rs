//! `ot.health`: shows versions and the state of packs, servers and storage.

use serde_json::{Map, Value, json};

use super::{OtContext, Output, listing};

pub(super) const DESCRIPTION: &str =
    "Show versions, and whether all packs are loaded and all servers connected.";

#[tracing::instrument(level = "debug", name = "ot.health", skip_all)]
pub(super) fn health(context: &OtContext) -> Output {
    let mut health = json!({
        "version": context.version,
        "python": context.python,
        "cwd": context.cwd.display().to_string(),
        "registry": registry(context),
        "proxy": proxy(context),
    });
    if let Some(size) = context.storage_size {
        health["storage"] = json!({"status": "ok", "size_bytes": size});
    }
    if let Some(problem) = &context.storage_problem {
        health["storage"] = json!({"status": "degraded", "reason": problem});
    }
    if let Some(notice) = &context.config.notice {
        health["notice"] = json!(notice);
    }
    Output::Data(health)
}

fn registry(context: &OtContext) -> Value {
    let reasons = context.failed_packs.iter().map(|pack| (pack.name.clone(), pack.reason.as_str().into()));
    let counted = json!({"tool_count": listing::tools(&context.catalog).count()});
    with_status(counted, reasons.collect())
}

fn proxy(context: &OtContext) -> Value {
    let servers = context.servers.iter().filter(|server| server.enabled);
    let state = |connected| if connected { "connected" } else { "disconnected" };
    let states: Map<String, Value> =
        servers.clone().map(|it| (it.name.clone(), state(it.connected).into())).collect();
    let reasons = servers.filter(|server| !server.connected).map(|server| {
        let reason = server.reason.as_deref().unwrap_or("not connected yet");
        (server.name.clone(), reason.into())
    });
    with_status(json!({"server_count": states.len(), "servers": states}), reasons.collect())
}

/// Adds the status at the beginning and the reasons at the end.
fn with_status(parts: Value, reasons: Map<String, Value>) -> Value {
    let mut whole = json!({"status": if reasons.is_empty() { "ok" } else { "degraded" }});
    for (key, part) in parts.as_object().into_iter().flatten() {
        whole[key] = part.clone();
    }
    if !reasons.is_empty() {
        whole["reasons"] = reasons.into();
    }
    whole
}
