//! From a response to what a caller gets.

use onetool_core::{ContentBlock, ResourceContents, ToolOutput, light_json};
use reqwest::StatusCode;
use serde_json::{Value, json};

use crate::media_type::{essence, is_json};

/// How much of an error's body is shown as text.
const ERROR_TEXT: usize = 4_000;

/// Up to which size an error's JSON is also given as data.
const ERROR_JSON: usize = 256 * 1024;

/// A response, read to its end.
pub(super) struct Answer {
    pub(super) status: StatusCode,
    pub(super) content_type: String,
    pub(super) bytes: Vec<u8>,
}

impl Answer {
    /// Makes the output; `scrub` takes credentials out of what an error says.
    pub(super) fn output(self, scrub: impl Fn(&str) -> String) -> ToolOutput {
        if self.status.is_success() { self.success() } else { self.error(scrub) }
    }

    fn success(self) -> ToolOutput {
        if self.bytes.is_empty() {
            return ToolOutput::text(format!("{}, without content", self.status));
        }
        let media_type = essence(&self.content_type);
        if let Some(value) = self.json(&media_type) {
            return ToolOutput::structured(value);
        }
        let is_picture = media_type.starts_with("image/") && media_type != "image/svg+xml";
        if is_picture {
            return ContentBlock::image(&self.bytes, media_type).into();
        }
        if media_type.starts_with("audio/") {
            return ContentBlock::audio(&self.bytes, media_type).into();
        }
        let is_binary = self.bytes.contains(&0);
        match String::from_utf8(self.bytes) {
            Ok(text) if !is_binary => ToolOutput::text(text),
            Err(error) if media_type.starts_with("text/") => {
                ToolOutput::text(decoded(error.as_bytes(), &self.content_type))
            }
            other => {
                let bytes = other.map_or_else(std::string::FromUtf8Error::into_bytes, String::into_bytes);
                let media_type =
                    if media_type.is_empty() { "application/octet-stream".to_owned() } else { media_type };
                let contents = ResourceContents::blob(bytes, media_type).at("onetool://answer");
                ContentBlock::resource(contents).into()
            }
        }
    }

    fn error(self, scrub: impl Fn(&str) -> String) -> ToolOutput {
        let media_type = essence(&self.content_type);
        let text = scrub(&String::from_utf8_lossy(&self.bytes));
        let shown: String = text.trim().chars().take(ERROR_TEXT).collect();
        let cut = if shown.len() < text.trim().len() { " […]" } else { "" };
        let separator = if shown.is_empty() { "" } else { ": " };
        let mut output = ToolOutput::error(format!("HTTP {}{separator}{shown}{cut}", self.status));
        let is_json = is_json(&media_type) || text.starts_with(['{', '[']);
        if is_json
            && text.len() <= ERROR_JSON
            && let Ok(body) = serde_json::from_str::<Value>(&text)
        {
            output.structured_content = Some(json!({"status": self.status.as_u16(), "body": body}));
        }
        output
    }

    fn json(&self, media_type: &str) -> Option<Value> {
        let starts = self.bytes.iter().find(|byte| !byte.is_ascii_whitespace());
        let may_be = is_json(media_type) || (media_type.is_empty() && matches!(starts, Some(b'{' | b'[')));
        if may_be { light_json(&self.bytes) } else { None }
    }
}

/// Reads text that is not UTF-8: Latin-1 if that is what it says, else with marks where it cannot be read.
fn decoded(bytes: &[u8], content_type: &str) -> String {
    let content_type = content_type.to_ascii_lowercase();
    if content_type.contains("iso-8859-1") || content_type.contains("windows-1252") {
        return bytes.iter().map(|byte| char::from(*byte)).collect();
    }
    String::from_utf8_lossy(bytes).into_owned()
}
