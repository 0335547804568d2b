//! The latest calls, for the page.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use onetool_core::clock::Clock;
use onetool_core::state::StoreError;
use onetool_core::{Caller, ContentBlock, JsonObject, ToolOutput};
use onetool_server::dispatch::{CallError, CallRecord};
use onetool_store::Store;
use onetool_store::store::{self, CallContent, CallFilter, CallWatch, NewCall, PastCall, Surface};
use serde::Serialize;

use super::PAGE;
use super::mask::masked;

/// A call, without its arguments and result.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(super) struct CallSummary {
    pub(super) id: String,
    /// The tool's canonical name.
    pub(super) tool: String,
    /// When it began.
    pub(super) at_ms: u64,
    pub(super) duration_ms: u64,
    pub(super) is_error: bool,
    /// Who made it: `page`, `agent`, `code`.
    pub(super) surface: &'static str,
    /// Whether it is kept when older calls are deleted.
    pub(super) pinned: bool,
}

/// A call with its arguments and result; secrets are masked.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(super) struct RecordedCall {
    #[serde(flatten)]
    pub(super) summary: CallSummary,
    pub(super) arguments: JsonObject,
    /// The result, truncated if it is large.
    pub(super) output: ToolOutput,
}

/// Maximum size of one result in bytes; longer ones are truncated.
const MAX_OUTPUT: usize = 64 * 1024;
/// Maximum size of arguments in bytes.
const MAX_ARGUMENTS: usize = 64 * 1024;

/// Calls with their arguments and results, with secrets masked.
pub(super) struct History {
    is_on: AtomicBool,
    clock: Clock,
    store: Arc<dyn Store>,
}

impl History {
    /// Creates a history that is turned off.
    pub(super) fn new(store: Arc<dyn Store>, clock: Clock) -> Self {
        Self { is_on: AtomicBool::new(false), clock, store }
    }

    pub(super) fn is_on(&self) -> bool {
        self.is_on.load(Ordering::Relaxed)
    }

    pub(super) fn set_on(&self, is_on: bool) {
        self.is_on.store(is_on, Ordering::Relaxed);
    }

    /// Subscribes to the calls of a caller.
    pub(super) fn watch(&self, caller: &Caller) -> CallWatch {
        self.store.watch_calls(caller)
    }

    /// Adds a finished call. Subscribers are always notified; the call is stored only if its arguments were recorded.
    pub(super) fn add(&self, record: &CallRecord<'_>, client: Option<&str>) {
        let surface = match (record.cx.run(), client) {
            (Some(_), _) if record.entry.name().as_str() != "run" => Surface::Code,
            (_, Some(PAGE)) => Surface::Page,
            _ => Surface::Agent,
        };
        let call = NewCall {
            tool: record.entry.name().clone(),
            at: self.clock.now().before(record.duration),
            duration: record.duration,
            is_error: !record.is_success,
            surface,
            content: stored_content(record),
        };
        // Not awaited: a call does not fail because the history does.
        drop(self.store.add_call(record.cx.caller(), call));
    }

    /// Lists calls, newest first, of one tool or of all.
    pub(super) async fn list(
        &self,
        caller: &Caller,
        tool: Option<String>,
        limit: Option<usize>,
    ) -> Result<Vec<CallSummary>, StoreError> {
        let calls = self.store.calls(caller, &CallFilter { tool, limit }).await?;
        Ok(calls.into_iter().map(summary).collect())
    }

    /// Returns a call with its arguments and its result.
    pub(super) async fn get(&self, caller: &Caller, id: &str) -> Result<Option<RecordedCall>, StoreError> {
        Ok(self.store.call(caller, id).await?.map(recorded))
    }

    /// Pins a call, so that it is not deleted to make room for newer ones, or unpins it.
    pub(super) async fn set_pinned(
        &self,
        caller: &Caller,
        id: &str,
        is_pinned: bool,
    ) -> Result<Option<CallSummary>, StoreError> {
        Ok(self.store.pin_call(caller, id, is_pinned).await?.map(summary))
    }

    /// Deletes the calls that are not pinned.
    pub(super) async fn clear(&self, caller: &Caller) -> Result<(), StoreError> {
        self.store.clear_calls(caller).await
    }
}

/// Returns a call as the page shows it.
pub(super) fn summary(call: PastCall) -> CallSummary {
    CallSummary {
        id: call.id,
        tool: call.tool.to_string(),
        at_ms: u64::try_from(call.at.as_millis()).unwrap_or_default(),
        duration_ms: u64::try_from(call.duration.as_millis()).unwrap_or(u64::MAX),
        is_error: call.is_error,
        surface: call.surface.as_str(),
        pinned: call.is_pinned,
    }
}

fn recorded(record: store::CallRecord) -> RecordedCall {
    let CallContent { arguments, output } = record.content;
    RecordedCall { summary: summary(record.call), arguments, output }
}

/// Returns the arguments and result to store, if the arguments were recorded.
fn stored_content(record: &CallRecord<'_>) -> Option<CallContent> {
    let args = record.args.as_ref()?;
    let arguments = if record.args_size <= MAX_ARGUMENTS {
        masked(args, &record.entry.spec().input_schema.peek())
    } else {
        let note = format!("the arguments are too large for the history ({} bytes)", record.args_size);
        [("note".to_owned(), note.into())].into_iter().collect()
    };
    Some(CallContent { arguments, output: stored_output(record.result, record.output_size) })
}

/// Returns the result to store: all of a small one, the start of the text of a large one.
fn stored_output(result: &Result<ToolOutput, CallError>, size: usize) -> ToolOutput {
    let output = match result {
        Err(error) => return ToolOutput::error(error.to_string()),
        Ok(output) if size <= MAX_OUTPUT => return output.clone(),
        Ok(output) => output,
    };
    let mut left = MAX_OUTPUT;
    let mut content: Vec<ContentBlock> = Vec::new();
    for text in output.content.iter().filter_map(ContentBlock::as_text) {
        let end = text.floor_char_boundary(left);
        left -= end;
        if end > 0 {
            content.push(ContentBlock::text(&text[..end]));
        }
    }
    content.push(ContentBlock::text(format!("(truncated: the full result had {size} bytes)")));
    ToolOutput { is_error: output.is_error, ..content.into() }
}
