//! Tools written in Python: functions of pack files, and the code of declared tools.

use std::sync::Arc;
use std::time::Duration;

use onetool_core::{BoxFuture, CallContext, JsonObject, Tool, ToolError, ToolOutput, ToolSpec, json_weight};
use onetool_sandbox::{Completion, Input, Outcome, Program, RunError};
use serde_json::Value;

use super::response;
use super::tool::Runner;

/// Maximum depth of Python tools that call each other; each level is a separate process.
const MAX_DEPTH: u8 = 8;

/// Maximum size in memory of a value that a tool returns.
const MAX_VALUE_BYTES: usize = 256 << 20;

/// The code of a tool, and how it receives its arguments.
#[derive(Clone)]
pub(crate) enum PythonBody {
    /// Code whose last expression is the result. The arguments are global variables.
    Code { file_name: Arc<str>, source: Arc<str> },
    /// A function of a module, which gets the arguments by name.
    Function { file_name: Arc<str>, source: Arc<str>, module: Arc<str>, function: String },
}

/// A tool written in Python. Its code can call other tools, as in `run`.
pub(crate) struct PythonTool {
    spec: ToolSpec,
    body: PythonBody,
    timeout: Option<Duration>,
    /// Runs the code; `None` if Python is not available.
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
            return Err(ToolError::failed("Python is not available on this server"));
        };
        if cx.depth() >= MAX_DEPTH {
            let message = format!("tools call each other more than {MAX_DEPTH} levels deep");
            return Err(ToolError::Raised { kind: "RecursionError".into(), message });
        }
        // Code called by other code needs a process in addition to the one that waits for it.
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

/// Converts an outcome: the value becomes structured content; printed text counts only if there is no value.
fn output(outcome: Outcome) -> Result<ToolOutput, ToolError> {
    let printed = outcome.printed.trim_end_matches('\n');
    Ok(match outcome.value {
        Completion::NoValue => ToolOutput::text(printed),
        Completion::Value(json) if json == "null" && !printed.is_empty() => ToolOutput::text(printed),
        Completion::Value(json) => {
            if json_weight(json.as_bytes()) > MAX_VALUE_BYTES {
                return Err(ToolError::failed("the returned value is too large"));
            }
            let value: Value =
                serde_json::from_str(&json).map_err(|error| ToolError::failed(error.to_string()))?;
            ToolOutput { structured_content: Some(value), ..ToolOutput::text(response::plain(json)) }
        }
    })
}

/// Converts an error. An exception keeps its type, so that code that calls the tool can catch it.
fn raised(error: RunError, file_name: &str) -> ToolError {
    match error {
        RunError::Exception { kind, message, line, .. } => {
            let place = line.map_or_else(String::new, |line| format!(", line {line}"));
            ToolError::Raised { kind: kind.into(), message: format!("{message} ({file_name}{place})") }
        }
        other => ToolError::failed(format!("{other} ({file_name})")),
    }
}
