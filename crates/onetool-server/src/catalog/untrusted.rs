//! Resources and prompts of an untrusted source, whose contents are marked as external (P3).

use std::sync::Arc;

use onetool_core::{
    BoxFuture, CallContext, JsonObject, Prompt, PromptError, PromptMessage, PromptOutput, PromptSpec,
    ReadRequest, Resource, ResourceContents, ResourceError, ResourceSpec,
};

use crate::sanitize::{marked_block, marked_contents, wrap};

/// A resource whose text is marked as external content.
pub(super) struct UntrustedResource(pub(super) Arc<dyn Resource>);

/// A prompt whose messages are marked as external content.
pub(super) struct UntrustedPrompt(pub(super) Arc<dyn Prompt>);

impl Resource for UntrustedResource {
    fn spec(&self) -> &ResourceSpec {
        self.0.spec()
    }

    fn read<'a>(
        &'a self,
        request: ReadRequest,
        cx: &'a CallContext,
    ) -> BoxFuture<'a, Result<Vec<ResourceContents>, ResourceError>> {
        Box::pin(async move {
            match self.0.read(request, cx).await {
                Ok(contents) => Ok(contents.into_iter().map(marked_contents).collect()),
                Err(ResourceError::Failed { message }) => {
                    Err(ResourceError::Failed { message: wrap(&message) })
                }
                Err(other) => Err(other),
            }
        })
    }

    fn complete<'a>(&'a self, variable: &'a str, typed: &'a str) -> BoxFuture<'a, Vec<String>> {
        self.0.complete(variable, typed)
    }
}

impl Prompt for UntrustedPrompt {
    fn spec(&self) -> &PromptSpec {
        self.0.spec()
    }

    fn get<'a>(
        &'a self,
        args: JsonObject,
        cx: &'a CallContext,
    ) -> BoxFuture<'a, Result<PromptOutput, PromptError>> {
        Box::pin(async move {
            let marked = |message: PromptMessage| PromptMessage {
                role: message.role,
                content: marked_block(message.content),
            };
            match self.0.get(args, cx).await {
                Ok(output) => Ok(PromptOutput {
                    description: output.description.map(|text| wrap(&text)),
                    messages: output.messages.into_iter().map(marked).collect(),
                }),
                Err(PromptError::Failed { message }) => Err(PromptError::Failed { message: wrap(&message) }),
                Err(other) => Err(other),
            }
        })
    }

    fn complete<'a>(&'a self, argument: &'a str, typed: &'a str) -> BoxFuture<'a, Vec<String>> {
        self.0.complete(argument, typed)
    }
}
