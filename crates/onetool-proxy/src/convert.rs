//! Converts an upstream's results to our own types, tolerating what is merely unusual.

use onetool_core::{ContentBlock, PromptMessage, PromptOutput, ResourceContents, Role, ToolOutput};
use serde::Deserialize as _;
use serde_json::Value;

use crate::json::{object, take};
use crate::names::wrapped_uri;

/// The metadata key under which a server of the newest revision identifies itself in every result.
const SERVER_INFO: &str = "io.modelcontextprotocol/serverInfo";

/// Converts the result of a tool.
pub(crate) fn tool_output(pack: &str, mut result: Value) -> Result<ToolOutput, String> {
    let fields = ["content", "structuredContent", "isError"];
    if !fields.iter().any(|field| result.get(*field).is_some()) {
        return Err("invalid tool result".to_owned());
    }
    let content: Vec<ContentBlock> = match take(&mut result, "content") {
        Value::Array(blocks) => blocks.into_iter().map(|block| content_block(pack, block)).collect(),
        // Not valid MCP, but unambiguous.
        Value::String(text) => vec![ContentBlock::text(text)],
        _ => Vec::new(),
    };
    let is_error = result["isError"].as_bool().unwrap_or_default();
    let structured = Some(take(&mut result, "structuredContent")).filter(|data| !data.is_null());
    let meta = object(take(&mut result, "_meta")).map(|mut meta| {
        // The client talks to us, not to this server.
        meta.shift_remove(SERVER_INFO);
        meta
    });
    let meta = meta.filter(|meta| !meta.is_empty());
    Ok(ToolOutput { content, structured_content: structured, is_error, meta })
}

/// Converts a content block. An invalid one becomes text with its JSON.
fn content_block(pack: &str, block: Value) -> ContentBlock {
    match ContentBlock::deserialize(&block) {
        Ok(ContentBlock::ResourceLink { uri, name, description, mime_type, extra }) => {
            let is_web = uri.starts_with("https://") || uri.starts_with("http://");
            let uri = if is_web { uri } else { wrapped_uri(pack, &uri) };
            ContentBlock::ResourceLink { uri, name, description, mime_type, extra }
        }
        Ok(block) => block,
        Err(_) => ContentBlock::text(block.to_string()),
    }
}

/// Converts the result of a prompt.
pub(crate) fn prompt_output(pack: &str, mut result: Value) -> Result<PromptOutput, String> {
    let Value::Array(messages) = take(&mut result, "messages") else {
        return Err("invalid prompt result: no messages".to_owned());
    };
    let message = |mut message: Value| {
        let role = if message["role"] == "assistant" { Role::Assistant } else { Role::User };
        let content = match take(&mut message, "content") {
            Value::String(text) => ContentBlock::text(text),
            block => content_block(pack, block),
        };
        PromptMessage { role, content }
    };
    let description = result["description"].as_str().map(str::to_owned);
    Ok(PromptOutput { description, messages: messages.into_iter().map(message).collect() })
}

/// Converts the contents of a resource, with URIs that resolve to this upstream.
pub(crate) fn resource_contents(pack: &str, mut result: Value) -> Result<Vec<ResourceContents>, String> {
    let Value::Array(contents) = take(&mut result, "contents") else {
        return Err("invalid resource result: no contents".to_owned());
    };
    let convert = |contents: Value| {
        let mut contents: ResourceContents =
            serde_json::from_value(contents).map_err(|error| error.to_string())?;
        contents.uri = wrapped_uri(pack, &contents.uri);
        Ok(contents)
    };
    contents.into_iter().map(convert).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn seam_10_a_result_is_unchanged() {
        let text = |text: &str| json!([{"type": "text", "text": text}]);
        for mut result in [
            json!({"content": text("x"), "structuredContent": {"a": 1}}),
            json!({"content": text("{\"b\": [1, null]}")}),
            json!({"content": [], "structuredContent": {"a": 1}}),
            json!({"content": text("{\"b\": 1}"), "isError": true}),
            json!({"content": [{"type": "text", "text": "x", "annotations": {"priority": 0.7, "vendor": [1]}}]}),
            json!({"content": [{"type": "resource", "resource": {"uri": "a://b", "text": "t", "_meta": {"k": 1}}}]}),
            json!({"content": [{"type": "hologram", "depth": 3}], "_meta": {"k": 1}}),
        ] {
            let output = json!(tool_output("p", result.clone()).unwrap());
            result.as_object_mut().unwrap().entry("isError").or_insert(false.into());
            assert_eq!(output, result);
        }
        assert!(tool_output("p", json!({"tools": []})).is_err());
    }

    #[test]
    fn prx_1_6_images_audio_resources_and_unknown_blocks_stay_content() {
        let blocks = json!([
            {"type": "image", "data": "AA==", "mimeType": "image/png"},
            {"type": "audio", "data": "AA==", "mimeType": "audio/wav", "annotations": {"priority": 1}},
            {"type": "resource", "resource": {"uri": "test://a", "text": "t"}},
            {"type": "resource_link", "uri": "test://b", "name": "b"},
            {"type": "resource_link", "uri": "https://example.org/", "name": "web"},
            {"type": "hologram", "depth": 3},
        ]);
        let output =
            tool_output("p", json!({"content": blocks, "_meta": {"k": 1, SERVER_INFO: {"name": "x"}}}))
                .unwrap();
        let content = serde_json::to_value(&output.content).unwrap();
        assert_eq!(content[0], json!({"type": "image", "data": "AA==", "mimeType": "image/png"}));
        assert_eq!(content[1]["type"], "audio");
        assert_eq!(content[2]["resource"], json!({"uri": "test://a", "text": "t"}));
        assert_eq!(content[3]["uri"], "onetool://server/p/test://b");
        assert_eq!(content[4]["uri"], "https://example.org/");
        assert_eq!(content[5], json!({"type": "hologram", "depth": 3}));
        assert_eq!(output.meta, object(json!({"k": 1})));
    }
}
