//! `onetool call`: one call, from the command line.

use std::process::ExitCode;

use onetool::{CallContext, ContentBlock, Gateway, JsonObject, Source, ToolOutput};
use serde_json::{Value, json};

use super::sources;
use crate::arguments::Call;
use crate::error::CliError;
use crate::output;

pub(crate) fn run(gateway: &Gateway, asked: &Call) -> Result<ExitCode, CliError> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    if !is_here(gateway, &asked.name) {
        runtime.block_on(sources::connect(gateway));
    }
    let arguments = match &asked.json {
        Some(text) => read_object(text)?,
        None => read_pairs(gateway, asked)?,
    };
    let called = runtime.block_on(gateway.server().call(&asked.name, arguments, CallContext::detached()));
    runtime.block_on(gateway.close());
    let result = called.map_err(|error| CliError::failed(error.to_string()))?;
    if asked.raw {
        output::print_json(&json!(result))?;
    } else {
        output::print(&text_of(&result))?;
    }
    Ok(if result.is_error { ExitCode::from(1) } else { ExitCode::SUCCESS })
}

/// Tells whether the tool needs no other server; code and what looks at all tools may.
fn is_here(gateway: &Gateway, name: &str) -> bool {
    let catalog = gateway.server().catalog();
    catalog.resolve(name).is_ok_and(|it| !matches!(it.source(), Source::Surface | Source::Builtin))
}

fn read_object(text: &str) -> Result<JsonObject, CliError> {
    serde_json::from_str(text).map_err(|error| {
        CliError::usage(format!("--json is no JSON object: {error}"))
            .hinted(r#"write it like '{"query": "rust"}'"#)
    })
}

/// Reads `key=value` pairs. Where the schema wants something else than text, the value is JSON.
fn read_pairs(gateway: &Gateway, asked: &Call) -> Result<JsonObject, CliError> {
    let catalog = gateway.server().catalog();
    let entry = catalog.resolve(&asked.name).map_err(|error| CliError::failed(error.to_string()))?;
    let properties = entry.spec().input_schema.get("properties");
    let mut arguments = JsonObject::new();
    for pair in &asked.arguments {
        let Some((name, text)) = pair.split_once('=') else {
            return Err(
                CliError::usage(format!("'{pair}' is no argument")).hinted("write it like query=rust")
            );
        };
        let takes_text = properties.and_then(|it| it.get(name)).is_some_and(|it| takes_text(it, text));
        let value = if takes_text { None } else { serde_json::from_str(text).ok() };
        arguments.insert(name.to_owned(), value.unwrap_or_else(|| Value::from(text)));
    }
    Ok(arguments)
}

/// Tells whether a parameter takes this text as it is.
fn takes_text(property: &Value, text: &str) -> bool {
    let of_type = match &property["type"] {
        Value::String(name) => name == "string",
        Value::Array(names) => names.iter().any(|it| it == "string"),
        _ => false,
    };
    let listed = property["enum"].as_array().is_some_and(|values| values.iter().any(|it| it == text));
    of_type || listed || property["const"] == text
}

fn text_of(result: &ToolOutput) -> String {
    let block =
        |block: &ContentBlock| block.as_text().map_or_else(|| json!(block).to_string(), str::to_owned);
    result.content.iter().map(block).collect::<Vec<_>>().join("\n")
}
