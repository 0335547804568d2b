//! Tools that send log messages and progress while they run.

use std::time::Duration;

use onetool::{CallContext, LogLevel, RegisterError, Server, tool_fn};
use tokio::time::sleep;

use crate::NoArguments;

/// The pause between notifications. The conformance suite expects them to arrive one by one, while the call is running.
const STEP: Duration = Duration::from_millis(50);

pub(crate) fn register(server: &Server) -> Result<(), RegisterError> {
    server.register_tool(tool_fn(
        "test_tool_with_logging",
        "Logs three messages while it runs.",
        log_steps,
    ))?;
    server.register_tool(tool_fn("test_logging_tool", "Logs three messages while it runs.", log_steps))?;
    server.register_tool(tool_fn("test_tool_with_progress", "Reports progress three times.", progress))?;
    server.register_tool(tool_fn("test_reconnection", "Takes a while, to test reconnecting.", take_a_while))
}

async fn log_steps(_: NoArguments, cx: CallContext) -> &'static str {
    cx.log(LogLevel::Info, None, "Tool execution started").await;
    sleep(STEP).await;
    cx.log(LogLevel::Info, None, "Tool processing data").await;
    sleep(STEP).await;
    cx.log(LogLevel::Info, None, "Tool execution completed").await;
    "Logged three messages."
}

async fn progress(_: NoArguments, cx: CallContext) -> &'static str {
    cx.progress(0.0, Some(100.0), None).await;
    sleep(STEP).await;
    cx.progress(50.0, Some(100.0), None).await;
    sleep(STEP).await;
    cx.progress(100.0, Some(100.0), None).await;
    "Reported progress three times."
}

async fn take_a_while(_: NoArguments, _: CallContext) -> &'static str {
    sleep(STEP).await;
    "Reconnection test completed."
}
