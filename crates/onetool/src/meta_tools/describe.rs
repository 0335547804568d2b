//! `tool_describe`: describes one tool in full.

use std::fmt::Write as _;

use onetool_core::{JsonObject, ToolOutput};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::call::{MetaCall, not_found, output};

pub(super) const DESCRIPTION: &str =
    "Describe one tool: what it does, its input schema, and whether it is on your list.";

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Describe {
    /// The name of the tool, as returned by tool_find.
    name: String,
}

#[tracing::instrument(level = "debug", name = "tool_describe", skip_all)]
pub(super) async fn describe(call: MetaCall, args: Describe) -> ToolOutput {
    let catalog = &call.catalog;
    let name = args.name.trim();
    let Some(entry) = catalog.get_visible(name) else { return not_found(catalog, &[name]) };
    let (name, spec, docs) = (entry.name(), entry.spec(), catalog.docs(entry.name()));
    let active = call.loaded().await.iter().any(|it| it.name() == name);
    let schema = Value::Object(JsonObject::clone(&spec.input_schema.peek()));
    let mut data = json!({
        "name": name.as_str(),
        "listed_as": entry.flat_name(),
        "signature": spec.signature(),
        "description": catalog.description(entry),
        "active": active,
        "input_schema": schema,
    });
    let mut text = format!("{}\n{}\n", spec.signature(), catalog.description(entry).trim());
    let _ = writeln!(text, "active: {}", if active { "yes" } else { "no" });
    let mut add = |key: &str, title: &str, value: Value, text_value: &str| {
        data[key] = value;
        let _ = writeln!(text, "{title}: {text_value}");
    };
    if let Some(category) = docs.and_then(|docs| docs.category.as_deref()) {
        add("category", "category", json!(category), category);
    }
    if let Some(docs) = docs.filter(|docs| !docs.keywords.is_empty()) {
        add("keywords", "keywords", json!(docs.keywords), &docs.keywords.join(", "));
    }
    if let Some(docs) = docs.filter(|docs| !docs.examples.is_empty()) {
        add("examples", "examples", json!(docs.examples), &docs.examples.join(" | "));
    }
    if let Some(hints) = spec.annotations.filter(|it| !it.is_empty()) {
        let hints = json!(hints);
        let text = hints.to_string();
        add("annotations", "annotations", hints, &text);
    }
    let remembered = call.finder.remembered(name.as_str()).await;
    if !remembered.is_empty() {
        add("remembered_queries", "previously found by", json!(remembered), &remembered.join(" | "));
    }
    let _ = write!(text, "input schema: {}", data["input_schema"]);
    // The schema as the source declares it; the listed one may be looser.
    if let Some(schema) = &spec.output_schema {
        data["output_schema"] = Value::Object(JsonObject::clone(&schema.peek()));
        let _ = write!(text, "\noutput schema: {}", data["output_schema"]);
    }
    output(text, data)
}
