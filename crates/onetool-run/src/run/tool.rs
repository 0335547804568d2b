//! The `run` tool, and the runner that executes its code.

use std::sync::Arc;
use std::time::{Duration, Instant};

use onetool_core::current::Current;
use onetool_core::{CallContext, ContentBlock, Tool, ToolAnnotations, ToolOutput, tool_fn};
use onetool_sandbox::{Completion, HostCall, HostError, Input, Limits, Outcome, Program, RunError, Sandbox};
use onetool_server::{Server, WeakServer, sanitize};
use onetool_store::results::{ResultBody, ResultStore, cut};
use onetool_store::stats::{self, Event, RunId, Stats};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use super::host_calls::{CallSummary, HostCalls};
use super::python_names::{NamesCache, is_builtin};
use super::response::{self, Response};
use super::{literal, source};
use crate::options::RunOptions;
use crate::shortcuts::{Shortcuts, SnippetCall};

const DESCRIPTION: &str = "\
Runs Python in a sandbox where every tool is a function: `pack.tool(arg=value)`. Returns the value of the last \
expression. Call several tools in one run, filter and combine their results, and return only what matters. \
`ot.help(query='…')` finds tools, `ot.packs()` lists packs, `ot.tools(pattern='…', info='full')` shows signatures. \
Use asyncio.gather to run calls concurrently. `$name key=value` runs a snippet. Large results are stored; read them \
with `ot.result(handle=…)`.";

/// Maximum length, in characters, of the reason that is shown before the handle of a failed run's output.
const MAX_REASON: usize = 200;

const SERVER_STOPPED: &str = "the server has stopped";

#[derive(Deserialize, JsonSchema)]
struct Arguments {
    /// Python code, one tool call, or `$snippet key=value`.
    command: String,
}

/// Runs code, with the state that all runs share.
pub(crate) struct Runner {
    pub(crate) server: WeakServer,
    pub(crate) sandbox: Sandbox,
    pub(crate) results: ResultStore,
    pub(crate) stats: Stats,
    pub(crate) names: NamesCache,
    /// The limits, which each run reads when it starts, so that a reload takes effect.
    pub(crate) options: Current<RunOptions>,
}

/// Creates the `run` tool.
pub(crate) fn run_tool(runner: Arc<Runner>) -> impl Tool {
    let annotations = ToolAnnotations {
        read_only_hint: Some(false),
        destructive_hint: Some(false),
        open_world_hint: Some(true),
        idempotent_hint: None,
    };
    tool_fn("run", DESCRIPTION, move |args: Arguments, cx: CallContext| {
        let runner = runner.clone();
        async move { runner.run(&args.command, cx).await }
    })
    .annotations(annotations)
}

/// The output of a run, before large text is stored.
struct RunOutput {
    text: String,
    /// Images and other content that the text refers to.
    attached: Vec<ContentBlock>,
    is_error: bool,
    /// Whether to mark the whole output as external content.
    sanitize: bool,
    /// Whether it is a page of a stored result, which is never stored again.
    is_page: bool,
}

impl RunOutput {
    fn error(text: String) -> Self {
        Self { text, attached: Vec::new(), is_error: true, sanitize: false, is_page: false }
    }
}

impl Runner {
    async fn run(&self, command: &str, cx: CallContext) -> ToolOutput {
        let started = Instant::now();
        let id = RunId::new();
        let Some(server) = self.server.upgrade() else { return ToolOutput::error(SERVER_STOPPED) };
        let (output, summary) = match code(&server, command) {
            Ok(code) => self.execute(server, &code, cx.clone().with_run(id.get())).await,
            Err(message) => (RunOutput::error(message), CallSummary::default()),
        };
        let is_error = output.is_error;
        // The size and hash identify the code without logging its content.
        tracing::info!(
            code_size = command.len(),
            code_hash = format_args!("{:016x}", response::hash(command)),
            calls = summary.calls,
            "run"
        );
        let output = self.finish(output, &cx).await;
        let size = |bytes: usize| u64::try_from(bytes).unwrap_or(u64::MAX);
        self.stats.record(Event::Run {
            id,
            client: cx.client().name,
            duration: started.elapsed(),
            code_size: size(command.len()),
            output_size: size(output.content.iter().filter_map(|it| it.as_text()).map(str::len).sum()),
            inner_calls: size(summary.calls),
            inner_bytes: size(summary.bytes),
            outcome: if is_error { stats::Outcome::Failure } else { stats::Outcome::Success },
        });
        output
    }

    async fn execute(&self, server: Server, code: &str, cx: CallContext) -> (RunOutput, CallSummary) {
        let calls = self.host_calls(server, cx);
        let result = match literal::parse_call(code).filter(|call| is_tool(&calls, &call.name)) {
            Some(call) => {
                let line = call.line;
                let call = HostCall { name: call.name, args: call.args, kwargs: call.kwargs };
                let reply = calls.call(call).await;
                reply
                    .map(|reply| outcome_from_value(&reply.value))
                    .map_err(|HostError { kind, message }| response::exception(&kind, &message, Some(line)))
            }
            None => {
                let program = Program {
                    source: code.to_owned(),
                    file_name: "run.py".to_owned(),
                    input: Input::Nothing,
                    depth: 0,
                };
                let outcome = self.sandbox.run(program, &self.limits(), calls.clone()).await;
                outcome.map_err(|error| response::from_error(&error))
            }
        };
        let summary = calls.take_summary();
        (run_output(result, &summary, code), summary)
    }

