//! A tool of an upstream.

use std::sync::Arc;

use onetool_core::{
    BoxFuture, CallContext, JsonObject, Schema, Tool, ToolAnnotations, ToolError, ToolOutput, ToolSpec,
};
use rmcp::model::{CallToolRequest, CallToolRequestParams, ClientRequest};
use serde_json::Value;

use crate::answer::{object, take, tool_output};
use crate::call::Round;
use crate::link::Access;
use crate::names::ToolNames;

/// A tool of an upstream, called over whichever connection is in force.
struct UpstreamTool {
    spec: ToolSpec,
    /// What the upstream calls it.
    own_name: String,
    /// What is filled in for a caller: values that the upstream requires and has a default for.
    defaults: JsonObject,
    access: Arc<Access>,
}

/// Makes the tools of a list. One that cannot be used is skipped and logged, never the whole list.
pub(crate) fn tools(listed: Vec<Value>, access: &Arc<Access>) -> Vec<Arc<dyn Tool>> {
    let mut names = ToolNames::new(&access.name);
    let mut tools: Vec<Arc<dyn Tool>> = Vec::with_capacity(listed.len());
    for mut definition in listed {
        match UpstreamTool::new(&mut definition, &mut names, access) {
            Ok(tool) => tools.push(Arc::new(tool)),
            Err(reason) => {
                let tool = definition["name"].as_str().unwrap_or_default();
                tracing::warn!(server = %access.name, tool, "a tool is skipped: {reason}");
            }
        }
    }
    tools
}

impl UpstreamTool {
    fn new(definition: &mut Value, names: &mut ToolNames<'_>, access: &Arc<Access>) -> Result<Self, String> {
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
            name: names.give(&own_name)?,
            title: text(&definition["title"]),
            description: text(&definition["description"]).unwrap_or_default(),
            input_schema: input_schema.unwrap_or_else(Schema::any_object),
            output_schema,
            annotations: hints(&definition["annotations"]),
            meta: object(take(definition, "_meta")),
            extra: extra(definition),
        };
        Ok(Self { spec, own_name, defaults, access: access.clone() })
    }

    /// Returns whether calling twice does no more than calling once, as far as the upstream says so.
    fn is_safe(&self) -> bool {
        self.spec
            .annotations
            .is_some_and(|it| it.read_only_hint == Some(true) || it.idempotent_hint == Some(true))
    }
}

/// Takes the properties that have a default out of those that are required, and returns the defaults.
///
/// Servers whose validator does not fill in defaults have such properties: without the value they refuse the call, and
/// no caller sends what it need not send.
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

/// Takes what else a definition says, as long as it has the form that the protocol gives it: clients refuse a whole
/// list for one key that has not.
fn extra(definition: &mut Value) -> JsonObject {
    /// Larger extras are dropped: every client gets them with the list.
    const MAX: usize = 64 * 1024;
    const OWN: [&str; 6] = ["name", "title", "description", "inputSchema", "outputSchema", "_meta"];
    const HINTS: [&str; 4] = ["readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"];
    let mut extra = object(std::mem::take(definition)).unwrap_or_default();
    extra.retain(|key, value| match key.as_str() {
        key if OWN.contains(&key) => false,
        "annotations" => value.as_object_mut().is_some_and(|annotations| {
            annotations.retain(|key, value| match key.as_str() {
                "title" => value.is_string(),
                key => value.is_boolean() || !HINTS.contains(&key),
            });
            !annotations.is_empty()
        }),
        "execution" => {
            let support = value.get("taskSupport").map_or("forbidden", |it| it.as_str().unwrap_or_default());
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
            let make = |round: &Round| {
                let mut params = CallToolRequestParams::new(self.own_name.clone());
                params.arguments = Some(args.clone());
                params.input_responses.clone_from(&round.answers);
                params.request_state.clone_from(&round.state);
                ClientRequest::CallToolRequest(CallToolRequest::new(params))
            };
            let result = self.access.call(&make, cx, self.is_safe()).await?;
            tool_output(&self.access.name, result)
                .map_err(|reason| ToolError::failed(format!("server '{}': {reason}", self.access.name)))
        })
    }
}
