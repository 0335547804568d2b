//! `tool_load`: adds tools to the list of this session, and removes them again.

use std::fmt::Write as _;

use indexmap::{IndexMap, IndexSet};
use onetool_core::state::{SessionKey, StoreError};
use onetool_core::{ToolName, ToolOutput};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use super::call::{MetaCall, not_found, output};
use crate::render::sample_call;
use onetool_server::catalog::{Entry, Source};

pub(super) const DESCRIPTION: &str = "Add tools to your own tool list: all of them or, if a name is unknown, none. \
    They stay there for this session only.";

/// Maximum number of tools on a session's list, and of names in one call.
const MAX_LOADED: usize = 500;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Load {
    /// Names of tools to load, as returned by tool_find.
    #[serde(default)]
    names: Vec<String>,
    /// Names of tools to remove from the list.
    #[serde(default)]
    unload: Vec<String>,
}

#[tracing::instrument(level = "debug", name = "tool_load", skip_all, fields(names = args.names.len(), unload = args.unload.len()))]
pub(super) async fn load(call: MetaCall, args: Load) -> ToolOutput {
    if args.names.is_empty() && args.unload.is_empty() {
        return ToolOutput::error(
            "names is empty; pass the names of the tools to load, as returned by tool_find",
        );
    }
    if args.names.len().max(args.unload.len()) > MAX_LOADED {
        return ToolOutput::error(format!("too many names: one call accepts at most {MAX_LOADED}"));
    }
    let mut unknown = Vec::new();
    let mut load: IndexMap<&ToolName, &Entry> = IndexMap::new();
    for name in args.names.iter().map(|name| name.trim()) {
        match call.catalog.get_visible(name) {
            Some(entry) if *entry.source() == Source::Surface => {
                return ToolOutput::error(format!(
                    "'{name}' is always on your list and does not need to be loaded"
                ));
            }
            Some(entry) => drop(load.insert(entry.name(), entry)),
            None => unknown.push(name),
        }
    }
    let unload = names_to_unload(&call, &args.unload, &mut unknown).await;
    if !unknown.is_empty() {
        return not_found(&call.catalog, &unknown);
    }
    let load: Vec<&Entry> = load.into_values().collect();
    let names: Vec<ToolName> = load.iter().map(|entry| entry.name().clone()).collect();
    let before = call.server.active().of(&call.session).await;
    let kept = before.iter().filter(|name| !unload.contains(name));
    if kept.chain(&names).collect::<IndexSet<_>>().len() > MAX_LOADED {
        return ToolOutput::error(format!(
            "at most {MAX_LOADED} tools can be loaded at the same time; remove some with unload=[...] first"
        ));
    }
    if let Err(error) = change(&call, &names, &unload).await {
        return ToolOutput::error(format!("cannot change your tool list: {error}"));
    }
    for name in &names {
        call.finder.record_use(&call.session, name.as_str());
    }
    describe_change(&call, &load, &unload).await
}

async fn change(call: &MetaCall, load: &[ToolName], unload: &[ToolName]) -> Result<(), StoreError> {
    let active = call.server.active();
    active.change(&call.session, load, unload).await?;
    // Also remove them from the list of every session, because the response says that they are unloaded.
    active.change(&SessionKey::Every(call.caller.clone()), &[], unload).await?;
    Ok(())
}

/// Returns the tools to unload. A tool that is no longer in the catalog can still be removed from the list.
async fn names_to_unload<'a>(
    call: &MetaCall,
    requested: &'a [String],
    unknown: &mut Vec<&'a str>,
) -> Vec<ToolName> {
    let loaded = call.server.active().on_list(&call.session, &call.caller).await;
    let mut names = IndexSet::new();
    for name in requested.iter().map(|name| name.trim()) {
        match call.catalog.get_visible(name) {
            Some(entry) => drop(names.insert(entry.name().clone())),
            None if loaded.contains(name) => drop(names.insert(ToolName::new(name))),
            None => unknown.push(name),
        }
    }
    names.into_iter().collect()
}

async fn describe_change(call: &MetaCall, load: &[&Entry], unload: &[ToolName]) -> ToolOutput {
    let count = call.loaded().await.len();
    let mut text = match count {
        1 => "1 tool is active now.\n".to_owned(),
        count => format!("{count} tools are active now.\n"),
    };
    let mut loaded = Vec::new();
    for entry in load {
        let in_run = sample_call(&in_python(entry.name()), &entry.spec().input_schema.peek());
        let _ = write!(text, "Loaded {} as {}", entry.name(), entry.flat_name());
        let mut data = json!({"name": entry.name().as_str(), "listed_as": entry.flat_name()});
        if call.has_run() {
            let _ = write!(text, "; call it inside run: {in_run}");
            data["in_run"] = json!(in_run);
        }
        text.push('\n');
        loaded.push(data);
    }
    if !unload.is_empty() {
        let names: Vec<&str> = unload.iter().map(ToolName::as_str).collect();
        let _ = writeln!(text, "Unloaded: {}", names.join(", "));
    }
    let unloaded: Vec<&str> = unload.iter().map(ToolName::as_str).collect();
    let data = json!({"loaded": loaded, "unloaded": unloaded, "active_count": count});
    output(text.trim_end().to_owned(), data)
}

/// Returns the name as Python code writes it, with `_` for characters that are invalid in an identifier.
fn in_python(name: &ToolName) -> String {
    let is_valid = |c: char| c.is_alphanumeric() || c == '_' || c == '.';
    name.as_str().chars().map(|c| if is_valid(c) { c } else { '_' }).collect()
}
