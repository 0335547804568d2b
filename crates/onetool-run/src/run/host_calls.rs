//! Tool calls from code: resolves Python names, dispatches calls and converts results to Python values.

use std::sync::{Arc, Mutex};

use futures::future::BoxFuture;
use onetool_core::sync::Unpoisoned as _;
use onetool_core::{
    CallContext, ContentBlock, JsonObject, Schema, ToolError, ToolOutput, ToolSpec, abbreviate, json_size,
    parse_bounded_json, similar_names,
};
use onetool_sandbox::{ExtraContent, Host, HostCall, HostError, HostReply, NameKind};
use onetool_server::catalog::{Catalog, Entry};
use onetool_server::{CallError, Server};
use serde_json::{Value, json};

use super::arguments::{ArgumentsError, bind, take_response};
use super::attachments::Attachments;
use super::python_names::PythonNames;
use super::response::OtResults;
use crate::shortcuts::Shortcuts;

/// Maximum number of names in a hint: similar names, renamed tools, and tools of a pack.
const MAX_NEAR: usize = 3;
const MAX_RENAMES: usize = 5;
const MAX_LISTED: usize = 50;
/// Maximum number of unknown names per run that get a hint; each hint searches the whole catalog.
const MAX_HINTS: usize = 16;
/// The pack whose results have their own text form.
const OT: &str = "ot";
/// The tool that returns pages of stored results.
const OT_RESULT: &str = "ot.result";

/// The tools that a run can call: a snapshot from when the run started.
pub(crate) struct HostCalls {
    server: Server,
    catalog: Arc<Catalog>,
    names: Arc<PythonNames>,
    cx: CallContext,
    summary: Mutex<CallSummary>,
}

/// What the calls of a run returned.
#[derive(Default)]
pub(crate) struct CallSummary {
    pub(crate) ot_results: OtResults,
    pub(crate) attachments: Attachments,
    pub(crate) bytes: usize,
    pub(crate) calls: usize,
    /// Whether a tool of an untrusted source was called. If so, the run's output may contain its content.
    pub(crate) is_untrusted: bool,
}

impl HostCalls {
    pub(crate) fn new(
        server: Server,
        catalog: Arc<Catalog>,
        names: Arc<PythonNames>,
        cx: CallContext,
    ) -> Self {
        Self { server, catalog, names, cx, summary: Mutex::default() }
    }

    /// Takes the summary of the calls so far.
    pub(crate) fn take_summary(&self) -> CallSummary {
        std::mem::take(&mut *self.summary.lock().unpoisoned())
    }

    /// Returns the tool that a name in code refers to, directly or through an alias.
    pub(crate) fn tool(&self, name: &str) -> Option<&Arc<Entry>> {
        let target = Shortcuts::of(&self.catalog).aliases.resolve(name).unwrap_or(name);
        self.names.tool(&self.catalog, target)
    }

    /// Returns whether a name in code is a pack, a tool or an alias.
    pub(crate) fn knows(&self, name: &str) -> bool {
        self.names.pack(name).is_some() || self.tool(name).is_some()
    }

