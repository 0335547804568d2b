//! `tool_active`: lists the tools that this session has loaded.

use onetool_core::ToolOutput;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::call::{MetaCall, output, short_description};

pub(super) const DESCRIPTION: &str = "List the tools that this session has loaded.";

const NONE: &str =
    "No tools are active. tool_find(query=\"...\") finds some, tool_load(names=[...]) loads them.";

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Active {}

#[tracing::instrument(level = "debug", name = "tool_active", skip_all)]
pub(super) async fn active(call: MetaCall, Active {}: Active) -> ToolOutput {
    let loaded = call.loaded().await;
    if loaded.is_empty() {
        return output(NONE.to_owned(), json!({"tools": [], "count": 0, "message": NONE}));
    }
    let mut lines = vec![match loaded.len() {
        1 => "1 tool is active:".to_owned(),
        count => format!("{count} tools are active:"),
    }];
    let mut tools: Vec<Value> = Vec::new();
    for entry in loaded {
        let description = short_description(&call.catalog, entry);
        lines.push(format!("{} ({}): {description}", entry.name(), entry.flat_name()));
        let (name, listed_as) = (entry.name().as_str(), entry.flat_name());
        tools.push(json!({"name": name, "listed_as": listed_as, "description": description}));
    }
    let count = tools.len();
    output(lines.join("\n"), json!({"tools": tools, "count": count}))
}
