//! The tool itself: one argument, `command`.

use std::sync::Arc;
use std::time::{Duration, Instant};

use onetool_core::{CallContext, ContentBlock, Tool, ToolAnnotations, ToolOutput, tool_fn};
use onetool_sandbox::{Completion, HostCall, HostError, Input, Limits, Outcome, Program, RunError, Sandbox};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use super::host_calls::{Calls, Told};
use super::python_names::{NamesCache, is_builtin};
use super::response::{self, Answer};
use super::{literal, source};
use crate::options::RunOptions;
use crate::shortcuts::{Shortcuts, SnippetCall, SnippetError};
use onetool_core::current::Current;
use onetool_server::sanitize;
use onetool_server::{Server, WeakServer};
use onetool_store::results::{ResultBody, ResultStore, cut};
use onetool_store::stats::{self, Event, RunId, Stats};

const DESCRIPTION: &str = "\
Runs Python in a sandbox where every tool is a function: `pack.tool(arg=value)`. The value of the last expression comes \
back. Call several tools in one run, filter and combine their answers, and return only what matters. \
`ot.help(query='…')` finds tools, `ot.packs()` lists packs, `ot.tools(pattern='…', info='full')` shows signatures. \
Calls can run side by side with asyncio.gather. `$name key=value` runs a snippet. Large results come back as a handle \
for `ot.result(handle=…)`.";

/// Longest reason, in characters, that stands before the handle of a failed run's output.
const MAX_REASON: usize = 200;

#[derive(Deserialize, JsonSchema)]
struct Arguments {
    /// Python code, one tool call, or `$snippet key=value`.
    command: String,
}

/// What every run needs.
pub(crate) struct Runner {
    pub(crate) server: WeakServer,
    pub(crate) sandbox: Sandbox,
    pub(crate) results: ResultStore,
    pub(crate) stats: Stats,
    pub(crate) names: NamesCache,
    /// The limits; every run reads them, so a reload changes them.
    pub(crate) options: Current<RunOptions>,
}

/// Makes the `run` tool.
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

/// How a run ended: its text, and whether that is bad news.
struct Ending {
    text: String,
    /// What the text speaks of and cannot say.
    attached: Vec<ContentBlock>,
    is_error: bool,
    /// Whether all that the client gets of it is marked as coming from outside.
    sanitize: bool,
    /// Whether it is a page of a stored result, which is not stored once more: it is as small as it can be.
    is_page: bool,
}

impl Ending {
    fn error(text: String) -> Self {
        Self { text, attached: Vec::new(), is_error: true, sanitize: false, is_page: false }
    }
}

impl Runner {
    async fn run(&self, command: &str, cx: CallContext) -> ToolOutput {
        let started = Instant::now();
        let id = RunId::new();
        let Some(server) = self.server.upgrade() else { return ToolOutput::error("the server is gone") };
        let (ending, told) = match code(&server, command) {
            Ok(code) => self.execute(server, &code, cx.clone().with_run(id.get())).await,
            Err(message) => (Ending::error(message), Told::default()),
        };
        let is_error = ending.is_error;
        // Enough to recognise the code, and nothing of what stands in it.
        tracing::info!(
            code_size = command.len(),
            code_hash = format_args!("{:016x}", response::hash(command)),
            calls = told.calls,
            "run"
        );
        let output = self.finish(ending, &cx).await;
        let size = |bytes: usize| u64::try_from(bytes).unwrap_or(u64::MAX);
        self.stats.record(Event::Run {
            id,
            client: cx.client().name,
            duration: started.elapsed(),
            code_size: size(command.len()),
            output_size: size(output.content.iter().filter_map(|it| it.as_text()).map(str::len).sum()),
            inner_calls: size(told.calls),
            inner_bytes: size(told.bytes),
            outcome: if is_error { stats::Outcome::Failure } else { stats::Outcome::Success },
        });
        output
    }