    /// Calls a tool.
    pub(crate) async fn call(&self, call: HostCall) -> Result<HostReply, HostError> {
        let entry = self.tool(&call.name).ok_or_else(|| self.unknown(&call.name))?;
        let spec = entry.spec();
        let raised = |kind: &str, message: String| HostError { kind: kind.to_owned(), message };
        if entry.is_untrusted() {
            self.summary.lock().unpoisoned().is_untrusted = true;
        }
        // A denied tool gets no arguments: dispatch refuses the call, and a binding error would reveal its signature.
        let mut cx = self.cx.clone();
        let args = if self.catalog.rules().policy.shows(&spec.name) {
            let type_error = |error: ArgumentsError| raised("TypeError", error.to_string());
            let mut kwargs = call.kwargs;
            if take_response(entry, &mut kwargs).map_err(type_error)? {
                cx = cx.with_full_response();
            }
            bind(spec, call.args, kwargs).map_err(type_error)?
        } else {
            JsonObject::new()
        };
        let output = self.server.call_entry(&self.catalog, entry, args, cx).await.map_err(|error| {
            let kind = match &error {
                CallError::Invalid { .. } => "TypeError",
                CallError::Denied { .. } => "PermissionError",
                CallError::Failed { error: ToolError::Raised { kind, .. }, .. } => kind.as_ref(),
                _ => "ToolError",
            };
            let message = match &error {
                CallError::Failed { error: ToolError::Raised { message, .. }, .. } => message.clone(),
                CallError::Denied { .. } | CallError::Cancelled { .. } | CallError::ShuttingDown => {
                    error.to_string()
                }
                _ => format!("{error}; signature: {}", spec.short_signature()),
            };
            raised(kind, message)
        })?;
        let is_ot = spec.name.pack() == Some(OT);
        // The `ot` pack returns some errors as text that code can inspect. Those that it raises were handled above.
        if output.is_error && !is_ot {
            let message =
                format!("{}: {}; signature: {}", spec.name, joined_text(&output), spec.short_signature());
            return Err(raised("ToolError", message));
        }
        let text = is_ot.then(|| joined_text(&output));
        let attachable = Attachments::attachable(&output.content);
        let reply = to_reply(output, is_wrapped(spec));
        let mut summary = self.summary.lock().unpoisoned();
        summary.calls += 1;
        summary.bytes += json_size(&reply.value);
        summary.attachments.extend(attachable);
        if let Some(text) = text {
            summary.ot_results.push(&reply.value, text, spec.name.as_str() == OT_RESULT);
        }
        Ok(reply)
    }

    fn unknown(&self, name: &str) -> HostError {
        let raised = |kind: &str, message| HostError { kind: kind.to_owned(), message };
        let unknown = self.catalog.unknown(name);
        let Some((pack, tool)) = name.split_once('.') else {
            return raised("NameError", unknown.to_string());
        };
        let (pack, tool) = (abbreviate(pack), abbreviate(tool));
        let tools: Vec<&str> = self
            .catalog
            .tools()
            .filter(|entry| entry.name().pack() == self.names.pack(&pack))
            .map(|entry| entry.name().tool())
            .collect();
        let near = similar_names(&tool, tools.iter().copied());
        let hint = if unknown.renamed_to.is_some() {
            unknown.hint()
        } else if near.is_empty() {
            let more = if tools.len() > MAX_LISTED { ", …" } else { "" };
            format!("; it has: {}{more}", tools[..tools.len().min(MAX_LISTED)].join(", "))
        } else {
            format!("; did you mean {}?", quoted(&near))
        };
        raised("AttributeError", format!("pack '{pack}' has no tool '{tool}'{hint}"))
    }

    fn kind(&self, name: &str) -> Option<NameKind> {
        if self.names.pack(name).is_some() {
            return Some(NameKind::Pack);
        }
        self.tool(name).map(|_| NameKind::Tool)
    }

    /// Returns a hint for an unknown name: the new name, similar names, or where to look.
    fn hint(&self, name: &str) -> String {
        let unknown = self.catalog.unknown(name);
        if unknown.renamed_to.is_some() {
            return format!("{}.", capitalized(unknown.hint().trim_start_matches("; ")));
        }
        // In `pack.tool`, Python looks up only `pack`, so renamed tools of a pack are found by its name.
        let renames = self.catalog.rules().renames.iter();
        let is_in_pack =
            |(old, _): &(&String, &String)| old.split_once('.').is_some_and(|(pack, _)| pack == name);
        let renamed: Vec<String> =
            renames.filter(is_in_pack).map(|(old, new)| format!("'{old}' was renamed to '{new}'")).collect();
        if !renamed.is_empty() {
            return format!("{}.", renamed[..renamed.len().min(MAX_RENAMES)].join(", "));
        }
        let aliases = Shortcuts::of(&self.catalog).aliases.iter().map(|(name, _)| name);
        let near = similar_names(name, self.names.packs().chain(aliases));
        let near: Vec<&str> =
            near.into_iter().chain(unknown.similar.iter().map(String::as_str)).take(MAX_NEAR).collect();
        if near.is_empty() {
            "ot.packs() lists packs, ot.tools() lists tools".to_owned()
        } else {
            format!("Did you mean {}? ot.packs() lists packs", quoted(&near))
        }
    }
}

