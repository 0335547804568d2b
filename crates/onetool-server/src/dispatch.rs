//! The path of every call: resolve, check the policy, validate, run with a deadline, record.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::{Duration, Instant};

use futures::FutureExt as _;
use onetool_core::validate::ArgumentError;
use onetool_core::{
    CallContext, FailureRedactor, JsonObject, ToolError, ToolName, ToolOutput, Verdict, abbreviate, json_size,
};
use serde_json::Value;
use tokio::sync::Semaphore;
use tracing::Instrument as _;

use crate::catalog::{Catalog, Entry, Source, UnknownName};
use crate::current::Current;
use crate::sanitize;

/// A call that did not produce an output.
///
/// ```
/// # tokio::runtime::Runtime::new()?.block_on(async {
/// use onetool_server::{CallContext, CallError, JsonObject, Server};
///
/// let server = Server::builder().build()?;
/// let result = server.call("demo.hello", JsonObject::new(), CallContext::detached()).await;
/// assert!(matches!(result, Err(CallError::Unknown(_))));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CallError {
    /// No tool has the name.
    #[error(transparent)]
    Unknown(#[from] UnknownName),
    /// The operator's policy denies the call.
    #[error("tool '{tool}' is not allowed by this server's policy")]
    Denied {
        /// The tool.
        tool: ToolName,
    },
    /// A person must approve the call first.
    #[error("tool '{tool}' requires approval: {reason}")]
    NeedsApproval {
        /// The tool.
        tool: ToolName,
        /// Why the policy requires approval.
        reason: String,
    },
    /// The arguments do not match the input schema; the handler did not run.
    #[error("schema validation failed for tool '{tool}': {}", list(errors))]
    Invalid {
        /// The tool.
        tool: ToolName,
        /// The mismatches.
        errors: Vec<ArgumentError>,
    },
    /// The handler took too long.
    #[error("tool '{tool}' timed out after {}", seconds(*limit))]
    Deadline {
        /// The tool.
        tool: ToolName,
        /// The time limit.
        limit: Duration,
    },
    /// The caller canceled the call.
    #[error("the call to tool '{tool}' was canceled")]
    Cancelled {
        /// The tool.
        tool: ToolName,
    },
    /// The handler panicked.
    #[error("tool '{tool}' crashed: {message}")]
    Panicked {
        /// The tool.
        tool: ToolName,
        /// The panic message.
        message: String,
    },
    /// The handler failed.
    #[error("tool '{tool}' failed: {error}")]
    Failed {
        /// The tool.
        tool: ToolName,
        /// The handler's error. It is part of the message, so it is not the source.
        error: ToolError,
    },
    /// The handler's output does not match the tool's output schema.
    #[error("tool '{tool}' failed: its output does not match its output schema: {}", list(errors))]
    InvalidOutput {
        /// The tool.
        tool: ToolName,
        /// The mismatches.
        errors: Vec<ArgumentError>,
    },
    /// The server is shutting down.
    #[error("the server is shutting down and accepts no new calls")]
    ShuttingDown,
}

impl CallError {
    /// Returns the name of the outcome in logs and statistics.
    pub fn outcome(&self) -> &'static str {
        match self {
            Self::Unknown(_) => "unknown",
            Self::Denied { .. } => "denied",
            Self::NeedsApproval { .. } => "needs_approval",
            Self::Invalid { .. } => "invalid",
            Self::Deadline { .. } => "deadline",
            Self::Cancelled { .. } => "cancelled",
            Self::Panicked { .. } => "panicked",
            Self::Failed { error: ToolError::InputRequired(_), .. } => "input_required",
            Self::Failed { .. } | Self::InvalidOutput { .. } => "failed",
            Self::ShuttingDown => "shutting_down",
        }
    }

    /// Returns the reason for the log, if the handler failed. Omits values of arguments and results that our own messages
    /// quote.
    fn reason(&self) -> Option<String> {
        match self {
            Self::Failed { error: ToolError::InputRequired(_), .. } => None,
            Self::Failed { error: ToolError::Arguments { .. }, .. } => {
                Some("the handler cannot read the arguments".into())
            }
            Self::Failed { error, .. } => Some(error.to_string()),
            Self::InvalidOutput { errors, .. } => {
                let places: Vec<String> = errors.iter().map(|it| place(&it.path)).collect();
                Some(format!("its output does not match its output schema {}", places.join(", ")))
            }
            Self::Panicked { message, .. } => Some(format!("panicked: {message}")),
            Self::Deadline { limit, .. } => Some(format!("timed out after {}", seconds(*limit))),
            _ => None,
        }
    }
}

fn list(errors: &[ArgumentError]) -> String {
    errors.iter().map(|it| format!("{}: {}", place(&it.path), it.message)).collect::<Vec<_>>().join("; ")
}

fn place(path: &str) -> String {
    if path.is_empty() { "at the top level".to_owned() } else { format!("at '{path}'") }
}

