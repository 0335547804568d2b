//! Calls that code makes: from a Python name and arguments to dispatch, and from the answer to a Python value.

use std::sync::{Arc, Mutex};

use futures::future::BoxFuture;
use onetool_core::sync::Unpoisoned as _;
use onetool_core::{
    CallContext, ContentBlock, JsonObject, Schema, ToolError, ToolOutput, ToolSpec, abbreviate,
    parse_bounded_json, similar_names,
};
use onetool_sandbox::{ExtraContent, Host, HostCall, HostError, HostReply, NameKind};
use serde_json::{Value, json};

use super::arguments::bind;
use super::attachments::Attachments;
use super::python_names::PythonNames;
use super::response::OtAnswers;
use crate::shortcuts::Shortcuts;
use onetool_core::json_size;
use onetool_server::CallError;
use onetool_server::Server;
use onetool_server::catalog::{Catalog, Entry};

/// How many names a hint holds, of those that look alike, were renamed or exist at all.
const MAX_NEAR: usize = 3;
const MAX_RENAMES: usize = 5;
const MAX_LISTED: usize = 50;
/// How many unknown names of one run get a hint, each of which looks through the whole catalog.
const MAX_HINTS: usize = 16;
/// The pack whose answers have a text of their own.
const OT: &str = "ot";
/// The tool whose answers are pages of stored results.
const PAGES: &str = "ot.result";

/// What one run may call, as it was when the run began.
pub(crate) struct Calls {
    server: Server,
    catalog: Arc<Catalog>,
    names: Arc<PythonNames>,
    cx: CallContext,
    told: Mutex<Told>,
}

/// What the calls of a run brought in.
#[derive(Default)]
pub(crate) struct Told {
    pub(crate) ot_answers: OtAnswers,
    pub(crate) attachments: Attachments,
    pub(crate) bytes: usize,
    pub(crate) calls: usize,
    /// Whether a tool of a source was called that the operator does not trust: all that follows may come from it.
    pub(crate) is_untrusted: bool,
}

impl Calls {
    pub(crate) fn new(
        server: Server,
        catalog: Arc<Catalog>,
        names: Arc<PythonNames>,
        cx: CallContext,
    ) -> Self {
        Self { server, catalog, names, cx, told: Mutex::default() }
    }

    /// Takes what the calls brought in.
    pub(crate) fn told(&self) -> Told {
        std::mem::take(&mut *self.told.lock().unpoisoned())
    }

    /// Returns the tool that a name in code stands for; an alias stands for its target.
    pub(crate) fn tool(&self, name: &str) -> Option<&Arc<Entry>> {
        let target = Shortcuts::of(&self.catalog).aliases.resolve(name).unwrap_or(name);
        self.names.tool(&self.catalog, target)
    }

    /// Returns whether a name in code is a pack, a tool or an alias.
    pub(crate) fn knows(&self, name: &str) -> bool {
        self.names.pack(name).is_some() || self.tool(name).is_some()
    }

