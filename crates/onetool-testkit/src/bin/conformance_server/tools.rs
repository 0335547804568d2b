//! Tools with every kind of content, and with unusual schemas.

use onetool::{
    CallContext, ContentBlock, JsonObject, RegisterError, ResourceContents, Server, ToolError, ToolSpec,
    dynamic_tool, tool_fn,
};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::NoArguments;
use crate::media::{PIXEL, SILENCE};

pub(crate) fn register(server: &Server) -> Result<(), RegisterError> {
    server.register_tool(tool_fn("test_simple_text", "Returns text.", simple_text))?;
    server.register_tool(tool_fn("test_image_content", "Returns an image.", image))?;
    server.register_tool(tool_fn("test_audio_content", "Returns sound.", audio))?;
    server.register_tool(tool_fn("test_embedded_resource", "Returns a resource.", embedded_resource))?;
    server.register_tool(tool_fn(
        "test_multiple_content_types",
        "Returns several kinds of content.",
        mixed,
    ))?;
    server.register_tool(tool_fn("test_error_handling", "Always fails.", fail))?;
    server.register_tool(tool_fn("test_custom_header", "Has a parameter that is also a header.", region))?;
    server.register_tool(tool_fn("greet", "Greets someone.", greet))?;
    let spec =
        ToolSpec::new("json_schema_2020_12_tool", "Has a schema with many JSON Schema 2020-12 keywords.")
            .with_input_schema(many_keywords());
    server.register_tool(dynamic_tool(spec, echo))
}

async fn simple_text(_: NoArguments, _: CallContext) -> &'static str {
    "This is a simple text response for testing."
}

async fn image(_: NoArguments, _: CallContext) -> ContentBlock {
    ContentBlock::image(PIXEL, "image/png")
}

async fn audio(_: NoArguments, _: CallContext) -> ContentBlock {
    ContentBlock::audio(SILENCE, "audio/wav")
}

async fn embedded_resource(_: NoArguments, _: CallContext) -> ContentBlock {
    let contents = ResourceContents::text("This is an embedded resource content.", "text/plain");
    ContentBlock::resource(contents.with_uri("test://embedded-resource"))
}

async fn mixed(_: NoArguments, _: CallContext) -> Vec<ContentBlock> {
    let data = json!({"test": "data", "value": 123});
    let contents = ResourceContents::text(data.to_string(), "application/json");
    vec![
        ContentBlock::text("Multiple content types test:"),
        ContentBlock::image(PIXEL, "image/png"),
        ContentBlock::resource(contents.with_uri("test://mixed-content-resource")),
    ]
}

async fn fail(_: NoArguments, _: CallContext) -> Result<(), ToolError> {
    Err(ToolError::failed("This tool intentionally returns an error for testing"))
}

#[derive(Deserialize, JsonSchema)]
struct Region {
    /// Region to look in; clients also send it as the header `Mcp-Param-Region`.
    #[schemars(extend("x-mcp-header" = "Region"))]
    region: String,
}

async fn region(args: Region, _: CallContext) -> String {
    format!("The region is {}.", args.region)
}

#[derive(Deserialize, JsonSchema)]
struct Greeting {
    /// Name of the person to greet.
    name: String,
}

async fn greet(args: Greeting, _: CallContext) -> String {
    format!("Hello, {}!", args.name)
}

fn many_keywords() -> JsonObject {
    let schema = json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "$defs": {
            "address": {
                "$anchor": "addressDef",
                "type": "object",
                "properties": {"street": {"type": "string"}, "city": {"type": "string"}},
            },
        },
        "properties": {
            "name": {"type": "string"},
            "address": {"$ref": "#/$defs/address"},
            "contactMethod": {"type": "string", "enum": ["phone", "email"]},
            "phone": {"type": "string"},
            "email": {"type": "string"},
        },
        "allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}],
        "if": {"properties": {"contactMethod": {"const": "phone"}}, "required": ["contactMethod"]},
        "then": {"required": ["phone"]},
        "else": {"required": ["email"]},
        "additionalProperties": false,
    });
    schema.as_object().cloned().unwrap_or_default()
}

async fn echo(args: JsonObject, _: CallContext) -> String {
    Value::Object(args).to_string()
}
