//! Tools that request input from a stateless client (`InputRequiredResult`), some with their own state.

use std::collections::BTreeMap;

use onetool::{CallContext, InputRequest, InputRequired, RegisterError, Server, ToolError, tool_fn};
use serde_json::{Value, json};

use crate::NoArguments;

pub(crate) fn register(server: &Server) -> Result<(), RegisterError> {
    let name = |tool: &str| format!("test_input_required_result_{tool}");
    server.register_tool(tool_fn(name("elicitation"), "Asks the user for a name.", greet))?;
    server.register_tool(tool_fn(name("sampling"), "Asks the client's model.", capital))?;
    server.register_tool(tool_fn(name("list_roots"), "Asks for the client's roots.", list_roots))?;
    server.register_tool(tool_fn(name("request_state"), "Asks, and expects its state back.", confirm))?;
    server.register_tool(tool_fn(name("tampered_state"), "Asks, and expects its state back.", confirm))?;
    server.register_tool(tool_fn(name("multiple_inputs"), "Asks three questions together.", ask_all))?;
    server.register_tool(tool_fn(
        name("capabilities"),
        "Asks only what the client can answer.",
        ask_supported,
    ))?;
    server.register_tool(tool_fn(name("multi_round"), "Asks twice, one after the other.", ask_twice))
}

fn text_question(message: &str, field: &str) -> InputRequest {
    let form = json!({"type": "object", "properties": {field: {"type": "string"}}, "required": [field]});
    InputRequest::elicit(message, form)
}

fn name_question() -> InputRequest {
    text_question("What is your name?", "name")
}

async fn greet(_: NoArguments, cx: CallContext) -> Result<String, ToolError> {
    let answer = cx.ask("user_name", name_question()).await?;
    match answer["content"]["name"].as_str() {
        Some(name) => Ok(format!("Hello, {name}!")),
        None if answer["action"].is_string() => Ok("Hello, stranger!".into()),
        // The response is not an elicitation result.
        None => Err(required([("user_name", name_question())], None)),
    }
}

async fn capital(_: NoArguments, cx: CallContext) -> Result<String, ToolError> {
    let question = InputRequest::sample("What is the capital of France?", 100);
    let answer = cx.ask("capital_question", question).await?;
    Ok(answer["content"]["text"].as_str().unwrap_or_default().to_owned())
}

async fn list_roots(_: NoArguments, cx: CallContext) -> Result<String, ToolError> {
    let answer = cx.ask("client_roots", InputRequest::roots()).await?;
    Ok(format!("The client's roots are {}.", answer["roots"]))
}

async fn confirm(_: NoArguments, cx: CallContext) -> Result<&'static str, ToolError> {
    let form = json!({"type": "object", "properties": {"ok": {"type": "boolean"}}, "required": ["ok"]});
    let state = json!("waiting for a confirmation");
    answers(&cx, [("confirm", InputRequest::elicit("Please confirm", form))], state.clone())?;
    if cx.input().state == Some(state) {
        Ok("state-ok")
    } else {
        Err(ToolError::failed("the state is missing"))
    }
}

fn three_questions() -> [(&'static str, InputRequest); 3] {
    [
        ("user_name", name_question()),
        ("greeting", InputRequest::sample("Generate a greeting", 50)),
        ("client_roots", InputRequest::roots()),
    ]
}

async fn ask_all(_: NoArguments, cx: CallContext) -> Result<String, ToolError> {
    let answers = answers(&cx, three_questions(), json!("asked all three"))?;
    Ok(json!(answers).to_string())
}

async fn ask_supported(_: NoArguments, cx: CallContext) -> Result<String, ToolError> {
    let known = cx.client().capabilities;
    let supported = three_questions().into_iter().filter(|(_, it)| known.contains_key(it.kind.capability()));
    let answers = answers(&cx, supported, json!("asked what is supported"))?;
    Ok(json!(answers).to_string())
}

async fn ask_twice(_: NoArguments, cx: CallContext) -> Result<String, ToolError> {
    let first = text_question("Step 1: What is your name?", "name");
    answers(&cx, [("step1", first)], json!({"step": 1}))?;
    let second = text_question("Step 2: What is your favorite color?", "color");
    let answers = answers(&cx, [("step2", second)], json!({"step": 2}))?;
    let field = |step: &str, name: &str| answers[step]["content"][name].as_str().unwrap_or("unknown");
    Ok(format!("Name: {}, color: {}.", field("step1", "name"), field("step2", "color")))
}

/// Returns all answers so far. Fails with a request for the missing ones until every question has an answer.
fn answers(
    cx: &CallContext,
    questions: impl IntoIterator<Item = (&'static str, InputRequest)>,
    state: Value,
) -> Result<&BTreeMap<String, Value>, ToolError> {
    let answers = &cx.input().responses;
    let mut open = questions.into_iter().filter(|(key, _)| !answers.contains_key(*key)).peekable();
    if open.peek().is_none() { Ok(answers) } else { Err(required(open, Some(state))) }
}

fn required(
    questions: impl IntoIterator<Item = (&'static str, InputRequest)>,
    state: Option<Value>,
) -> ToolError {
    let requests = questions.into_iter().map(|(key, question)| (key.to_owned(), question)).collect();
    ToolError::InputRequired(Box::new(InputRequired { requests, state }))
}
