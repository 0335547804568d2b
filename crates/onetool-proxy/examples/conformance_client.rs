//! The client of MCP's conformance suite, which starts it with the address of a server: uses all that the server offers.
//!
//! It is our client side as the gateway has it: an [`Upstream`], with somebody behind the call who answers questions.

#![expect(clippy::disallowed_methods, reason = "the suite passes its context in variables")]

use std::error::Error;
use std::sync::Arc;
use std::time::Duration;

use onetool_core::{
    BoxFuture, CallContext, CallHost, Caller, ClientInfo, InputError, InputKind, InputRequest, JsonObject,
    ReadRequest, Tool,
};
use onetool_proxy::{Snapshot, State, Surroundings, Transport, Upstream, UpstreamConfig};
use serde_json::{Value, json};

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let url = std::env::args().nth(1).ok_or("usage: conformance_client URL")?.parse()?;
    let context = std::env::var("MCP_CONFORMANCE_CONTEXT").unwrap_or_else(|_| "{}".into());
    let context: Value = serde_json::from_str(&context)?;
    let transport = Transport::Http { url, headers: indexmap::IndexMap::new() };
    let upstream = Upstream::start(UpstreamConfig::new("up", transport), Surroundings::default());
    let is_over = |it: &Arc<Snapshot>| it.state.is_connected() || matches!(it.state, State::Failed { .. });
    let settled = upstream.watch().wait_for(is_over).await?.clone();
    if !settled.state.is_connected() {
        return Err(settled.state.to_string().into());
    }
    // The suite takes the first GET during a call for a reconnection, so the general stream has to be open before that.
    tokio::time::sleep(Duration::from_millis(300)).await;
    use_everything(&settled, &context).await;
    upstream.shut_down().await;
    Ok(())
}

/// Calls every tool, reads every resource and gets every prompt. What the server answers is the suite's business.
async fn use_everything(offered: &Snapshot, context: &Value) {
    let cx = CallContext::new(Caller::default(), Arc::new(Person));
    match context["toolCalls"].as_array() {
        Some(calls) => {
            for call in calls {
                let wanted = |tool: &&Arc<dyn Tool>| call["name"] == tool.spec().name.tool();
                let arguments = call["arguments"].as_object().cloned().unwrap_or_default();
                if let Some(tool) = offered.tools.iter().find(wanted) {
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
    for resource in offered.resources.iter().filter(|it| !it.spec().uri.has_holes()) {
        let uri = resource.spec().uri.as_str().to_owned();
        drop(resource.read(ReadRequest { uri, values: std::collections::BTreeMap::new() }, &cx).await);
    }
    for prompt in &offered.prompts {
        let given = prompt.spec().arguments.iter().map(|it| (it.name.clone(), json!("x")));
        drop(prompt.get(given.collect(), &cx).await);
    }
}

/// Makes arguments that fit a schema; a tool that takes a schema gets the one of the first tool, as it came.
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

/// Who stands behind the calls: takes every default that a form offers.
struct Person;

impl CallHost for Person {
    fn client(&self) -> ClientInfo {
        let capabilities =
            InputKind::ALL.map(|kind| (kind.capability().to_owned(), json!({}))).into_iter().collect();
        ClientInfo { capabilities, ..ClientInfo::default() }
    }

    fn ask(&self, request: InputRequest) -> BoxFuture<'_, Option<Result<Value, InputError>>> {
        let answer = match request.kind {
            InputKind::Elicitation => {
                json!({"action": "accept", "content": filled_in(&Value::Object(request.params))})
            }
            InputKind::Sampling => {
                json!({"role": "assistant", "model": "none", "content": {"type": "text", "text": "x"}})
            }
            InputKind::Roots => json!({"roots": []}),
        };
        Box::pin(std::future::ready(Some(Ok(answer))))
    }
}

fn filled_in(params: &Value) -> JsonObject {
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
