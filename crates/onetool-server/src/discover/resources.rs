//! The resources `onetool://tools` and `onetool://tool/{name}`.

use onetool_core::{
    CallContext, ReadRequest, Resource, ResourceContents, ResourceError, abbreviate, parameters, resource_fn,
};
use serde_json::{Map, Value, json};

use crate::catalog::{Catalog, Entry};
use crate::server::WeakServer;

const JSON: &str = "application/json";
/// Maximum number of suggested names.
const MAX_SUGGESTIONS: usize = 100;

pub(super) fn all_tools(server: WeakServer) -> impl Resource {
    resource_fn("onetool://tools", "tools", move |_: ReadRequest, _: CallContext| {
        let server = server.clone();
        async move {
            let catalog = server.upgrade().map(|server| server.catalog()).unwrap_or_default();
            let tools: Vec<Value> = catalog.tools().map(|entry| summary(&catalog, entry)).collect();
            ResourceContents::text(Value::Array(tools).to_string(), JSON)
        }
    })
    .description("Every tool, with its name, signature and description.")
    .mime_type(JSON)
}

pub(super) fn one_tool(server: WeakServer) -> impl Resource {
    let completer = server.clone();
    resource_fn("onetool://tool/{name}", "tool", move |request: ReadRequest, _: CallContext| {
        let server = server.clone();
        async move {
            let catalog = server.upgrade().map(|server| server.catalog()).unwrap_or_default();
            let name = request.values.get("name").map_or("", String::as_str);
            match catalog.visible(name) {
                Ok(entry) => Ok(ResourceContents::text(details(&catalog, entry).to_string(), JSON)),
                Err(unknown) => {
                    let uri = format!("{} ({unknown})", abbreviate(&request.uri));
                    Err(ResourceError::NotFound { uri, hint: "; onetool://tools lists all tools".into() })
                }
            }
        }
    })
    .description("One tool, with its signature, description, arguments and examples.")
    .mime_type(JSON)
    .completions(move |_, typed| {
        let catalog = completer.upgrade().map(|server| server.catalog()).unwrap_or_default();
        let names = catalog.tools().map(|entry| entry.name().as_str());
        names.filter(|name| name.starts_with(typed)).take(MAX_SUGGESTIONS).map(str::to_owned).collect()
    })
}

fn summary(catalog: &Catalog, entry: &Entry) -> Value {
    json!({
        "name": entry.name().as_str(),
        "signature": entry.spec().short_signature(),
        "description": catalog.description(entry),
    })
}

fn details(catalog: &Catalog, entry: &Entry) -> Value {
    let mut details = summary(catalog, entry);
    let arguments = parameters(&entry.spec().input_schema).map(|parameter| {
        let mut argument = Map::new();
        argument.insert("name".into(), parameter.name.into());
        argument.insert("type".into(), parameter.python_type.into());
        argument.insert("required".into(), parameter.required.into());
        if let Some(description) = parameter.description {
            argument.insert("description".into(), description.into());
        }
        if let Some(default) = parameter.default {
            argument.insert("default".into(), default.clone());
        }
        Value::Object(argument)
    });
    details["args"] = arguments.collect();
    details["examples"] =
        catalog.docs(entry.name()).map_or_else(Vec::new, |docs| docs.examples.clone()).into();
    details
}
