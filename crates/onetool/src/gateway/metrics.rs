//! Metrics of the gateway at `/metrics`, in the Prometheus text format.

use std::fmt::Write as _;
use std::sync::Arc;

use axum::Router;
use axum::response::IntoResponse as _;
use axum::routing::get;
use http::header::CONTENT_TYPE;

use super::{Inner, SourceState};
use onetool_store::Store as _;

/// Builds the route, which requires access.
pub(super) fn router(inner: &Arc<Inner>) -> Router {
    let inner = inner.clone();
    let metrics =
        async move || ([(CONTENT_TYPE, "text/plain; version=0.0.4")], inner.metrics()).into_response();
    Router::new().route("/metrics", get(metrics))
}

impl Inner {
    fn metrics(&self) -> String {
        let mut text = String::new();
        if let Some(size) = self.store.health().size_bytes {
            gauge(
                &mut text,
                "onetool_storage_bytes",
                "Size of the database, its log included.",
                &[("", size)],
            );
        }
        let tools = self.server.catalog().tools().count() as u64;
        gauge(&mut text, "onetool_tools", "Tools that can be called.", &[("", tools)]);
        let reports = self.sources.reports();
        let count = |state: &str| reports.iter().filter(|it| state_name(&it.state) == state).count() as u64;
        let counts = STATES.map(|state| (format!("{{state=\"{state}\"}}"), count(state)));
        let counts = counts.each_ref().map(|(labels, count)| (labels.as_str(), *count));
        gauge(&mut text, "onetool_sources", "Servers and APIs by state.", &counts);
        text
    }
}

const STATES: [&str; 5] = ["connecting", "connected", "retrying", "failed", "disabled"];

fn state_name(state: &SourceState) -> &'static str {
    match state {
        SourceState::Connecting => STATES[0],
        SourceState::Connected => STATES[1],
        SourceState::Retrying { .. } => STATES[2],
        SourceState::Failed { .. } => STATES[3],
        SourceState::Disabled => STATES[4],
    }
}

fn gauge(text: &mut String, name: &str, help: &str, values: &[(&str, u64)]) {
    let _ = writeln!(text, "# HELP {name} {help}\n# TYPE {name} gauge");
    for (labels, value) in values {
        let _ = writeln!(text, "{name}{labels} {value}");
    }
}
