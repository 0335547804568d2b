//! Tools that change the server's lists, so that clients get notifications.

use onetool::{CallContext, PromptMessage, RegisterError, Server, prompt_fn, tool_fn};

use crate::NoArguments;

const EXTRA_TOOL: &str = "test_extra_tool";
const EXTRA_PROMPT: &str = "test_extra_prompt";

pub(crate) fn register(server: &Server) -> Result<(), RegisterError> {
    // The server and its tools keep each other alive, which is fine here: the server lives as long as the process.
    let tools = server.clone();
    server.register_tool(tool_fn(
        "test_trigger_tool_change",
        "Adds a tool, or removes it if it exists.",
        move |_: NoArguments, _: CallContext| std::future::ready(toggle_tool(&tools)),
    ))?;
    let prompts = server.clone();
    server.register_tool(tool_fn(
        "test_trigger_prompt_change",
        "Adds a prompt, or removes it if it exists.",
        move |_: NoArguments, _: CallContext| std::future::ready(toggle_prompt(&prompts)),
    ))
}

fn toggle_tool(server: &Server) -> Result<&'static str, RegisterError> {
    if server.unregister_tool(EXTRA_TOOL) {
        return Ok("Removed the tool.");
    }
    let extra = |_: NoArguments, _: CallContext| std::future::ready("This is the extra tool.");
    server.register_tool(tool_fn(EXTRA_TOOL, "Is added and removed by another tool.", extra))?;
    Ok("Added the tool.")
}

fn toggle_prompt(server: &Server) -> Result<&'static str, RegisterError> {
    if server.unregister_prompt(EXTRA_PROMPT) {
        return Ok("Removed the prompt.");
    }
    let extra = |(): (), _: CallContext| std::future::ready(PromptMessage::user("This is the extra prompt."));
    server.register_prompt(prompt_fn(EXTRA_PROMPT, "Is added and removed by another tool.", extra))?;
    Ok("Added the prompt.")
}