    async fn execute(&self, server: Server, code: &str, cx: CallContext) -> (Ending, Told) {
        let catalog = server.catalog();
        let names = self.names.of(&catalog);
        let calls = Arc::new(Calls::new(server, catalog, names, cx));
        let ending = match literal::call(code).filter(|call| is_tool(&calls, &call.name)) {
            Some(call) => {
                let line = call.line;
                let result =
                    calls.call(HostCall { name: call.name, args: call.args, kwargs: call.kwargs }).await;
                return Self::end(
                    result
                        .map_err(|HostError { kind, message }| {
                            response::exception(&kind, &message, Some(line))
                        })
                        .map(|answer| of_value(&answer.value)),
                    &calls,
                    code,
                );
            }
            None => {
                let program = Program {
                    source: code.to_owned(),
                    file_name: "run.py".to_owned(),
                    input: Input::Nothing,
                    depth: 0,
                };
                self.sandbox.run(program, &self.limits(), calls.clone()).await
            }
        };
        Self::end(ending.map_err(|error| response::of_error(&error)), &calls, code)
    }

    fn end(result: Result<Outcome, String>, calls: &Calls, code: &str) -> (Ending, Told) {
        let told = calls.told();
        let untrusted = told.is_untrusted;
        let ending = match result {
            // The variables of a run that failed are gone, so code that speaks of it at all is taken to want it: what it
            // printed, and what a tool's failure says, come from outside as much as a value does.
            Err(text) => {
                let (text, attached) = told.attachments.in_text(text);
                let sanitize = untrusted || code.contains("__sanitize__");
                Ending { attached, sanitize, ..Ending::error(text) }
            }
            Ok(outcome) => {
                let sanitize = untrusted || outcome.sanitize;
                match response::of_outcome(outcome, &told.ot_answers, &told.attachments) {
                    Err(error) => Ending { sanitize: untrusted, ..Ending::error(error.to_string()) },
                    Ok(Answer { text, attached, is_error, is_page }) => {
                        Ending { text, attached, is_error, sanitize, is_page }
                    }
                }
            }
        };
        (ending, told)
    }

    /// Runs Python that somebody other than the agent wrote, for one call.
    pub(super) async fn execute_program(
        &self,
        program: Program,
        timeout: Option<Duration>,
        cx: CallContext,
    ) -> Result<Outcome, RunError> {
        let Some(server) = self.server.upgrade() else {
            return Err(RunError::Unavailable { reason: "the server is gone".into() });
        };
        // The code may call any tool, as that of `run` may.
        server.settle().await;
        let catalog = server.catalog();
        let names = self.names.of(&catalog);
        let calls = Arc::new(Calls::new(server, catalog, names, cx));
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

    /// Gives a small result back as it is, and stores a large one.
    async fn finish(&self, ending: Ending, cx: &CallContext) -> ToolOutput {
        let Ending { text, attached, is_error, sanitize, is_page } = ending;
        let shown = if text.len() <= self.results.options().max_inline_size || is_page {
            Ok(text)
        } else {
            // What went wrong stands after all that was printed; it must not hide behind the handle.
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

/// Takes the code out of the command; a snippet is filled in.
pub(crate) fn code(server: &Server, command: &str) -> Result<String, String> {
    let code = source::code_of(command);
    if !code.trim_start().starts_with('$') {
        return Ok(code);
    }
    let catalog = server.catalog();
    let call: Result<SnippetCall, SnippetError> = SnippetCall::parse(code.trim_start());
    call.and_then(|call| Shortcuts::of(&catalog).snippets.expand(&call)).map_err(|error| error.to_string())
}

fn is_tool(calls: &Calls, name: &str) -> bool {
    let root = name.split('.').next().unwrap_or(name);
    !is_builtin(root) && (name.contains('.') || calls.tool(name).is_some()) && calls.knows(root)
}

fn of_value(value: &Value) -> Outcome {
    Outcome {
        printed: String::new(),
        value: Completion::Value(value.to_string()),
        format: None,
        sanitize: false,
        calls: 1,
    }
}
