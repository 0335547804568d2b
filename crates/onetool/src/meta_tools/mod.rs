//! The tools that find, describe and load other tools. A file per tool.

mod active;
mod describe;
mod find;
mod load;

use std::sync::Arc;

use onetool_core::{CallContext, Caller, Tool, ToolAnnotations, ToolError, ToolOutput, tool_fn};
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::render::summary;
use crate::search::Finder;
use onetool_server::catalog::{Catalog, Entry, RegisterError, SessionKey, Source, UnknownName};
use onetool_server::{Server, WeakServer};

/// Characters of a description that a list of tools shows.
const DESCRIPTION_MAX: usize = 300;
/// How many unknown names an error repeats, and for how many it looks for what was meant.
const UNKNOWN_MAX: usize = 20;
const HINTS_MAX: usize = 5;

/// What the tools need: the server, without keeping it alive, and the search.
#[derive(Clone)]
struct Host {
    server: WeakServer,
    finder: Arc<Finder>,
}

/// One call of one of the tools.
struct MetaCall {
    server: Server,
    catalog: Arc<Catalog>,
    finder: Arc<Finder>,
    session: SessionKey,
    caller: Caller,
}

impl MetaCall {
    /// Returns the tools that are on the session's list beside those that every client has.
    fn loaded(&self) -> Vec<&Arc<Entry>> {
        let names = self.server.active().on_list(&self.session, &self.caller);
        names.iter().filter_map(|name| self.catalog.get_visible(name.as_str())).collect()
    }

    /// Tells whether code can be run, so that no answer points at a tool that is not there.
    fn has_run(&self) -> bool {
        self.catalog.get_visible("run").is_some()
    }
}

/// Registers the tools.
pub(crate) fn register(server: &Server, finder: &Arc<Finder>) -> Result<(), RegisterError> {
    let host = Host { server: server.downgrade(), finder: finder.clone() };
    let changes_nothing = ToolAnnotations { open_world_hint: Some(false), ..ToolAnnotations::read_only() };
    let changes_the_list = ToolAnnotations {
        read_only_hint: Some(false),
        destructive_hint: Some(false),
        idempotent_hint: Some(true),
        open_world_hint: Some(false),
    };
    let tools: [Arc<dyn Tool>; 4] = [
        tool(&host, "tool_find", find::DESCRIPTION, changes_nothing, find::find),
        tool(&host, "tool_describe", describe::DESCRIPTION, changes_nothing, describe::describe),
        tool(&host, "tool_load", load::DESCRIPTION, changes_the_list, async |call, args| {
            load::load(&call, &args)
        }),
        tool(&host, "tool_active", active::DESCRIPTION, changes_nothing, async |call, args| {
            active::active(&call, &args)
        }),
    ];
    tools.into_iter().try_for_each(|tool| server.add_tool(tool, Source::Surface))
}

fn tool<A, F, Fut>(
    host: &Host,
    name: &str,
    description: &str,
    annotations: ToolAnnotations,
    function: F,
) -> Arc<dyn Tool>
where
    A: DeserializeOwned + JsonSchema + Send + 'static,
    F: Fn(MetaCall, A) -> Fut + Send + Sync + Copy + 'static,
    Fut: Future<Output = ToolOutput> + Send + 'static,
{
    let host = host.clone();
    let handler = move |args: A, cx: CallContext| {
        let call = host.server.upgrade().map(|server| MetaCall {
            catalog: server.catalog(),
            server,
            finder: host.finder.clone(),
            session: SessionKey::of(&cx),
            caller: cx.caller().clone(),
        });
        async move {
            let call = call.ok_or_else(|| ToolError::failed("the gateway is shutting down"))?;
            Ok::<_, ToolError>(function(call, args).await)
        }
    };
    Arc::new(tool_fn(name, description, handler).annotations(annotations))
}

/// Makes an answer that says the same as text and as data.
fn answer(text: String, data: Value) -> ToolOutput {
    ToolOutput { structured_content: Some(data), ..ToolOutput::text(text) }
}

/// Says which names are not there, and how to find those that are.
fn not_found(catalog: &Catalog, unknown: &[&str]) -> ToolOutput {
    let error = |(at, name): (usize, &&str)| match at {
        0..HINTS_MAX => catalog.unknown(name),
        _ => UnknownName::plain(name),
    };
    let named = unknown.iter().enumerate().take(UNKNOWN_MAX);
    let mut lines: Vec<String> = named.map(|it| error(it).to_string()).collect();
    if unknown.len() > UNKNOWN_MAX {
        lines.push(format!("{} more names were not found", unknown.len() - UNKNOWN_MAX));
    }
    ToolOutput::error(format!("{}\nSearch with tool_find(query=\"...\").", lines.join("\n")))
}

/// Returns the beginning of what a tool says it does, on one line.
fn short_description(catalog: &Catalog, entry: &Entry) -> String {
    let whole = summary(catalog.description(entry));
    match whole.char_indices().nth(DESCRIPTION_MAX) {
        Some((end, _)) => format!("{}…", whole[..end].trim_end()),
        None => whole,
    }
}
