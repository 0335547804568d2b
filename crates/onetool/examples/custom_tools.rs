//! A server over stdio with one tool, one resource and one prompt, written in Rust.
//!
//! An MCP client starts it. To try it by hand:
//!
//! ```sh
//! echo '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"me","version":"1"}}}' |
//!     cargo run --quiet --ignore-rust-version -p onetool --example custom_tools
//! ```

use std::error::Error;

use onetool::{
    CallContext, Json, PromptMessage, ReadRequest, ResourceContents, Server, ToolAnnotations, ToolError,
    prompt_fn, resource_fn, tool_fn,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

// The doc comments of the fields become the parameter descriptions that the model reads.
#[derive(Deserialize, JsonSchema)]
struct Convert {
    /// The temperature in degrees Celsius.
    celsius: f64,
}

#[derive(Serialize, JsonSchema)]
struct Converted {
    fahrenheit: f64,
}

async fn convert(args: Convert, cx: CallContext) -> Result<Json<Converted>, ToolError> {
    if args.celsius < -273.15 {
        // The model receives the error as a result with `isError: true`, so that it can fix its call.
        return Err(ToolError::failed("nothing is colder than -273.15 °C"));
    }
    // Sent only to clients that requested progress notifications.
    cx.progress(1.0, Some(1.0), Some("converted")).await;
    Ok(Json(Converted { fahrenheit: args.celsius * 1.8 + 32.0 }))
}

/// A URI template is a family of resources; the value of its variable is in the request.
async fn scale(request: ReadRequest, _: CallContext) -> ResourceContents {
    let text = match request.values["name"].as_str() {
        "celsius" => "Water freezes at 0 and boils at 100.",
        "fahrenheit" => "Water freezes at 32 and boils at 212.",
        _ => "Unknown scale.",
    };
    ResourceContents::text(text, "text/plain")
}

#[derive(Deserialize, JsonSchema)]
struct Explain {
    /// The scale to explain.
    scale: String,
}

async fn explain(args: Explain, _: CallContext) -> PromptMessage {
    PromptMessage::user(format!("Explain the {} scale to a child, in three sentences.", args.scale))
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let server = Server::builder()
        .name("temperatures")
        .instructions("Converts temperatures.")
        // Declares to clients that they may request completions.
        .completions()
        .build()?;

    let tool = tool_fn("temperature.convert", "Converts Celsius to Fahrenheit.", convert)
        .annotations(ToolAnnotations::read_only())
        .output::<Converted>();
    server.register_tool(tool)?;

    let resource = resource_fn("temperature://scale/{name}", "scale", scale)
        .description("Facts about a temperature scale.")
        .mime_type("text/plain")
        .completions(|_variable, typed| {
            let names = ["celsius", "fahrenheit"].into_iter();
            names.filter(|name| name.starts_with(typed)).map(str::to_owned).collect()
        });
    server.register_resource(resource)?;

    server.register_prompt(prompt_fn("explain_scale", "Asks for an explanation of a scale.", explain))?;

    // stdout belongs to the protocol from here on: print nothing to it, log to stderr.
    server.serve_stdio().await?;
    Ok(())
}
