//! A call to one of the meta tools: its session and catalog, and helpers that write results.

use std::sync::Arc;

use onetool_core::state::SessionKey;
use onetool_core::{Caller, ToolOutput, shorten};
use onetool_server::Server;
use onetool_server::catalog::{Catalog, Entry, UnknownName};
use serde_json::Value;

use crate::render::summary;
use crate::search::Finder;

/// Maximum length of a description in a list of tools, in characters.
const MAX_DESCRIPTION: usize = 300;
/// Maximum number of unknown names in an error, and of names with suggestions.
const MAX_UNKNOWN: usize = 20;
const MAX_SUGGESTIONS: usize = 5;

/// A call to one of the meta tools.
pub(super) struct MetaCall {
    pub(super) server: Server,
    pub(super) catalog: Arc<Catalog>,
    pub(super) finder: Arc<Finder>,
    pub(super) session: SessionKey,
    pub(super) caller: Caller,
}

impl MetaCall {
    /// Returns the tools that the session has loaded, in addition to those that every client sees.
    pub(super) async fn loaded(&self) -> Vec<&Arc<Entry>> {
        let names = self.server.active().on_list(&self.session, &self.caller).await;
        names.iter().filter_map(|name| self.catalog.get_visible(name.as_str())).collect()
    }

    /// Returns whether the `run` tool is available, so that results mention it only then.
    pub(super) fn has_run(&self) -> bool {
        self.catalog.get_visible("run").is_some()
    }
}

/// Returns an output with text and the same information as data.
pub(super) fn output(text: String, data: Value) -> ToolOutput {
    ToolOutput { structured_content: Some(data), ..ToolOutput::text(text) }
}

/// Returns an error that lists unknown names, with suggestions.
pub(super) fn not_found(catalog: &Catalog, unknown: &[&str]) -> ToolOutput {
    let error = |(at, name): (usize, &&str)| match at {
        0..MAX_SUGGESTIONS => catalog.unknown(name),
        _ => UnknownName::plain(name),
    };
    let listed = unknown.iter().enumerate().take(MAX_UNKNOWN);
    let mut lines: Vec<String> = listed.map(|it| error(it).to_string()).collect();
    if unknown.len() > MAX_UNKNOWN {
        lines.push(format!("{} more names were not found", unknown.len() - MAX_UNKNOWN));
    }
    ToolOutput::error(format!("{}\nSearch with tool_find(query=\"...\").", lines.join("\n")))
}

/// Returns the first paragraph of a tool's description on one line, shortened.
pub(super) fn short_description(catalog: &Catalog, entry: &Entry) -> String {
    shorten(&summary(catalog.description(entry)), MAX_DESCRIPTION).into_owned()
}
