//! Tools that send one request to the client, in every revision of the protocol.

use onetool::{CallContext, InputRequest, RegisterError, Server, ToolError, tool_fn};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::NoArguments;

pub(crate) fn register(server: &Server) -> Result<(), RegisterError> {
    server.register_tool(tool_fn("test_sampling", "Asks the client's model.", sample))?;
    server.register_tool(tool_fn("test_missing_capability", "Requires a client with a model.", capital))?;
    server.register_tool(tool_fn(
        "test_elicitation",
        "Asks the user for a name and an email address.",
        elicit,
    ))?;
    server.register_tool(tool_fn(
        "test_elicitation_sep1034_defaults",
        "Asks the user with a form that has default values.",
        elicit_defaults,
    ))?;
    server.register_tool(tool_fn(
        "test_elicitation_sep1330_enums",
        "Asks the user with a form of choices.",
        elicit_choices,
    ))?;
    server.register_tool(tool_fn(
        "test_streaming_elicitation",
        "Reports progress, then asks the user.",
        report_and_elicit,
    ))
}

#[derive(Deserialize, JsonSchema)]
struct Sampling {
    /// Prompt for the model.
    prompt: String,
}

async fn sample(args: Sampling, cx: CallContext) -> Result<String, ToolError> {
    ask_model(&cx, args.prompt).await
}

async fn capital(_: NoArguments, cx: CallContext) -> Result<String, ToolError> {
    ask_model(&cx, "What is the capital of France?".into()).await
}

async fn ask_model(cx: &CallContext, prompt: String) -> Result<String, ToolError> {
    let answer = cx.ask("answer", InputRequest::sample(prompt, 100)).await?;
    Ok(format!("LLM response: {}", answer["content"]["text"].as_str().unwrap_or_default()))
}

#[derive(Deserialize, JsonSchema)]
struct Elicitation {
    /// Message for the user.
    message: String,
}

async fn elicit(args: Elicitation, cx: CallContext) -> Result<String, ToolError> {
    let form = json!({
        "type": "object",
        "properties": {
            "username": {"type": "string", "description": "User's response"},
            "email": {"type": "string", "description": "User's email address"},
        },
        "required": ["username", "email"],
    });
    let answer = ask_user(&cx, args.message, form).await?;
    Ok(format!("User response: {answer}"))
}

async fn elicit_defaults(_: NoArguments, cx: CallContext) -> Result<String, ToolError> {
    let form = json!({
        "type": "object",
        "properties": {
            "name": {"type": "string", "default": "John Doe"},
            "age": {"type": "integer", "default": 30},
            "score": {"type": "number", "default": 95.5},
            "status": {"type": "string", "enum": ["active", "inactive", "pending"], "default": "active"},
            "verified": {"type": "boolean", "default": true},
        },
    });
    let answer = ask_user(&cx, "Please check these values.".into(), form).await?;
    Ok(format!("Elicitation completed: {answer}"))
}

async fn elicit_choices(_: NoArguments, cx: CallContext) -> Result<String, ToolError> {
    let options = json!(["option1", "option2", "option3"]);
    let form = json!({
        "type": "object",
        "properties": {
            "untitledSingle": {"type": "string", "enum": options},
            "titledSingle": {"type": "string", "oneOf": titled("Option")},
            "legacyEnum": {
                "type": "string",
                "enum": ["opt1", "opt2", "opt3"],
                "enumNames": ["Option One", "Option Two", "Option Three"],
            },
            "untitledMulti": {"type": "array", "items": {"type": "string", "enum": options}},
            "titledMulti": {"type": "array", "items": {"anyOf": titled("Choice")}},
        },
    });
    let answer = ask_user(&cx, "Please choose.".into(), form).await?;
    Ok(format!("Elicitation completed: {answer}"))
}

fn titled(noun: &str) -> Value {
    json!([
        {"const": "value1", "title": format!("First {noun}")},
        {"const": "value2", "title": format!("Second {noun}")},
        {"const": "value3", "title": format!("Third {noun}")},
    ])
}

async fn report_and_elicit(_: NoArguments, cx: CallContext) -> Result<String, ToolError> {
    cx.progress(1.0, Some(2.0), Some("about to ask")).await;
    let form = json!({"type": "object", "properties": {"ok": {"type": "boolean"}}, "required": ["ok"]});
    let answer = ask_user(&cx, "Continue?".into(), form).await?;
    Ok(format!("Elicitation completed: {answer}"))
}

async fn ask_user(cx: &CallContext, message: String, form: Value) -> Result<String, ToolError> {
    let answer = cx.ask("answer", InputRequest::elicit(message, form)).await?;
    Ok(format!("action={}, content={}", answer["action"].as_str().unwrap_or_default(), answer["content"]))
}
