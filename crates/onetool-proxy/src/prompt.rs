//! A prompt of an upstream.

use std::collections::HashSet;
use std::sync::Arc;

use onetool_core::{
    BoxFuture, CallContext, JsonObject, Prompt, PromptArgument, PromptError, PromptOutput, PromptSpec,
};
use rmcp::model::{ClientRequest, GetPromptRequest, GetPromptRequestParams, Reference};
use serde_json::Value;

use crate::call::Round;
use crate::convert::prompt_output;
use crate::link::UpstreamHandle;
use crate::names::prompt_name;

/// A prompt of an upstream, fetched over whichever connection is current.
struct UpstreamPrompt {
    spec: PromptSpec,
    /// The name that the upstream uses.
    own_name: String,
    upstream: Arc<UpstreamHandle>,
}

/// Converts listed prompts. Skips and logs invalid ones.
pub(crate) fn prompts(listed: Vec<Value>, upstream: &Arc<UpstreamHandle>) -> Vec<Arc<dyn Prompt>> {
    let mut seen = HashSet::new();
    let mut prompts: Vec<Arc<dyn Prompt>> = Vec::new();
    for definition in listed {
        let reason = match definition["name"].as_str().filter(|name| !name.is_empty()) {
            None => "it has no name".to_owned(),
            Some(name) if !seen.insert(prompt_name(&upstream.name, name)) => {
                format!("duplicate name '{name}'")
            }
            Some(name) => {
                prompts.push(Arc::new(UpstreamPrompt::new(name, &definition, upstream)));
                continue;
            }
        };
        tracing::warn!(server = %upstream.name, "prompt skipped: {reason}");
    }
    prompts
}

impl UpstreamPrompt {
    fn new(name: &str, definition: &Value, upstream: &Arc<UpstreamHandle>) -> Self {
        let text = |value: &Value| value.as_str().map(str::to_owned);
        let arguments = definition["arguments"].as_array().into_iter().flatten();
        let arguments = arguments.filter_map(|argument| {
            Some(PromptArgument {
                name: text(&argument["name"])?,
                description: text(&argument["description"]),
                required: argument["required"].as_bool().unwrap_or_default(),
            })
        });
        let spec = PromptSpec {
            name: prompt_name(&upstream.name, name),
            title: text(&definition["title"]),
            description: text(&definition["description"]),
            arguments: arguments.collect(),
        };
        Self { spec, own_name: name.to_owned(), upstream: upstream.clone() }
    }
}

impl Prompt for UpstreamPrompt {
    fn spec(&self) -> &PromptSpec {
        &self.spec
    }

    fn get<'a>(
        &'a self,
        args: JsonObject,
        cx: &'a CallContext,
    ) -> BoxFuture<'a, Result<PromptOutput, PromptError>> {
        Box::pin(async move {
            let build = |round: &Round| {
                let mut params = GetPromptRequestParams::new(self.own_name.clone());
                params.arguments = Some(args.clone());
                params.input_responses.clone_from(&round.responses);
                params.request_state.clone_from(&round.state);
                ClientRequest::GetPromptRequest(GetPromptRequest::new(params))
            };
            let result = self.upstream.call(&build, cx, true).await?;
            let pack = &*self.upstream.name;
            prompt_output(pack, result)
                .map_err(|reason| PromptError::Failed { message: format!("server '{pack}': {reason}") })
        })
    }

    fn complete<'a>(&'a self, argument: &'a str, typed: &'a str) -> BoxFuture<'a, Vec<String>> {
        let reference = Reference::for_prompt(self.own_name.clone());
        Box::pin(self.upstream.complete(reference, argument, typed))
    }
}
