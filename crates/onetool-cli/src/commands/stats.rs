//! `onetool stats`: shows call statistics.

use std::process::ExitCode;

use onetool::{CallContext, Gateway, JsonObject};
use serde_json::Value;

use crate::arguments::Stats;
use crate::error::CliError;
use crate::output;

pub(crate) fn run(gateway: &Gateway, args: &Stats) -> Result<ExitCode, CliError> {
    let mut arguments = JsonObject::new();
    arguments.insert("period".into(), args.period.as_str().into());
    for (name, value) in [("tool", &args.tool), ("output", &args.html)] {
        if let Some(value) = value {
            arguments.insert(name.into(), value.as_str().into());
        }
    }
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let called = runtime.block_on(gateway.server().call("ot.stats", arguments, CallContext::detached()));
    let result = called.map_err(|error| CliError::failed(error.to_string()))?;
    match &result.structured_content {
        Some(Value::String(error)) => {
            output::note(error);
            return Ok(ExitCode::from(1));
        }
        Some(data) if args.json => output::print_json(data)?,
        _ => {
            let text: Vec<&str> = result.content.iter().filter_map(|block| block.as_text()).collect();
            output::print(&text.join("\n"))?;
        }
    }
    Ok(ExitCode::SUCCESS)
}
