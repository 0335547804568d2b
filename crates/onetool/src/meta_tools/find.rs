//! `tool_find`: finds tools for a task.

use std::fmt::Write as _;
use std::num::NonZeroUsize;

use onetool_core::ToolOutput;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::call::{MetaCall, output, short_description};
use crate::config::SearchConfig;

pub(super) const DESCRIPTION: &str = "Find tools by what they do. Returns the best matches with their signatures. Call \
    them immediately inside run, or add them to your own list with tool_load.";

/// Maximum number of characters of the query that a result repeats.
const QUERY_SHOWN: usize = 80;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Find {
    /// What the tool should do, in your own words.
    query: String,
    /// Maximum number of tools, up to 100; 5 unless the server is configured otherwise.
    #[serde(default)]
    limit: Option<NonZeroUsize>,
}

#[tracing::instrument(level = "debug", name = "tool_find", skip_all)]
pub(super) async fn find(call: MetaCall, args: Find) -> ToolOutput {
    let query = args.query.trim();
    if query.is_empty() {
        return ToolOutput::error("the query is empty; describe in a few words what the tool should do");
    }
    let limit = args.limit.map_or_else(|| call.finder.settings().limit, NonZeroUsize::get);
    let hits = call.finder.search(&call.catalog, query, limit.min(SearchConfig::MAX_LIMIT)).await;
    call.finder.record_search(&call.session, query, &hits);

    let loaded = call.loaded().await;
    let mut text = String::new();
    let mut tools = Vec::new();
    for hit in &hits {
        let Some(entry) = call.catalog.get_visible(&hit.name) else { continue };
        let (signature, description) =
            (entry.spec().short_signature(), short_description(&call.catalog, entry));
        let active = loaded.iter().any(|it| it.name() == entry.name());
        let score = rounded(hit.score);
        let mark = if active { ", active" } else { "" };
        let _ = writeln!(text, "{signature}  [score {score}{mark}]");
        if !description.is_empty() {
            let _ = writeln!(text, "  {description}");
        }
        tools.push(json!({
            "name": entry.name().as_str(),
            "description": description,
            "signature": signature,
            "score": score,
            "active": active,
        }));
    }
    let shown = shown(query);
    let heading = match tools.len() {
        0 => format!("No tool matches {shown}. Try other words, or ot.packs() inside run for an overview."),
        1 => format!("1 tool matches {shown}:"),
        count => format!("{count} tools match {shown}, best first:"),
    };
    let footer = match (tools.is_empty(), call.has_run()) {
        (true, _) => "",
        (false, true) => {
            "Call one immediately inside run, as its signature shows, or add it with tool_load(names=[...])."
        }
        (false, false) => "Add one to your list with tool_load(names=[...]).",
    };
    let text = format!("{heading}\n{text}{footer}");
    output(text.trim_end().to_owned(), json!({"tools": Value::Array(tools)}))
}

/// Rounds to three decimal places; more carry no information.
fn rounded(score: f64) -> f64 {
    (score * 1e3).round() / 1e3
}

fn shown(query: &str) -> String {
    let line = query.split_whitespace().collect::<Vec<_>>().join(" ");
    let printable: String = line.chars().filter(|c| !c.is_control()).collect();
    match printable.char_indices().nth(QUERY_SHOWN) {
        Some((end, _)) => format!("\"{}…\"", &printable[..end]),
        None => format!("\"{printable}\""),
    }
}
