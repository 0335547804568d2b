//! The latest calls, kept in memory for the page.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};

use onetool_core::sync::Unpoisoned as _;
use onetool_core::{Caller, ContentBlock, JsonObject, ToolOutput};
use onetool_server::dispatch::{CallError, CallRecord};
use serde::Serialize;
use tokio::sync::broadcast;

use super::PAGE;
use super::mask::masked;
use onetool_core::clock::Clock;

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
    /// Who made it: `page`, `agent`, `code`, `cli`.
    pub(super) surface: String,
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

/// How many calls are kept, and how many more that somebody has pinned.
const MAX_CALLS: usize = 500;
const MAX_PINNED: usize = 100;
/// Bytes of one result that are kept.
const MAX_OUTPUT: usize = 64 * 1024;
/// Bytes of arguments that are kept.
const MAX_ARGUMENTS: usize = 64 * 1024;
/// News that a listener may be behind before it misses some.
const BACKLOG: usize = 256;

/// Calls with what went in and came out, secrets masked; the newest last.
pub(super) struct History {
    is_on: AtomicBool,
    next: AtomicU64,
    clock: Clock,
    calls: Mutex<VecDeque<Call>>,
    news: broadcast::Sender<FinishedCall>,
}

struct Call {
    owner: Arc<str>,
    record: RecordedCall,
}

/// A call that has ended, and whose it was.
#[derive(Clone)]
pub(super) struct FinishedCall {
    pub(super) owner: Arc<str>,
    pub(super) call: CallSummary,
}

impl History {
    /// Keeps nothing before it is switched on.
    pub(super) fn new(clock: Clock) -> Self {
        Self {
            is_on: AtomicBool::new(false),
            next: AtomicU64::new(1),
            clock,
            calls: Mutex::default(),
            news: broadcast::Sender::new(BACKLOG),
        }
    }

    pub(super) fn is_on(&self) -> bool {
        self.is_on.load(Ordering::Relaxed)
    }

    pub(super) fn set_on(&self, is_on: bool) {
        self.is_on.store(is_on, Ordering::Relaxed);
    }

    pub(super) fn subscribe(&self) -> broadcast::Receiver<FinishedCall> {
        self.news.subscribe()
    }

    /// Takes a call that has ended.
    pub(super) fn saw(&self, record: &CallRecord<'_>) {
        if record.args.is_none() && self.news.receiver_count() == 0 {
            return;
        }
        let surface = match (record.cx.run(), record.cx.client().name.as_deref()) {
            (Some(_), _) if record.entry.name().as_str() != "run" => "code",
            (_, Some(PAGE)) => "page",
            _ => "agent",
        };
        let millis = |number: i64| u64::try_from(number).unwrap_or_default();
        let summary = CallSummary {
            id: self.next.fetch_add(1, Ordering::Relaxed).to_string(),
            tool: record.entry.name().to_string(),
            at_ms: millis(self.clock.now().before(record.duration).as_millis()),
            duration_ms: u64::try_from(record.duration.as_millis()).unwrap_or(u64::MAX),
            is_error: !record.is_success,
            surface: surface.to_owned(),
            pinned: false,
        };
        let owner = record.cx.caller().principal.clone();
        if let Some(args) = &record.args {
            let arguments = if record.args_size <= MAX_ARGUMENTS {
                masked(args, &record.entry.spec().input_schema.peek())
            } else {
                let note = format!("{} bytes of arguments are too many to keep", record.args_size);
                [("note".to_owned(), note.into())].into_iter().collect()
            };
            let output = kept_output(record.result, record.output_size);
            let record = RecordedCall { summary: summary.clone(), arguments, output };
            self.keep(Call { owner: owner.clone(), record });
        }
        // Nobody may be listening, which is fine.
        let _ = self.news.send(FinishedCall { owner, call: summary });
    }

    fn keep(&self, call: Call) {
        let mut calls = self.lock();
        calls.push_back(call);
        let pinned = calls.iter().filter(|call| call.record.summary.pinned).count();
        if calls.len() - pinned > MAX_CALLS
            && let Some(oldest) = calls.iter().position(|call| !call.record.summary.pinned)
        {
            calls.remove(oldest);
        }
    }

    /// Lists calls, newest first, of one tool or of all.
    pub(super) fn list(&self, caller: &Caller, tool: Option<&str>, limit: Option<usize>) -> Vec<CallSummary> {
        let calls = self.lock();
        let is_wanted = |call: &&Call| {
            call.owner == caller.principal && tool.is_none_or(|tool| tool == call.record.summary.tool)
        };
        let wanted = calls.iter().rev().filter(is_wanted).map(|call| call.record.summary.clone());
        wanted.take(limit.unwrap_or(usize::MAX)).collect()
    }

    /// Returns a call with its arguments and its result.
    pub(super) fn get(&self, caller: &Caller, id: &str) -> Option<RecordedCall> {
        let calls = self.lock();
        calls.iter().find(|call| call.is(caller, id)).map(|call| call.record.clone())
    }

    /// Keeps a call when older ones go, or lets it go again. Where too many are kept so, none more is.
    pub(super) fn set_pinned(&self, caller: &Caller, id: &str, pinned: bool) -> Option<CallSummary> {
        let mut calls = self.lock();
        let has_room = calls.iter().filter(|call| call.record.summary.pinned).count() < MAX_PINNED;
        let call = calls.iter_mut().find(|call| call.is(caller, id))?;
        call.record.summary.pinned = pinned && (has_room || call.record.summary.pinned);
        Some(call.record.summary.clone())
    }

    /// Forgets what is not pinned.
    pub(super) fn clear(&self, caller: &Caller) {
        self.lock().retain(|call| call.owner != caller.principal || call.record.summary.pinned);
    }

    fn lock(&self) -> MutexGuard<'_, VecDeque<Call>> {
        self.calls.lock().unpoisoned()
    }
}

impl Call {
    fn is(&self, caller: &Caller, id: &str) -> bool {
        self.owner == caller.principal && self.record.summary.id == id
    }
}

/// Returns what is kept of a result: all of a small one, the beginning of the text of a large one.
fn kept_output(result: &Result<ToolOutput, CallError>, size: usize) -> ToolOutput {
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
    content.push(ContentBlock::text(format!("({size} bytes in all; the rest is not kept in the history)")));
    ToolOutput { is_error: output.is_error, ..content.into() }
}
