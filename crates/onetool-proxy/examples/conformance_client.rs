//! The client for MCP's conformance suite, which passes the URL of a server: uses everything that the server offers.
//!
//! It is the client side of the gateway, an [`Upstream`], with a simulated user behind its calls.

#![expect(clippy::disallowed_methods, reason = "the suite passes its context in an environment variable")]

use std::error::Error;
use std::sync::Arc;
use std::time::Duration;

use onetool_core::{
    BoxFuture, CallContext, CallHost, Caller, ClientInfo, InputError, InputKind, InputRequest, JsonObject,
    ReadRequest, Tool,
};
use onetool_proxy::{ChildContext, Snapshot, State, Transport, Upstream, UpstreamConfig};
use serde_json::{Value, json};

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let url = std::env::args().nth(1).ok_or("usage: conformance_client URL")?.parse()?;
    let context = std::env::var("MCP_CONFORMANCE_CONTEXT").unwrap_or_else(|_| "{}".into());
    let context: Value = serde_json::from_str(&context)?;
    let transport = Transport::Http { url, headers: indexmap::IndexMap::new() };
    let upstream = Upstream::start(UpstreamConfig::new("up", transport), ChildContext::default());
    let is_settled = |it: &Arc<Snapshot>| it.state.is_connected() || matches!(it.state, State::Failed { .. });
    let settled = upstream.watch().wait_for(is_settled).await?.clone();
    if !settled.state.is_connected() {
        return Err(settled.state.to_string().into());
    }
    // The suite mistakes a first GET during a call for a reconnection, so the general stream has to be open before the
    // first call. The SDK opens it in the background and does not say when, hence a fixed delay.
    tokio::time::sleep(Duration::from_millis(300)).await;
    use_everything(&settled, &context).await;
    upstream.shut_down().await;
    Ok(())
}

/// Calls every tool, reads every resource and gets every prompt. The suite checks what the server received.
async fn use_everything(offered: &Snapshot, context: &Value) {
    let cx = CallContext::new(Caller::default(), Arc::new(SimulatedUser));
    match context["toolCalls"].as_array() {
        Some(calls) => {
            for call in calls {
                let is_wanted = |tool: &&Arc<dyn Tool>| call["name"] == tool.spec().name.tool();
                let arguments = call["arguments"].as_object().cloned().unwrap_or_default();
                if let Some(tool) = offered.tools.iter().find(is_wanted) {
                    drop(tool.call(arguments, &cx).await);
                }
            }
        }
        None => {
            let first = offered.tools.first().map(|tool| json!(&*tool.spec().input_schema));
            for tool in &offered.tools {
                let schema = json!(&*tool.spec().input_schema);
                drop(tool.call(arguments(&schema, first.as_ref()), &cx).await);
            }
        }
    }
    for resource in offered.resources.iter().filter(|resource| !resource.spec().uri.has_variables()) {
        let uri = resource.spec().uri.as_str().to_owned();
        drop(resource.read(ReadRequest { uri, values: std::collections::BTreeMap::new() }, &cx).await);
    }
    for prompt in &offered.prompts {
        let args = prompt.spec().arguments.iter().map(|argument| (argument.name.clone(), json!("x")));
        drop(prompt.get(args.collect(), &cx).await);
    }
}

/// Returns arguments that match a schema. A tool that takes a schema gets the unchanged one of the first tool.
fn arguments(schema: &Value, first: Option<&Value>) -> JsonObject {
    let properties = schema["properties"].as_object().into_iter().flatten();
    let value = |(name, property): (&String, &Value)| {
        let value = match property["type"].as_str() {
            Some("number" | "integer") => json!(5),
            Some("boolean") => json!(true),
            Some("object") if name == "schema" => first.cloned().unwrap_or_else(|| json!({})),
            Some("object") => json!({}),
            Some("array") => json!([]),
            _ => json!("x"),
        };
        (name.clone(), value)
    };
    properties.map(value).collect()
}

/// Responds to input requests, accepting every default that a form offers.
struct SimulatedUser;

impl CallHost for SimulatedUser {
    fn client(&self) -> ClientInfo {
        let capabilities =
            InputKind::ALL.map(|kind| (kind.capability().to_owned(), json!({}))).into_iter().collect();
        ClientInfo { capabilities, ..ClientInfo::default() }
    }

    fn ask(&self, request: InputRequest) -> BoxFuture<'_, Option<Result<Value, InputError>>> {
        let response = match request.kind {
            InputKind::Elicitation => {
                json!({"action": "accept", "content": fill_in(&Value::Object(request.params))})
            }
            InputKind::Sampling => {
                json!({"role": "assistant", "model": "none", "content": {"type": "text", "text": "x"}})
            }
            InputKind::Roots => json!({"roots": []}),
        };
        Box::pin(std::future::ready(Some(Ok(response))))
    }
}

fn fill_in(params: &Value) -> JsonObject {
    let properties = params["requestedSchema"]["properties"].as_object().into_iter().flatten();
    let value = |(name, property): (&String, &Value)| {
        let value = property.get("default").cloned().unwrap_or_else(|| match property["type"].as_str() {
            Some("boolean") => json!(true),
            Some("number" | "integer") => json!(1),
            _ => json!("x"),
        });
        (name.clone(), value)
    };
    properties.map(value).collect()
}
