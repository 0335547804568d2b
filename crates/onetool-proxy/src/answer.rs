//! An upstream's answers as our own types, as much of them as can be understood.

use onetool_core::{
    ContentBlock, JsonObject, PromptMessage, PromptOutput, ResourceContents, Role, ToolOutput,
};
use serde::Deserialize as _;
use serde_json::Value;

use crate::resource::wrapped_uri;

/// Where a server of the newest revision says in every answer who it is.
const SERVER_INFO: &str = "io.modelcontextprotocol/serverInfo";

/// Makes the output of a tool, with all that its result says.
pub(crate) fn tool_output(pack: &str, mut result: Value) -> Result<ToolOutput, String> {
    let fields = ["content", "structuredContent", "isError"];
    if !fields.iter().any(|field| result.get(*field).is_some()) {
        return Err("its answer is not the result of a tool".to_owned());
    }
    let content: Vec<ContentBlock> = match take(&mut result, "content") {
        Value::Array(blocks) => blocks.into_iter().map(|block| content_block(pack, block)).collect(),
        // Sloppy, but clear enough.
        Value::String(text) => vec![ContentBlock::text(text)],
        _ => Vec::new(),
    };
    let is_error = result["isError"].as_bool().unwrap_or_default();
    let structured = Some(take(&mut result, "structuredContent")).filter(|data| !data.is_null());
    let meta = object(take(&mut result, "_meta")).map(|mut meta| {
        // Who answers the client is us.
        meta.shift_remove(SERVER_INFO);
        meta
    });
    let meta = meta.filter(|meta| !meta.is_empty());
    Ok(ToolOutput { content, structured_content: structured, is_error, meta })
}

/// Makes a block of content. What is not even an object is kept as its JSON text.
fn content_block(pack: &str, block: Value) -> ContentBlock {
    match ContentBlock::deserialize(&block) {
        Ok(ContentBlock::ResourceLink { uri, name, description, mime_type, extra }) => {
            let is_web = uri.starts_with("https://") || uri.starts_with("http://");
            let uri = if is_web { uri } else { wrapped_uri(pack, &uri) };
            ContentBlock::ResourceLink { uri, name, description, mime_type, extra }
        }
        Ok(known) => known,
        Err(_) => ContentBlock::text(block.to_string()),
    }
}

/// Makes what a prompt comes to.
pub(crate) fn prompt_output(pack: &str, mut result: Value) -> Result<PromptOutput, String> {
    let Value::Array(messages) = take(&mut result, "messages") else {
        return Err("its answer has no messages".to_owned());
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

/// Makes the contents of a resource, under addresses that lead back to it.
pub(crate) fn resource_contents(pack: &str, mut result: Value) -> Result<Vec<ResourceContents>, String> {
    let Value::Array(contents) = take(&mut result, "contents") else {
        return Err("its answer has no contents".to_owned());
    };
    let read = |contents: Value| {
        let mut contents: ResourceContents =
            serde_json::from_value(contents).map_err(|error| error.to_string())?;
        contents.uri = wrapped_uri(pack, &contents.uri);
        Ok(contents)
    };
    contents.into_iter().map(read).collect()
}

/// Takes a field out of an object; null where there is none, or no object.
pub(crate) fn take(value: &mut Value, field: &str) -> Value {
    value.get_mut(field).map(Value::take).unwrap_or_default()
}

/// Takes an object out of a value; what is none is left out.
pub(crate) fn object(value: Value) -> Option<JsonObject> {
    match value {
        Value::Object(object) => Some(object),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn seam_10_a_result_stays_as_it_is() {
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
    fn prx_1_6_images_audio_resources_and_what_is_unknown_stay_content() {
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
