//! A prompt made from templates.

use onetool_core::{
    BoxFuture, CallContext, ContentBlock, JsonObject, Prompt, PromptError, PromptMessage, PromptOutput,
    PromptSpec, Role,
};

use super::template::{Place, Template, TemplateError};
use crate::options::PromptOptions;

pub(super) struct TemplatePrompt {
    spec: PromptSpec,
    messages: Vec<(Role, Template)>,
}

impl TemplatePrompt {
    pub(super) fn new(config: &PromptOptions) -> Result<Self, TemplateError> {
        let messages = config.messages.iter();
        let messages = messages.map(|it| Ok((it.role, Template::new(&it.text, Place::Plain)?)));
        let spec = PromptSpec {
            name: config.name.clone(),
            title: config.title.clone(),
            description: config.description.clone(),
            arguments: config.arguments.clone(),
        };
        Ok(Self { spec, messages: messages.collect::<Result<_, TemplateError>>()? })
    }
}

impl Prompt for TemplatePrompt {
    fn spec(&self) -> &PromptSpec {
        &self.spec
    }

    fn get<'a>(
        &'a self,
        args: JsonObject,
        _: &'a CallContext,
    ) -> BoxFuture<'a, Result<PromptOutput, PromptError>> {
        let messages = self.messages.iter().map(move |(role, template)| {
            let content = template.render(&args).map(ContentBlock::text).map_err(PromptError::from_any)?;
            Ok(PromptMessage { role: *role, content })
        });
        let messages: Result<_, PromptError> = messages.collect();
        let output =
            messages.map(|messages| PromptOutput { description: self.spec.description.clone(), messages });
        Box::pin(std::future::ready(output))
    }
}
