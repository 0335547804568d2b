//! A tool that is written in Python: a function of a pack file, or the code of a declared tool.

use std::sync::Arc;
use std::time::Duration;

use onetool_core::{BoxFuture, CallContext, JsonObject, Tool, ToolError, ToolOutput, ToolSpec, json_weight};
use onetool_sandbox::{Completion, Input, Outcome, Program, RunError};
use serde_json::Value;

use super::response;
use super::tool::Runner;

/// Every level is a process of its own, so tools that call each other in circles have to end somewhere.
const MAX_DEPTH: u8 = 8;

/// What a value may take in memory.
const MAX_DATA: usize = 256 << 20;

/// The code of a tool, and how a call gets its arguments in.
#[derive(Clone)]
pub(crate) enum PythonBody {
    /// Code whose last value is the answer; the arguments are global names.
    Code { file_name: Arc<str>, source: Arc<str> },
    /// A function of a module; the arguments are its own.
    Function { file_name: Arc<str>, source: Arc<str>, module: Arc<str>, function: String },
}

/// A tool that is written in Python. Other tools can be called in it, by name, as in `run`.
pub(crate) struct PythonTool {
    spec: ToolSpec,
    body: PythonBody,
    timeout: Option<Duration>,
    /// Where it runs; without it there is no Python here.
    runner: Option<Arc<Runner>>,
}

impl PythonTool {
    pub(crate) fn new(
        spec: ToolSpec,
        body: PythonBody,
        timeout: Option<Duration>,
        runner: Option<Arc<Runner>>,
    ) -> Self {
        Self { spec, body, timeout, runner }
    }

    fn program(&self, arguments: JsonObject, depth: usize) -> Program {
        let (file_name, source, input) = match &self.body {
            PythonBody::Code { file_name, source } => (file_name, source, Input::Globals(arguments)),
            PythonBody::Function { file_name, source, module, function } => {
                let (module, function) = (module.to_string(), function.clone());
                (file_name, source, Input::Call { module, function, arguments })
            }
        };
        Program { source: source.to_string(), file_name: file_name.to_string(), input, depth }
    }

    async fn run(&self, args: JsonObject, cx: &CallContext) -> Result<ToolOutput, ToolError> {
        let Some(runner) = &self.runner else {
            return Err(ToolError::failed("this server cannot run Python"));
        };
        if cx.depth() >= MAX_DEPTH {
            let message = format!("tools call each other more than {MAX_DEPTH} levels deep");
            return Err(ToolError::Raised { kind: "RecursionError".into(), message });
        }
        // Code that is called by code needs a process beside the one that waits for it.
        let depth = usize::from(cx.depth()) + usize::from(cx.run().is_some());
        let program = self.program(args, depth);
        let file_name = program.file_name.clone();
        let outcome = runner.execute_program(program, self.timeout, cx.clone().nested()).await;
        output(outcome.map_err(|error| raised(error, &file_name))?)
    }
}

impl Tool for PythonTool {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn call<'a>(
        &'a self,
        args: JsonObject,
        cx: &'a CallContext,
    ) -> BoxFuture<'a, Result<ToolOutput, ToolError>> {
        Box::pin(self.run(args, cx))
    }
}

/// The value is the answer, as data; what was printed is one only if there is nothing else.
fn output(outcome: Outcome) -> Result<ToolOutput, ToolError> {
    let printed = outcome.printed.trim_end_matches('\n');
    Ok(match outcome.value {
        Completion::NoValue => ToolOutput::text(printed),
        Completion::Value(json) if json == "null" && !printed.is_empty() => ToolOutput::text(printed),
        Completion::Value(json) => {
            if json_weight(json.as_bytes()) > MAX_DATA {
                return Err(ToolError::failed("the value is too large to be returned as data"));
            }
            let value: Value =
                serde_json::from_str(&json).map_err(|error| ToolError::failed(error.to_string()))?;
            ToolOutput { structured_content: Some(value), ..ToolOutput::text(response::plain(json)) }
        }
    })
}

/// Code that calls the tool can catch what the tool raised.
fn raised(error: RunError, file_name: &str) -> ToolError {
    match error {
        RunError::Exception { kind, message, line, .. } => {
            let place = line.map_or_else(String::new, |line| format!(", line {line}"));
            ToolError::Raised { kind: kind.into(), message: format!("{message} ({file_name}{place})") }
        }
        other => ToolError::failed(format!("{other} ({file_name})")),
    }
}
