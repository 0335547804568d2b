//! `onetool call`: calls a tool.

use std::process::ExitCode;

use onetool::{CallContext, ContentBlock, Gateway, JsonObject, Source, ToolOutput};
use serde_json::{Value, json};

use super::sources;
use crate::arguments::Call;
use crate::error::CliError;
use crate::output;

pub(crate) fn run(gateway: &Gateway, args: &Call) -> Result<ExitCode, CliError> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    if !is_local(gateway, &args.name) {
        runtime.block_on(sources::connect(gateway));
    }
    let arguments = match &args.json {
        Some(text) => read_object(text)?,
        None => read_pairs(gateway, args)?,
    };
    let called = runtime.block_on(gateway.server().call(&args.name, arguments, CallContext::detached()));
    runtime.block_on(gateway.close());
    let result = called.map_err(|error| CliError::failed(error.to_string()))?;
    if args.raw {
        output::print_json(&json!(result))?;
    } else {
        output::print(&result_text(&result))?;
    }
    Ok(if result.is_error { ExitCode::from(1) } else { ExitCode::SUCCESS })
}

/// Returns whether the tool needs no other server. `run` and built-in tools may use any tool.
fn is_local(gateway: &Gateway, name: &str) -> bool {
    let catalog = gateway.server().catalog();
    catalog.resolve(name).is_ok_and(|it| !matches!(it.source(), Source::Surface | Source::Builtin))
}

fn read_object(text: &str) -> Result<JsonObject, CliError> {
    serde_json::from_str(text).map_err(|error| {
        CliError::usage(format!("--json is not a JSON object: {error}"))
            .hinted(r#"for example: --json '{"query": "rust"}'"#)
    })
}

/// Parses `key=value` pairs. A value is JSON if the schema does not accept it as text and it parses, or else text.
fn read_pairs(gateway: &Gateway, args: &Call) -> Result<JsonObject, CliError> {
    let catalog = gateway.server().catalog();
    let entry = catalog.resolve(&args.name).map_err(|error| CliError::failed(error.to_string()))?;
    let properties = entry.spec().input_schema.get("properties");
    let mut arguments = JsonObject::new();
    for pair in &args.arguments {
        let Some((name, text)) = pair.split_once('=') else {
            return Err(CliError::usage(format!("invalid argument '{pair}'"))
                .hinted("use key=value, for example query=rust"));
        };
        let is_text = properties.and_then(|it| it.get(name)).is_some_and(|it| accepts_text(it, text));
        let value = if is_text { None } else { serde_json::from_str(text).ok() };
        arguments.insert(name.to_owned(), value.unwrap_or_else(|| Value::from(text)));
    }
    Ok(arguments)
}

/// Returns whether a parameter accepts this text as a string.
fn accepts_text(property: &Value, text: &str) -> bool {
    let is_string = match &property["type"] {
        Value::String(name) => name == "string",
        Value::Array(names) => names.iter().any(|it| it == "string"),
        _ => false,
    };
    let is_enum_value = property["enum"].as_array().is_some_and(|values| values.iter().any(|it| it == text));
    is_string || is_enum_value || property["const"] == text
}

fn result_text(result: &ToolOutput) -> String {
    let block =
        |block: &ContentBlock| block.as_text().map_or_else(|| json!(block).to_string(), str::to_owned);
    result.content.iter().map(block).collect::<Vec<_>>().join("\n")
}
