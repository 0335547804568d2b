//! Listings of tools and packs, and the cards of each.

use indexmap::IndexMap;
use onetool_core::{JsonObject, Parameter, parameters, python_type};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use super::{InfoLevel, OtContext};
use crate::render::{PackCard, ToolCard, ToolDetails, doc_url, sample_call, summary};
use onetool_server::catalog::{Catalog, Entry, Source};

/// The arguments of the functions that list items.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Listing {
    /// Only items that contain this text, ignoring case.
    #[serde(default)]
    pub(super) pattern: String,
    /// Level of detail: list (names), min (short descriptions) or full (everything).
    #[serde(default)]
    pub(super) info: InfoLevel,
}

impl Listing {
    /// Returns a predicate that checks whether any of the given strings contains the pattern.
    pub(super) fn matcher(&self) -> impl Fn(&[&str]) -> bool + use<> {
        // Convert it once rather than for every tool: it may be as long as a request.
        let pattern = self.pattern.to_lowercase();
        move |candidates| candidates.iter().any(|text| text.to_lowercase().contains(&pattern))
    }
}

/// Returns all tools except the few that every client sees.
pub(super) fn tools(catalog: &Catalog) -> impl Iterator<Item = &Entry> {
    catalog.tools().map(AsRef::as_ref).filter(|entry| *entry.source() != Source::Surface)
}

/// Returns all packs with their tools, in the order of the catalog.
pub(super) fn packs(catalog: &Catalog) -> IndexMap<&str, Vec<&Entry>> {
    let mut packs: IndexMap<&str, Vec<&Entry>> = IndexMap::new();
    for entry in tools(catalog) {
        if let Some(pack) = entry.name().pack() {
            packs.entry(pack).or_default().push(entry);
        }
    }
    packs
}

/// Returns the kind of a pack's source: `local`, `proxy` or `openapi`.
pub(super) fn pack_source(tools: &[&Entry]) -> String {
    let source = tools.first().map_or_else(String::new, |entry| entry.source().to_string());
    source.split(':').next().unwrap_or_default().to_owned()
}

/// Returns `name: description` for each parameter.
pub(super) fn args(entry: &Entry) -> Vec<String> {
    let line = |parameter: Parameter<'_>| match parameter.description {
        Some(description) => format!("{}: {}", parameter.name, summary(description)),
        None => parameter.name.to_owned(),
    };
    parameters(&entry.spec().input_schema).map(line).collect()
}

/// Returns the return type of a tool, if its output schema or its pack specifies one.
pub(super) fn returns(catalog: &Catalog, entry: &Entry) -> Option<String> {
    let schema = entry.spec().output_schema.as_ref().map(|schema| python_type(&schema.peek()));
    schema.or_else(|| catalog.docs(entry.name())?.returns.clone())
}

/// Returns the card of a tool.
pub(super) fn tool_card<'a>(context: &'a OtContext, entry: &'a Entry, info: InfoLevel) -> ToolCard<'a> {
    let catalog = &context.catalog;
    let docs = catalog.docs(entry.name());
    let mut examples = docs.map_or_else(Vec::new, |docs| docs.examples.clone());
    if examples.is_empty() {
        examples.push(sample_call(entry.name().as_str(), &entry.spec().input_schema));
    } else if info != InfoLevel::Full {
        examples.truncate(1);
    }
    let details = (info == InfoLevel::Full).then(|| ToolDetails {
        source: entry.source().to_string(),
        flat_name: entry.flat_name().to_owned(),
        annotations: entry.spec().annotations,
        keywords: docs.map_or_else(Vec::new, |docs| docs.keywords.clone()),
        category: docs.and_then(|docs| docs.category.clone()),
        input_schema: Value::Object(JsonObject::clone(&entry.spec().input_schema)),
    });
    ToolCard {
        name: entry.name().as_str(),
        description: catalog.description(entry),
        signature: entry.spec().short_signature(),
        args: parameters(&entry.spec().input_schema).map(typed_arg).collect(),
        returns: returns(catalog, entry),
        examples,
        url: entry.name().pack().map(|pack| doc_url(&context.config.docs.base_url, pack)),
        details,
    }
}

fn typed_arg(parameter: Parameter<'_>) -> String {
    let optional = if parameter.required { "" } else { ", optional" };
    let description = parameter.description.map_or_else(String::new, |it| format!(": {}", summary(it)));
    format!("{} ({}{optional}){description}", parameter.name, parameter.python_type)
}

/// Returns the card of a pack.
pub(super) fn pack_card<'a>(
    context: &'a OtContext,
    name: &'a str,
    tools: &[&'a Entry],
    info: InfoLevel,
) -> PackCard<'a> {
    let text = |entry: &'a Entry| match info {
        InfoLevel::Full => context.catalog.description(entry).trim().to_owned(),
        _ => summary(context.catalog.description(entry)),
    };
    PackCard {
        name,
        source: pack_source(tools),
        instructions: context
            .config
            .docs
            .packs
            .get(name)
            .map(String::as_str)
            .or_else(|| context.catalog.pack_description(name)),
        tools: tools.iter().map(|entry| (entry.name().as_str(), text(entry))).collect(),
        url: Some(doc_url(&context.config.docs.base_url, name)),
    }
}
