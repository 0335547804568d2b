//! A prompt of an upstream.

use std::collections::HashSet;
use std::sync::Arc;

use onetool_core::{
    BoxFuture, CallContext, JsonObject, Prompt, PromptArgument, PromptError, PromptOutput, PromptSpec,
};
use rmcp::model::{ClientRequest, GetPromptRequest, GetPromptRequestParams, Reference};
use serde_json::Value;

use crate::answer::prompt_output;
use crate::call::Round;
use crate::link::Access;
use crate::names::prompt_name;

/// A prompt of an upstream, got over whichever connection is in force.
struct UpstreamPrompt {
    spec: PromptSpec,
    /// What the upstream calls it.
    own_name: String,
    access: Arc<Access>,
}

/// Makes the prompts of a list. One that cannot be used is left out and logged.
pub(crate) fn prompts(listed: Vec<Value>, access: &Arc<Access>) -> Vec<Arc<dyn Prompt>> {
    let mut taken = HashSet::new();
    let mut prompts: Vec<Arc<dyn Prompt>> = Vec::new();
    for definition in listed {
        let reason = match definition["name"].as_str().filter(|name| !name.is_empty()) {
            None => "it has no name".to_owned(),
            Some(name) if !taken.insert(prompt_name(&access.name, name)) => {
                format!("the name of '{name}' is taken by an earlier one")
            }
            Some(name) => {
                prompts.push(Arc::new(UpstreamPrompt::new(name, &definition, access)));
                continue;
            }
        };
        tracing::warn!(server = %access.name, "a prompt is left out: {reason}");
    }
    prompts
}

impl UpstreamPrompt {
    fn new(name: &str, definition: &Value, access: &Arc<Access>) -> Self {
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
            name: prompt_name(&access.name, name),
            title: text(&definition["title"]),
            description: text(&definition["description"]),
            arguments: arguments.collect(),
        };
        Self { spec, own_name: name.to_owned(), access: access.clone() }
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
            let make = |round: &Round| {
                let mut params = GetPromptRequestParams::new(self.own_name.clone());
                params.arguments = Some(args.clone());
                params.input_responses.clone_from(&round.answers);
                params.request_state.clone_from(&round.state);
                ClientRequest::GetPromptRequest(GetPromptRequest::new(params))
            };
            let result = self.access.call(&make, cx, true).await?;
            let pack = &*self.access.name;
            prompt_output(pack, result)
                .map_err(|reason| PromptError::Failed { message: format!("server '{pack}': {reason}") })
        })
    }

    fn complete<'a>(&'a self, argument: &'a str, typed: &'a str) -> BoxFuture<'a, Vec<String>> {
        let reference = Reference::for_prompt(self.own_name.clone());
        Box::pin(self.access.complete(reference, argument, typed))
    }
}