fn seconds(limit: Duration) -> String {
    // Rounded, because slightly less than the configured time is left when a call starts.
    let seconds = limit.as_secs_f64();
    let unit = if seconds < 0.1 { 1e3 } else { 1e2 };
    format!("{} s", (seconds * unit).round() / unit)
}

/// A call that has ended.
pub struct CallRecord<'a> {
    /// The tool.
    pub entry: &'a Entry,
    /// The context of the call.
    pub cx: &'a CallContext,
    /// How long it took.
    pub duration: Duration,
    /// The size of its arguments as JSON, in bytes.
    pub args_size: usize,
    /// The size of its output as JSON, in bytes.
    pub output_size: usize,
    /// Whether it succeeded.
    pub is_success: bool,
    /// The arguments, if the observer wants them.
    pub args: Option<JsonObject>,
    /// The result.
    pub result: &'a Result<ToolOutput, CallError>,
}

/// Observes every call of an existing tool.
pub trait Observer: Send + Sync {
    /// Returns whether the records should include the arguments, which means copying them.
    fn wants_arguments(&self) -> bool {
        false
    }

    /// Records a finished call.
    fn call_finished(&self, record: CallRecord<'_>);
}

/// Executes calls from every surface: MCP, HTTP, the command line and code.
pub(crate) struct Dispatch {
    timeout: Current<Duration>,
    in_flight: Arc<Semaphore>,
    capacity: u32,
}

impl Dispatch {
    pub(crate) fn new(timeout: Duration, capacity: u32) -> Self {
        Self {
            timeout: Current::new(timeout),
            in_flight: Arc::new(Semaphore::new(capacity as usize)),
            capacity,
        }
    }

    /// Sets the time limit for handlers of new calls.
    pub(crate) fn set_timeout(&self, timeout: Duration) {
        self.timeout.set(timeout);
    }

    /// Calls a tool by its name.
    pub(crate) async fn call(
        &self,
        catalog: &Catalog,
        name: &str,
        args: JsonObject,
        cx: CallContext,
        observer: Option<&dyn Observer>,
    ) -> Result<ToolOutput, CallError> {
        match catalog.resolve(name) {
            Ok(entry) => self.call_entry(catalog, entry, args, cx, observer).await,
            Err(unknown) => {
                let tool = abbreviate(name);
                let _span = tracing::info_span!("tool.call", tool = &*tool).entered();
                let result = Err(CallError::Unknown(unknown));
                record(&tool, &result, Duration::ZERO, json_size(&args), &FailureRedactor::new(&args));
                result
            }
        }
    }

    /// Calls a tool of the snapshot that the request started with.
    pub(crate) async fn call_entry(
        &self,
        catalog: &Catalog,
        entry: &Entry,
        args: JsonObject,
        cx: CallContext,
        observer: Option<&dyn Observer>,
    ) -> Result<ToolOutput, CallError> {
        let tool = entry.name().as_str();
        async {
            let started = Instant::now();
            let args_size = json_size(&args);
            let observed_args = observer.filter(|it| it.wants_arguments()).map(|_| args.clone());
            let failures = FailureRedactor::new(&args);
            let result = self.checked_call(catalog, entry, args, cx.clone()).await;
            let duration = started.elapsed();
            let output_size = record(tool, &result, duration, args_size, &failures);
            if let Some(observer) = observer {
                let is_success = result.as_ref().is_ok_and(|output| !output.is_error);
                observer.call_finished(CallRecord {
                    entry,
                    cx: &cx,
                    duration,
                    args_size,
                    output_size,
                    is_success,
                    args: observed_args,
                    result: &result,
                });
            }
            result
        }
        .instrument(tracing::info_span!("tool.call", tool))
        .await
    }

    async fn checked_call(
        &self,
        catalog: &Catalog,
        entry: &Entry,
        args: JsonObject,
        cx: CallContext,
    ) -> Result<ToolOutput, CallError> {
        let tool = entry.name();
        match catalog.rules().policy.verdict(tool) {
            Verdict::Allow => {}
            Verdict::Ask { reason } => return Err(CallError::NeedsApproval { tool: tool.clone(), reason }),
            _ => return Err(CallError::Denied { tool: tool.clone() }),
        }
        let Ok(_permit) = self.in_flight.acquire().await else { return Err(CallError::ShuttingDown) };
        // `run` has its own time limit; each call that its code makes has this one, like every direct call.
        let has_own_limit = *entry.source() == Source::Surface;
        let cx = if has_own_limit { cx } else { cx.with_deadline(Instant::now() + *self.timeout.get()) };
        let mut args = check_arguments(entry, args, &cx).await?;
        // For a server or an API, defaults are documentation: missing arguments are not sent.
        if !entry.source().is_remote() {
            fill_defaults(&mut args, &entry.spec().input_schema);
        }
        let output = run(entry, args, cx.clone()).await?;
        check_output(entry, output, &cx).await
    }

