//! Converts between our types and those of the SDK.

#![expect(deprecated, reason = "older revisions still have logging")]

use std::collections::BTreeMap;

use onetool_core::{
    ContentBlock, InputRequest, JsonObject, LogLevel, Prompt, PromptMessage, Resource, ResourceContents,
    Role, ToolAnnotations, ToolOutput,
};
use rmcp::model::{self, CallToolResult, InputRequests, ListToolsResult, LoggingLevel};
use serde::Serialize;
use serde_json::{Value, json};

use super::verbatim;
use crate::catalog::{Catalog, Entry};

pub(super) fn tool(catalog: &Catalog, entry: &Entry) -> model::Tool {
    let spec = entry.spec();
    let description = catalog.description(entry).to_owned();
    let mut tool = model::Tool::new(entry.flat_name().to_owned(), description, entry.listed_schema().clone());
    tool.title.clone_from(&spec.title);
    // Output that is marked as external content is text, whatever the schema says.
    tool.output_schema = if entry.is_untrusted() { None } else { entry.listed_output().cloned() };
    tool.annotations = spec.annotations.filter(|it| !it.is_empty()).map(annotations);
    tool.meta = spec.meta.clone().map(model::MetaObject);
    tool
}

fn annotations(hints: ToolAnnotations) -> model::ToolAnnotations {
    let ToolAnnotations { read_only_hint, destructive_hint, idempotent_hint, open_world_hint } = hints;
    model::ToolAnnotations::from_raw(None, read_only_hint, destructive_hint, idempotent_hint, open_world_hint)
}

/// A tool in the list, with keys that the SDK's type has no fields for.
#[derive(Serialize)]
pub(super) struct ListedTool {
    #[serde(flatten)]
    tool: model::Tool,
    #[serde(flatten)]
    extra: JsonObject,
}

impl ListedTool {
    pub(super) fn new(catalog: &Catalog, entry: &Entry) -> Self {
        let (mut tool, extra) = (tool(catalog, entry), entry.spec().extra.clone());
        if extra.contains_key("annotations") {
            tool.annotations = None;
        }
        Self { tool, extra }
    }
}

/// Creates a page of the tool list.
pub(super) fn list(page: Vec<ListedTool>, next: Option<String>) -> ListToolsResult {
    let is_plain = page.iter().all(|it| it.extra.is_empty());
    if is_plain {
        let mut result = ListToolsResult::with_all_items(page.into_iter().map(|it| it.tool).collect());
        result.next_cursor = next;
        return result;
    }
    let mut list = json!({"tools": page});
    if let Some(next) = next {
        list["nextCursor"] = next.into();
    }
    let mut result = ListToolsResult::with_all_items(Vec::new());
    result.meta = Some(verbatim::carry(&list));
    result
}

/// Creates the result of a call. Older revisions do not allow data that is not an object, so it is removed for them; the
/// content has the same data.
pub(super) fn output(mut output: ToolOutput, allows_any_data: bool) -> CallToolResult {
    output.structured_content = output.structured_content.filter(|data| allows_any_data || data.is_object());
    let mut result = CallToolResult::success(Vec::new());
    result.is_error = Some(output.is_error);
    if output.content.iter().all(ContentBlock::is_plain) {
        result.content = output.content.into_iter().map(content).collect();
        result.structured_content = output.structured_content;
        result.meta = output.meta.map(model::MetaObject);
    } else {
        result.meta = Some(verbatim::carry(&json!(output)));
    }
    result
}

/// Converts a block. Keys that the SDK has no fields for are dropped; a type that it does not know becomes JSON text.
fn content(block: ContentBlock) -> model::ContentBlock {
    match block {
        ContentBlock::Text { text, extra } if extra.is_empty() => model::ContentBlock::text(text),
        other => {
            let json = json!(other);
            serde_json::from_value(json.clone())
                .unwrap_or_else(|_| model::ContentBlock::text(json.to_string()))
        }
    }
}

