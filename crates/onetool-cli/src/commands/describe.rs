//! `onetool describe`: shows one tool.

use std::fmt::Write as _;

use onetool::{Gateway, parameters};
use serde_json::json;

use crate::arguments::Describe;
use crate::error::CliError;
use crate::output;

pub(crate) fn run(gateway: &Gateway, args: &Describe) -> Result<(), CliError> {
    let catalog = gateway.server().catalog();
    let entry = catalog
        .visible(&args.name)
        .map_err(|error| CliError::failed(error.to_string()).hinted("`onetool tools` lists all tools"))?;
    let spec = entry.spec();
    if args.json {
        let mut described = json!({
            "name": entry.name().as_str(),
            "flatName": entry.flat_name(),
            "signature": spec.signature(),
            "description": catalog.description(entry),
            "source": entry.source().to_string(),
            "inputSchema": &*spec.input_schema,
        });
        if let Some(annotations) = spec.annotations.filter(|it| !it.is_empty()) {
            described["annotations"] = json!(annotations);
        }
        return Ok(output::print_json(&described)?);
    }
    let mut text = format!("{}\n\n{}\n", spec.signature(), catalog.description(entry));
    // Writing to a String cannot fail.
    for parameter in parameters(&spec.input_schema) {
        let description = parameter.description.unwrap_or("");
        let _ = write!(text, "\n  {}: {}  {description}", parameter.name, parameter.python_type);
    }
    let _ = write!(text, "\n\nMCP name: {}\nsource: {}", entry.flat_name(), entry.source());
    Ok(output::print(&text)?)
}
