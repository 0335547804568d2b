//! Prompts: plain, with arguments, with a resource, with an image, and one that asks the user first.

use onetool::{
    CallContext, ContentBlock, InputRequest, PromptMessage, RegisterError, ResourceContents, Server,
    ToolError, prompt_fn,
};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use crate::media::PIXEL;

pub(crate) fn register(server: &Server) -> Result<(), RegisterError> {
    server.register_prompt(prompt_fn("test_simple_prompt", "Returns one message.", simple))?;
    let with_arguments = prompt_fn("test_prompt_with_arguments", "Repeats its arguments.", repeat_arguments);
    server.register_prompt(with_arguments.completions(complete))?;
    server.register_prompt(prompt_fn(
        "test_prompt_with_embedded_resource",
        "Embeds a resource.",
        embed_resource,
    ))?;
    server.register_prompt(prompt_fn("test_prompt_with_image", "Embeds an image.", show_image))?;
    server.register_prompt(prompt_fn(
        "test_input_required_result_prompt",
        "Asks the user before it returns a message.",
        ask_first,
    ))
}

async fn simple((): (), _: CallContext) -> PromptMessage {
    PromptMessage::user("This is a simple prompt for testing.")
}

#[derive(Deserialize, JsonSchema)]
struct TwoArguments {
    /// First test argument.
    arg1: String,
    /// Second test argument.
    arg2: String,
}

async fn repeat_arguments(args: TwoArguments, _: CallContext) -> PromptMessage {
    PromptMessage::user(format!("Prompt with arguments: arg1='{}', arg2='{}'", args.arg1, args.arg2))
}

fn complete(_argument: &str, typed: &str) -> Vec<String> {
    let known = ["paris", "park", "party", "test"];
    known.into_iter().filter(|it| it.starts_with(typed)).map(str::to_owned).collect()
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct EmbeddedResource {
    /// URI of the resource to embed.
    resource_uri: String,
}

async fn embed_resource(args: EmbeddedResource, _: CallContext) -> Vec<PromptMessage> {
    let contents = ResourceContents::text("Embedded resource content for testing.", "text/plain");
    vec![
        PromptMessage::user(ContentBlock::resource(contents.with_uri(args.resource_uri))),
        PromptMessage::user("Please process the embedded resource above."),
    ]
}

async fn show_image((): (), _: CallContext) -> Vec<PromptMessage> {
    vec![
        PromptMessage::user(ContentBlock::image(PIXEL, "image/png")),
        PromptMessage::user("Please analyze the image above."),
    ]
}

async fn ask_first((): (), cx: CallContext) -> Result<PromptMessage, ToolError> {
    let form = json!({
        "type": "object",
        "properties": {"context": {"type": "string"}},
        "required": ["context"],
    });
    let question = InputRequest::elicit("What context should the prompt use?", form);
    let answer = cx.ask("user_context", question).await?;
    let context = answer["content"]["context"].as_str().unwrap_or("none");
    Ok(PromptMessage::user(format!("Use this context: {context}")))
}