    /// Rejects new calls and waits for in-flight ones, at most for `limit`; returns whether they all finished.
    pub(crate) async fn drain(&self, limit: Duration) -> bool {
        let permits = tokio::time::timeout(limit, self.in_flight.acquire_many(self.capacity)).await;
        self.in_flight.close();
        permits.is_ok()
    }
}

async fn run(entry: &Entry, args: JsonObject, cx: CallContext) -> Result<ToolOutput, CallError> {
    let tool = entry.name();
    let started = Instant::now();
    let call = async {
        let result = entry.tool().call(args, &cx).await;
        if entry.is_untrusted() { sanitize::mark(result, &cx) } else { result }
    };
    let handler = AssertUnwindSafe(call).catch_unwind();
    let timeout = async {
        let Some(mut deadline) = cx.deadline() else { return std::future::pending().await };
        // The deadline moves while the handler waits for input from the client.
        while deadline > Instant::now() {
            tokio::time::sleep_until(deadline.into()).await;
            deadline = cx.deadline().unwrap_or(deadline);
        }
    };
    tokio::select! {
        // A result that is already available counts, even if the deadline has just passed.
        biased;
        result = handler => match result {
            Ok(result) => result.map_err(|error| CallError::Failed { tool: tool.clone(), error }),
            Err(panic) => Err(CallError::Panicked { tool: tool.clone(), message: panic_message(&*panic) }),
        },
        () = cx.cancelled() => Err(CallError::Cancelled { tool: tool.clone() }),
        () = timeout => {
            let limit = cx.deadline().map_or(Duration::ZERO, |deadline| deadline.saturating_duration_since(started));
            Err(CallError::Deadline { tool: tool.clone(), limit })
        }
    }
}

/// Validates the output of a local tool against its output schema. The output of a server or an API is passed on
/// unchanged: a response must not be lost because of a careless schema.
async fn check_output(
    entry: &Entry,
    mut output: ToolOutput,
    cx: &CallContext,
) -> Result<ToolOutput, CallError> {
    let Some(check) = entry.output().filter(|_| !output.is_error) else { return Ok(output) };
    let errors = match output.structured_content.take() {
        Some(content) => {
            let (content, errors) = check.check(content, cx.deadline()).await;
            output.structured_content = Some(content);
            errors
        }
        None => vec![ArgumentError::at_root("structured content is missing", "required")],
    };
    if errors.is_empty() {
        return Ok(output);
    }
    Err(CallError::InvalidOutput { tool: entry.name().clone(), errors })
}

/// Rejects arguments that do not match the tool's schema.
async fn check_arguments(entry: &Entry, args: JsonObject, cx: &CallContext) -> Result<JsonObject, CallError> {
    match entry.arguments().check(Value::Object(args), cx.deadline()).await {
        (Value::Object(args), errors) if errors.is_empty() => Ok(args),
        (_, errors) => Err(CallError::Invalid { tool: entry.name().clone(), errors }),
    }
}

/// Sets missing arguments to the schema's defaults, so that handlers do not have to repeat them.
fn fill_defaults(args: &mut JsonObject, schema: &JsonObject) {
    for (name, property) in schema.get("properties").and_then(Value::as_object).into_iter().flatten() {
        if let Some(default) = property.get("default").filter(|it| !it.is_null() && !args.contains_key(name))
        {
            args.insert(name.clone(), default.clone());
        }
    }
}

/// Returns the message of a panic.
pub(crate) fn panic_message(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|it| (*it).to_owned());
    text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_else(|| "no message".into())
}

/// Logs outcome, sizes and duration, and why a handler failed, but no values: arguments and results may be secret.
/// Returns the size of the output.
///
/// The event repeats the name from the span, which is disabled if only warnings are logged.
fn record(
    tool: &str,
    result: &Result<ToolOutput, CallError>,
    took: Duration,
    args_size: usize,
    failures: &FailureRedactor,
) -> usize {
    let (outcome, output_size) = match result {
        Ok(output) => (if output.is_error { "error" } else { "ok" }, json_size(output)),
        Err(error) => (error.outcome(), 0),
    };
    // Microseconds are precise enough.
    let took_ms = (took.as_secs_f64() * 1e6).round() / 1e3;
    let Some(reason) = result.as_ref().err().and_then(CallError::reason) else {
        tracing::info!(outcome, took_ms, args_size, output_size, "tool call");
        return output_size;
    };
    let reason = failures.redact(&reason);
    match result {
        Err(CallError::Panicked { .. } | CallError::Deadline { .. }) => {
            tracing::error!(tool, reason, outcome, took_ms, args_size, "tool call failed");
        }
        _ => tracing::warn!(tool, reason, outcome, took_ms, args_size, "tool call failed"),
    }
    output_size
}
