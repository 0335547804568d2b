//! Turns responses into tool outputs.

use onetool_core::{ContentBlock, JsonObject, ResourceContents, ToolOutput, parse_bounded_json};
use reqwest::StatusCode;
use reqwest::header::{HeaderMap, SET_COOKIE};
use serde_json::{Value, json};

use crate::media_type::{essence, is_json};

/// Maximum number of characters of an error's body to show as text.
const ERROR_TEXT_MAX: usize = 4_000;

/// Maximum size of an error's body to also return as structured content.
const ERROR_JSON_MAX: usize = 256 * 1024;

/// A completely read response.
pub(super) struct ApiResponse {
    pub(super) status: StatusCode,
    pub(super) content_type: String,
    pub(super) bytes: Vec<u8>,
}

impl ApiResponse {
    /// Converts the response; `redact` removes credentials from the body of an error.
    pub(super) fn into_output(self, redact: impl Fn(&str) -> String) -> ToolOutput {
        if self.status.is_success() { self.success() } else { self.error(redact) }
    }

    /// Converts the response with its status and headers, whether it is an error or not.
    pub(super) fn into_full_output(self, headers: Value, redact: impl Fn(&str) -> String) -> ToolOutput {
        let status = self.status;
        if self.bytes.is_empty() {
            return full(status, headers, Value::Null);
        }
        let output = if status.is_success() {
            self.success()
        } else {
            // The body of an error may repeat credentials.
            Self { bytes: redact(&String::from_utf8_lossy(&self.bytes)).into_bytes(), ..self }.success()
        };
        let data = output.structured_content.or_else(|| match output.content.as_slice() {
            [block] => block.as_text().map(Value::from),
            _ => None,
        });
        match data {
            Some(data) => full(status, headers, data),
            // Images and files come along as content.
            None => {
                let mut whole = full(status, headers, Value::Null);
                whole.content.extend(output.content);
                whole
            }
        }
    }

    fn success(self) -> ToolOutput {
        if self.bytes.is_empty() {
            return ToolOutput::text(format!("{} (empty response)", self.status));
        }
        let media_type = essence(&self.content_type);
        if let Some(value) = self.json(&media_type) {
            return ToolOutput::structured(value);
        }
        // SVG is text.
        if media_type.starts_with("image/") && media_type != "image/svg+xml" {
            return ContentBlock::image(&self.bytes, media_type).into();
        }
        if media_type.starts_with("audio/") {
            return ContentBlock::audio(&self.bytes, media_type).into();
        }
        let is_binary = self.bytes.contains(&0);
        match String::from_utf8(self.bytes) {
            Ok(text) if !is_binary => ToolOutput::text(text),
            Err(error) if media_type.starts_with("text/") => {
                ToolOutput::text(decode_text(error.as_bytes(), &self.content_type))
            }
            other => {
                let bytes = other.map_or_else(std::string::FromUtf8Error::into_bytes, String::into_bytes);
                let media_type =
                    if media_type.is_empty() { "application/octet-stream".to_owned() } else { media_type };
                let contents = ResourceContents::blob(bytes, media_type).with_uri("onetool://answer");
                ContentBlock::resource(contents).into()
            }
        }
    }

    fn error(self, redact: impl Fn(&str) -> String) -> ToolOutput {
        let media_type = essence(&self.content_type);
        let text = redact(&String::from_utf8_lossy(&self.bytes));
        let shown: String = text.trim().chars().take(ERROR_TEXT_MAX).collect();
        let ellipsis = if shown.len() < text.trim().len() { " […]" } else { "" };
        let separator = if shown.is_empty() { "" } else { ": " };
        let mut output = ToolOutput::error(format!("HTTP {}{separator}{shown}{ellipsis}", self.status));
        let is_json = is_json(&media_type) || text.starts_with(['{', '[']);
        if is_json
            && text.len() <= ERROR_JSON_MAX
            && let Ok(body) = serde_json::from_str::<Value>(&text)
        {
            output.structured_content = Some(json!({"status": self.status.as_u16(), "body": body}));
        }
        output
    }

    fn json(&self, media_type: &str) -> Option<Value> {
        let first_byte = self.bytes.iter().find(|byte| !byte.is_ascii_whitespace());
        let may_be_json =
            is_json(media_type) || (media_type.is_empty() && matches!(first_byte, Some(b'{' | b'[')));
        if may_be_json { parse_bounded_json(&self.bytes) } else { None }
    }
}

/// Returns the output for a response with its status and headers.
pub(super) fn full(status: StatusCode, headers: Value, data: Value) -> ToolOutput {
    ToolOutput::structured(json!({"status": status.as_u16(), "headers": headers, "data": data}))
}

/// Returns the headers of a response under their lowercase names, without cookies and credentials.
pub(super) fn headers(headers: &HeaderMap, redact: impl Fn(&str) -> String) -> Value {
    let mut values = JsonObject::new();
    for name in headers.keys().filter(|name| *name != SET_COOKIE) {
        let texts: Vec<_> =
            headers.get_all(name).iter().map(|value| String::from_utf8_lossy(value.as_bytes())).collect();
        values.insert(name.as_str().to_owned(), redact(&texts.join(", ")).into());
    }
    Value::Object(values)
}

/// Decodes text that is not UTF-8: as Latin-1 if declared so, otherwise with replacement characters.
fn decode_text(bytes: &[u8], content_type: &str) -> String {
    let content_type = content_type.to_ascii_lowercase();
    if content_type.contains("iso-8859-1") || content_type.contains("windows-1252") {
        return bytes.iter().map(|byte| char::from(*byte)).collect();
    }
    String::from_utf8_lossy(bytes).into_owned()
}
