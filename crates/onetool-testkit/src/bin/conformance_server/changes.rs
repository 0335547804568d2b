//! Tools that change what the server lists, so that clients have something to be told.

use onetool::{CallContext, PromptMessage, RegisterError, Server, prompt_fn, tool_fn};

use crate::NoArguments;

const EXTRA_TOOL: &str = "test_extra_tool";
const EXTRA_PROMPT: &str = "test_extra_prompt";

pub(crate) fn register(server: &Server) -> Result<(), RegisterError> {
    // The tools keep the server alive that holds them, which is fine here: it ends with the process.
    let tools = server.clone();
    server.register_tool(tool_fn(
        "test_trigger_tool_change",
        "Adds a tool, or takes it out again.",
        move |_: NoArguments, _: CallContext| std::future::ready(toggle_tool(&tools)),
    ))?;
    let prompts = server.clone();
    server.register_tool(tool_fn(
        "test_trigger_prompt_change",
        "Adds a prompt, or takes it out again.",
        move |_: NoArguments, _: CallContext| std::future::ready(toggle_prompt(&prompts)),
    ))
}

fn toggle_tool(server: &Server) -> Result<&'static str, RegisterError> {
    if server.unregister_tool(EXTRA_TOOL) {
        return Ok("The tool is gone.");
    }
    let extra = |_: NoArguments, _: CallContext| std::future::ready("I am new here.");
    server.register_tool(tool_fn(EXTRA_TOOL, "Comes and goes.", extra))?;
    Ok("The tool is there.")
}

fn toggle_prompt(server: &Server) -> Result<&'static str, RegisterError> {
    if server.unregister_prompt(EXTRA_PROMPT) {
        return Ok("The prompt is gone.");
    }
    let extra = |(): (), _: CallContext| std::future::ready(PromptMessage::user("I am new here."));
    server.register_prompt(prompt_fn(EXTRA_PROMPT, "Comes and goes.", extra))?;
    Ok("The prompt is there.")
}