pub(super) fn contents(contents: ResourceContents) -> model::ResourceContents {
    let ResourceContents { uri, mime_type, text, blob, mut extra } = contents;
    let meta = match extra.shift_remove("_meta") {
        Some(Value::Object(meta)) => Some(model::MetaObject(meta)),
        _ => None,
    };
    match blob {
        Some(blob) => model::ResourceContents::BlobResourceContents { uri, mime_type, blob, meta },
        None => {
            let text = text.unwrap_or_default();
            model::ResourceContents::TextResourceContents { uri, mime_type, text, meta }
        }
    }
}

pub(super) fn resource(resource: &dyn Resource) -> model::Resource {
    let spec = resource.spec();
    let mut listed = model::Resource::new(spec.uri.as_str(), &spec.name);
    listed.title.clone_from(&spec.title);
    listed.description.clone_from(&spec.description);
    listed.mime_type.clone_from(&spec.mime_type);
    listed
}

pub(super) fn template(resource: &dyn Resource) -> model::ResourceTemplate {
    let spec = resource.spec();
    let mut listed = model::ResourceTemplate::new(spec.uri.as_str(), &spec.name);
    listed.title.clone_from(&spec.title);
    listed.description.clone_from(&spec.description);
    listed.mime_type.clone_from(&spec.mime_type);
    listed
}

pub(super) fn prompt(prompt: &dyn Prompt) -> model::Prompt {
    let spec = prompt.spec();
    let arguments = spec.arguments.iter().map(|argument| {
        let mut listed = model::PromptArgument::new(&argument.name);
        listed.description.clone_from(&argument.description);
        listed.required = Some(argument.required);
        listed
    });
    let arguments = (!spec.arguments.is_empty()).then(|| arguments.collect());
    let mut listed = model::Prompt::new(&spec.name, spec.description.as_deref(), arguments);
    listed.title.clone_from(&spec.title);
    listed
}

pub(super) fn message(message: PromptMessage) -> model::PromptMessage {
    let role = match message.role {
        Role::User => model::Role::User,
        Role::Assistant => model::Role::Assistant,
    };
    model::PromptMessage::new(role, content(message.content))
}

/// Converts requests for input; an invalid one is logged and skipped.
pub(super) fn input_requests(asked: BTreeMap<String, InputRequest>) -> InputRequests {
    let mut requests = BTreeMap::new();
    for (key, InputRequest { kind, params }) in asked {
        let mut request = json!({"method": kind.method()});
        if !params.is_empty() {
            request["params"] = Value::Object(params);
        }
        match serde_json::from_value(request) {
            Ok(request) => {
                requests.insert(key, request);
            }
            Err(error) => {
                tracing::error!(key, %error, "a handler sent an invalid request to the client");
            }
        }
    }
    requests
}

pub(super) fn log_level(level: LoggingLevel) -> LogLevel {
    match level {
        LoggingLevel::Debug => LogLevel::Debug,
        LoggingLevel::Info => LogLevel::Info,
        LoggingLevel::Notice => LogLevel::Notice,
        LoggingLevel::Warning => LogLevel::Warning,
        LoggingLevel::Error => LogLevel::Error,
        LoggingLevel::Critical => LogLevel::Critical,
        LoggingLevel::Alert => LogLevel::Alert,
        LoggingLevel::Emergency => LogLevel::Emergency,
    }
}

pub(super) fn logging_level(level: LogLevel) -> LoggingLevel {
    match level {
        LogLevel::Debug => LoggingLevel::Debug,
        LogLevel::Info => LoggingLevel::Info,
        LogLevel::Notice => LoggingLevel::Notice,
        LogLevel::Warning => LoggingLevel::Warning,
        LogLevel::Error => LoggingLevel::Error,
        LogLevel::Critical => LoggingLevel::Critical,
        LogLevel::Alert => LoggingLevel::Alert,
        LogLevel::Emergency => LoggingLevel::Emergency,
    }
}