    fn host_calls(&self, server: Server, cx: CallContext) -> Arc<HostCalls> {
        let catalog = server.catalog();
        let names = self.names.get(&catalog);
        Arc::new(HostCalls::new(server, catalog, names, cx))
    }

    /// Runs the code of a tool written in Python, for one call.
    pub(super) async fn execute_program(
        &self,
        program: Program,
        timeout: Option<Duration>,
        cx: CallContext,
    ) -> Result<Outcome, RunError> {
        let Some(server) = self.server.upgrade() else {
            return Err(RunError::Unavailable { reason: SERVER_STOPPED.into() });
        };
        // The code may call any tool, so wait until the sources are connected.
        server.settle().await;
        let calls = self.host_calls(server, cx);
        let mut limits = self.limits();
        limits.time = timeout.unwrap_or(limits.time);
        self.sandbox.run(program, &limits, calls).await
    }

    fn limits(&self) -> Limits {
        let options = self.options.get();
        Limits {
            time: *options.timeout,
            memory_bytes: options.memory_bytes(),
            max_calls: options.max_calls,
            max_parallel: u32::try_from(options.max_parallel.get()).unwrap_or(u32::MAX),
            max_print_bytes: options.max_print,
            max_result_bytes: options.max_result,
            max_buffer_bytes: options.max_buffer,
            require_complete_cage: options.require_cage,
        }
    }

    /// Returns a small result inline and stores a large one.
    async fn finish(&self, output: RunOutput, cx: &CallContext) -> ToolOutput {
        let RunOutput { text, attached, is_error, sanitize, is_page } = output;
        let shown = if text.len() <= self.results.options().max_inline_size || is_page {
            Ok(text)
        } else {
            // The error is at the end, after the printed text. Show it next to the handle.
            let reason = is_error.then(|| cut(text.lines().last().unwrap_or_default(), MAX_REASON) + "\n");
            let reason = reason.unwrap_or_default();
            let stored = self.results.put(cx.caller(), ResultBody::Text(text)).await;
            stored.map(|stored| format!("{reason}{}", stored.answer())).map_err(|error| {
                format!("{reason}the result is too large to show and cannot be stored: {error}")
            })
        };
        let marked = |text: String| if sanitize { sanitize::wrap(&text) } else { text };
        let mut output = match shown {
            Ok(text) => ToolOutput { is_error, ..ToolOutput::text(marked(text)) },
            Err(text) => ToolOutput::error(marked(text)),
        };
        let attached = attached.into_iter();
        output.content.extend(attached.map(|it| if sanitize { sanitize::marked_block(it) } else { it }));
        output
    }
}

/// Builds the output of a run from its result.
fn run_output(result: Result<Outcome, String>, summary: &CallSummary, code: &str) -> RunOutput {
    let is_untrusted = summary.is_untrusted;
    match result {
        // The value of `__sanitize__` is lost when a run fails, so the output is sanitized if the code mentions it:
        // printed text and a tool's error message come from outside as much as a value does.
        Err(text) => {
            let (text, attached) = summary.attachments.extract_from_text(text);
            let sanitize = is_untrusted || code.contains("__sanitize__");
            RunOutput { attached, sanitize, ..RunOutput::error(text) }
        }
        Ok(outcome) => {
            let sanitize = is_untrusted || outcome.sanitize;
            match response::from_outcome(outcome, &summary.ot_results, &summary.attachments) {
                Err(error) => RunOutput { sanitize: is_untrusted, ..RunOutput::error(error.to_string()) },
                Ok(Response { text, attached, is_error, is_page }) => {
                    RunOutput { text, attached, is_error, sanitize, is_page }
                }
            }
        }
    }
}

/// Extracts the code from a command and expands a snippet.
pub(crate) fn code(server: &Server, command: &str) -> Result<String, String> {
    let code = source::extract_code(command);
    if !code.trim_start().starts_with('$') {
        return Ok(code);
    }
    let catalog = server.catalog();
    SnippetCall::parse(code.trim_start())
        .and_then(|call| Shortcuts::of(&catalog).snippets.expand(&call))
        .map_err(|error| error.to_string())
}

fn is_tool(calls: &HostCalls, name: &str) -> bool {
    let root = name.split('.').next().unwrap_or(name);
    !is_builtin(root) && (name.contains('.') || calls.tool(name).is_some()) && calls.knows(root)
}

fn outcome_from_value(value: &Value) -> Outcome {
    Outcome {
        printed: String::new(),
        value: Completion::Value(value.to_string()),
        format: None,
        sanitize: false,
        calls: 1,
    }
}
