//! A tool of an upstream.

use std::sync::Arc;

use onetool_core::{
    BoxFuture, CallContext, JsonObject, Schema, Tool, ToolAnnotations, ToolError, ToolOutput, ToolSpec,
};
use rmcp::model::{CallToolRequest, CallToolRequestParams, ClientRequest};
use serde_json::Value;

use crate::call::Round;
use crate::convert::tool_output;
use crate::json::{object, take};
use crate::link::UpstreamHandle;
use crate::names::ToolNames;

/// A tool of an upstream, called over whichever connection is current.
struct UpstreamTool {
    spec: ToolSpec,
    /// The name that the upstream uses.
    own_name: String,
    /// The defaults of required properties, filled in for callers that omit them.
    defaults: JsonObject,
    upstream: Arc<UpstreamHandle>,
}

/// Converts listed tools. Skips and logs invalid ones.
pub(crate) fn tools(listed: Vec<Value>, upstream: &Arc<UpstreamHandle>) -> Vec<Arc<dyn Tool>> {
    let mut names = ToolNames::new(&upstream.name);
    let mut tools: Vec<Arc<dyn Tool>> = Vec::with_capacity(listed.len());
    for mut definition in listed {
        match UpstreamTool::new(&mut definition, &mut names, upstream) {
            Ok(tool) => tools.push(Arc::new(tool)),
            Err(reason) => {
                let tool = definition["name"].as_str().unwrap_or_default();
                tracing::warn!(server = %upstream.name, tool, "tool skipped: {reason}");
            }
        }
    }
    tools
}

impl UpstreamTool {
    fn new(
        definition: &mut Value,
        names: &mut ToolNames<'_>,
        upstream: &Arc<UpstreamHandle>,
    ) -> Result<Self, String> {
        let Some(own_name) = definition.get("name").and_then(Value::as_str).map(str::to_owned) else {
            return Err("it has no name".to_owned());
        };
        let schema = |schema: Option<&mut Value>, key: &str| match schema.map(Value::take) {
            None | Some(Value::Null) => Ok(None),
            Some(Value::Object(schema)) => Ok(Some(Schema::from(schema))),
            Some(_) => Err(format!("its {key} is not an object")),
        };
        let defaults = definition.get_mut("inputSchema").map(take_required_defaults).unwrap_or_default();
        let input_schema = schema(definition.get_mut("inputSchema"), "inputSchema")?;
        let output_schema = schema(definition.get_mut("outputSchema"), "outputSchema")?;
        let text = |value: &Value| value.as_str().map(str::to_owned);
        let spec = ToolSpec {
            name: names.assign(&own_name)?,
            title: text(&definition["title"]),
            description: text(&definition["description"]).unwrap_or_default(),
            input_schema: input_schema.unwrap_or_else(Schema::any_object),
            output_schema,
            annotations: hints(&definition["annotations"]),
            meta: object(take(definition, "_meta")),
            extra: extra(definition),
        };
        Ok(Self { spec, own_name, defaults, upstream: upstream.clone() })
    }

    /// Returns whether the upstream declares that calling the tool twice has the same effect as calling it once.
    fn is_repeatable(&self) -> bool {
        self.spec
            .annotations
            .is_some_and(|hints| hints.read_only_hint == Some(true) || hints.idempotent_hint == Some(true))
    }
}

/// Removes the properties that have a default from the required ones, and returns the defaults.
///
/// Some servers declare such properties, but their validator does not fill in the defaults: they reject a call without
/// the value, and callers omit it because it has a default.
fn take_required_defaults(schema: &mut Value) -> JsonObject {
    let names = schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str);
    let with_default = names.filter_map(|name| {
        let default = schema["properties"][name].get("default")?;
        Some((name.to_owned(), default.clone()))
    });
    let defaults: JsonObject = with_default.collect();
    if let Some(Value::Array(required)) = schema.get_mut("required") {
        required.retain(|name| name.as_str().is_none_or(|name| !defaults.contains_key(name)));
    }
    defaults
}

/// Takes the remaining fields of a definition, without those that violate the protocol: clients reject a whole list
/// because of one invalid field.
fn extra(definition: &mut Value) -> JsonObject {
    /// More than this is dropped, since every client gets it with the list.
    const MAX: usize = 64 * 1024;
    const KNOWN: [&str; 6] = ["name", "title", "description", "inputSchema", "outputSchema", "_meta"];
    const HINTS: [&str; 4] = ["readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"];
    let mut extra = object(std::mem::take(definition)).unwrap_or_default();
    extra.retain(|key, value| match key.as_str() {
        key if KNOWN.contains(&key) => false,
        "annotations" => value.as_object_mut().is_some_and(|annotations| {
            annotations.retain(|key, value| match key.as_str() {
                "title" => value.is_string(),
                key => value.is_boolean() || !HINTS.contains(&key),
            });
            !annotations.is_empty()
        }),
        "execution" => {
            let support =
                value.get("taskSupport").map_or("forbidden", |support| support.as_str().unwrap_or_default());
            value.is_object() && ["forbidden", "optional", "required"].contains(&support)
        }
        "icons" => value.as_array().is_some_and(|icons| icons.iter().all(|icon| icon["src"].is_string())),
        _ => true,
    });
    if serde_json::to_string(&extra).is_ok_and(|text| text.len() > MAX) {
        extra.retain(|key, _| key == "annotations" || key == "execution");
    }
    if serde_json::to_string(&extra).is_ok_and(|text| text.len() > MAX) { JsonObject::new() } else { extra }
}

fn hints(annotations: &Value) -> Option<ToolAnnotations> {
    let hint = |name: &str| annotations[name].as_bool();
    let hints = ToolAnnotations {
        read_only_hint: hint("readOnlyHint"),
        destructive_hint: hint("destructiveHint"),
        idempotent_hint: hint("idempotentHint"),
        open_world_hint: hint("openWorldHint"),
    };
    (!hints.is_empty()).then_some(hints)
}

impl Tool for UpstreamTool {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn call<'a>(
        &'a self,
        mut args: JsonObject,
        cx: &'a CallContext,
    ) -> BoxFuture<'a, Result<ToolOutput, ToolError>> {
        for (name, default) in &self.defaults {
            args.entry(name).or_insert_with(|| default.clone());
        }
        Box::pin(async move {
            let build = |round: &Round| {
                let mut params = CallToolRequestParams::new(self.own_name.clone());
                params.arguments = Some(args.clone());
                params.input_responses.clone_from(&round.responses);
                params.request_state.clone_from(&round.state);
                ClientRequest::CallToolRequest(CallToolRequest::new(params))
            };
            let result = self.upstream.call(&build, cx, self.is_repeatable()).await?;
            tool_output(&self.upstream.name, result)
                .map_err(|reason| ToolError::failed(format!("server '{}': {reason}", self.upstream.name)))
        })
    }
}