impl Host for HostCalls {
    fn names(&self, names: Vec<String>) -> BoxFuture<'_, Vec<NameKind>> {
        // Code may contain thousands of unknown names, but only the first one that runs is reported.
        let mut hints_left = MAX_HINTS;
        let mut unknown = move |name: &str| {
            hints_left = hints_left.saturating_sub(1);
            NameKind::Unknown { hint: (hints_left > 0).then(|| self.hint(name)) }
        };
        Box::pin(async move {
            names.iter().map(|name| self.kind(name).unwrap_or_else(|| unknown(name))).collect()
        })
    }

    fn call(&self, call: HostCall) -> BoxFuture<'_, Result<HostReply, HostError>> {
        Box::pin(self.call(call))
    }
}

fn quoted(names: &[&str]) -> String {
    names.iter().map(|name| format!("'{name}'")).collect::<Vec<_>>().join(" or ")
}

fn capitalized(text: &str) -> String {
    let mut characters = text.chars();
    characters.next().map(|first| first.to_uppercase().chain(characters).collect()).unwrap_or_default()
}

/// Converts a tool's output to one value: structured content if there is any, else parsed JSON, else text. Other
/// content is passed on as content blocks.
fn to_reply(output: ToolOutput, is_wrapped: bool) -> HostReply {
    if output.structured_content.is_some() {
        return structured_reply(output, is_wrapped);
    }
    if output.content.is_empty() {
        return Value::Null.into();
    }
    if output.content.iter().all(|block| block.as_text().is_some()) {
        let text = joined_text(&output);
        return match parse_bounded_json(text.as_bytes()) {
            Some(data @ (Value::Object(_) | Value::Array(_))) => data.into(),
            _ => Value::from(text).into(),
        };
    }
    match output.content.as_slice() {
        [block] => json!(block).into(),
        blocks => json!(blocks).into(),
    }
}

/// Converts an output with structured content. Its text and other content come along, unless the text only repeats the
/// data.
fn structured_reply(mut output: ToolOutput, is_wrapped: bool) -> HostReply {
    let text = joined_text(&output);
    let mut value = output.structured_content.take().unwrap_or_default();
    let blocks: Vec<Value> =
        output.content.iter().filter(|block| block.as_text().is_none()).map(|block| json!(block)).collect();
    if is_wrapped
        && let Value::Object(members) = &mut value
        && members.len() == 1
    {
        value = members.shift_remove(WRAPPER_KEY).unwrap_or(value);
    }
    let is_repeated =
        text.is_empty() || parse_bounded_json(text.as_bytes()).is_some_and(|data| data == value);
    let extra = (!is_repeated || !blocks.is_empty()).then_some(ExtraContent { text, blocks });
    HostReply { value, extra }
}

/// The key under which FastMCP returns a result that is not an object.
const WRAPPER_KEY: &str = "result";

/// Returns whether FastMCP wraps the tool's results, as its output schema says.
fn is_wrapped(spec: &ToolSpec) -> bool {
    let schema = spec.output_schema.as_ref().map(Schema::peek);
    schema.is_some_and(|schema| schema.get("x-fastmcp-wrap-result") == Some(&Value::Bool(true)))
}

fn joined_text(output: &ToolOutput) -> String {
    output.content.iter().filter_map(ContentBlock::as_text).collect::<Vec<_>>().join("\n")
}
