//! `onetool tools`: lists tools.

use onetool::Gateway;
use onetool::catalog::{Catalog, Entry};
use serde_json::{Value, json};

use crate::arguments::{Info, Tools};
use crate::error::CliError;
use crate::output;

pub(crate) fn run(gateway: &Gateway, args: &Tools) -> Result<(), CliError> {
    let catalog = gateway.server().catalog();
    let pattern = args.pattern.as_deref().unwrap_or("").to_lowercase();
    let found: Vec<&Entry> = catalog
        .tools()
        .map(|entry| &**entry)
        .filter(|entry| entry.name().as_str().to_lowercase().contains(&pattern))
        .collect();
    if args.json {
        let items = found.iter().map(|entry| as_json(&catalog, entry, args.info)).collect();
        return Ok(output::print_json(&Value::Array(items))?);
    }
    if found.is_empty() {
        output::note(if pattern.is_empty() {
            "No tools. Run `onetool init` to write a configuration with an example."
        } else {
            "No tool name matches. Run `onetool tools` to list all tools."
        });
        return Ok(());
    }
    let lines: Vec<String> = found.iter().map(|entry| as_line(&catalog, entry, args.info)).collect();
    Ok(output::print(&lines.join("\n"))?)
}

fn as_json(catalog: &Catalog, entry: &Entry, info: Info) -> Value {
    let (name, description) = (entry.name().as_str(), catalog.description(entry));
    match info {
        Info::List => json!(name),
        Info::Min => json!({"name": name, "description": description}),
        Info::Full => json!({
            "name": name,
            "signature": entry.spec().short_signature(),
            "description": description,
            "source": entry.source().to_string(),
        }),
    }
}

fn as_line(catalog: &Catalog, entry: &Entry, info: Info) -> String {
    let first_line = catalog.description(entry).lines().next().unwrap_or("");
    match info {
        Info::List => entry.name().to_string(),
        Info::Min => format!("{}  {first_line}", entry.name()),
        Info::Full => {
            format!("{}\n    {first_line}\n    from {}", entry.spec().short_signature(), entry.source())
        }
    }
}