    /// Makes one call.
    pub(crate) async fn call(&self, call: HostCall) -> Result<HostReply, HostError> {
        let entry = self.tool(&call.name).ok_or_else(|| self.unknown(&call.name))?;
        let spec = entry.spec();
        let raised = |kind: &str, message: String| HostError { kind: kind.to_owned(), message };
        if entry.is_untrusted() {
            self.told.lock().unpoisoned().is_untrusted = true;
        }
        // What may not be called need not be called right, and its signature is nobody's business: dispatch refuses it.
        let args = if self.catalog.rules().policy.shows(&spec.name) {
            bind(spec, call.args, call.kwargs).map_err(|error| raised("TypeError", error.to_string()))?
        } else {
            JsonObject::new()
        };
        let output =
            self.server.call_entry(&self.catalog, entry, args, self.cx.clone()).await.map_err(|error| {
                let kind = match &error {
                    CallError::Invalid { .. } => "TypeError",
                    CallError::Denied { .. } => "PermissionError",
                    CallError::Failed { source: ToolError::Raised { kind, .. }, .. } => kind.as_ref(),
                    _ => "ToolError",
                };
                let message = match &error {
                    CallError::Failed { source: ToolError::Raised { message, .. }, .. } => message.clone(),
                    CallError::Denied { .. } | CallError::Cancelled { .. } | CallError::ShuttingDown => {
                        error.to_string()
                    }
                    _ => format!("{error}; signature: {}", spec.short_signature()),
                };
                raised(kind, message)
            })?;
        let is_ot = spec.name.pack() == Some(OT);
        // What the `ot` pack answers as an error is a text that code can look at; what it raises came as an error above.
        if output.is_error && !is_ot {
            let message =
                format!("{}: {}; signature: {}", spec.name, text_of(&output), spec.short_signature());
            return Err(raised("ToolError", message));
        }
        let text = is_ot.then(|| text_of(&output));
        let attachable = Attachments::of(&output.content);
        let answer = answer_of(output, is_wrapped(spec));
        let mut told = self.told.lock().unpoisoned();
        told.calls += 1;
        told.bytes += json_size(&answer.value);
        told.attachments.extend(attachable);
        if let Some(text) = text {
            told.ot_answers.push(&answer.value, text, spec.name.as_str() == PAGES);
        }
        Ok(answer)
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

    /// Says what somebody may have meant by a name that stands for nothing.
    fn hint(&self, name: &str) -> String {
        let unknown = self.catalog.unknown(name);
        if unknown.renamed_to.is_some() {
            return format!("{}.", capitalized(unknown.hint().trim_start_matches("; ")));
        }
        // Code names a tool of a pack by its parts, and only the first of them is asked for.
        let renames = self.catalog.rules().renames.iter();
        let of_pack = |(old, _): &(&String, &String)| old.split_once('.').is_some_and(|(it, _)| it == name);
        let renamed: Vec<String> =
            renames.filter(of_pack).map(|(old, new)| format!("'{old}' is called '{new}' now")).collect();
        if !renamed.is_empty() {
            return format!("{}.", renamed[..renamed.len().min(MAX_RENAMES)].join(", "));
        }
        let aliases = Shortcuts::of(&self.catalog).aliases.iter().map(|(name, _)| name);
        let near = similar_names(name, self.names.packs().chain(aliases));
        let near: Vec<&str> =
            near.into_iter().chain(unknown.near.iter().map(String::as_str)).take(MAX_NEAR).collect();
        if near.is_empty() {
            "ot.packs() lists the packs, ot.tools() the tools".to_owned()
        } else {
            format!("Did you mean {}? ot.packs() lists the packs", quoted(&near))
        }
    }
}

impl Host for Calls {
    fn names(&self, names: Vec<String>) -> BoxFuture<'_, Vec<NameKind>> {
        // Code may hold thousands of unknown names, and only the first one that runs is told.
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

/// Returns an answer as one clean value: data if there is any, JSON text parsed, else text; other content as it is.
fn answer_of(output: ToolOutput, is_wrapped: bool) -> HostReply {
    if output.structured_content.is_some() {
        return data_of(output, is_wrapped);
    }
    if output.content.is_empty() {
        return Value::Null.into();
    }
    if output.content.iter().all(|block| block.as_text().is_some()) {
        let text = text_of(&output);
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

/// Returns data, with the text and other content next to it unless the text only repeats the data.
fn data_of(mut output: ToolOutput, is_wrapped: bool) -> HostReply {
    let text = text_of(&output);
    let mut value = output.structured_content.take().unwrap_or_default();
    let blocks: Vec<Value> =
        output.content.iter().filter(|block| block.as_text().is_none()).map(|block| json!(block)).collect();
    if is_wrapped
        && let Value::Object(members) = &mut value
        && members.len() == 1
    {
        value = members.shift_remove(WRAPPED).unwrap_or(value);
    }
    let is_repeated =
        text.is_empty() || parse_bounded_json(text.as_bytes()).is_some_and(|data| data == value);
    let extra = (!is_repeated || !blocks.is_empty()).then_some(ExtraContent { text, blocks });
    HostReply { value, extra }
}

/// The key under which FastMCP puts a result that is not an object.
const WRAPPED: &str = "result";

/// Returns whether the tool's library wraps its results, which it says in the schema.
fn is_wrapped(spec: &ToolSpec) -> bool {
    let schema = spec.output_schema.as_ref().map(Schema::peek);
    schema.is_some_and(|schema| schema.get("x-fastmcp-wrap-result") == Some(&Value::Bool(true)))
}

fn text_of(output: &ToolOutput) -> String {
    output.content.iter().filter_map(ContentBlock::as_text).collect::<Vec<_>>().join("\n")
}
