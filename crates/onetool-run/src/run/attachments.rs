//! Images, audio, files and links that tools returned during a run. Those that the code returns or prints are sent to
//! the client as content blocks; placeholders replace their data in the text.

use std::fmt::Write as _;

use memchr::memmem;
use onetool_core::{ContentBlock, json_weight};
use serde_json::Value;

/// Maximum number of blocks that a run collects, and their maximum total size.
const MAX_BLOCKS: usize = 64;
const MAX_BLOCK_BYTES: usize = 64 << 20;
/// Maximum size of the blocks in one response; clients disconnect on larger messages.
const MAX_ATTACHED_BYTES: usize = 8 << 20;
/// Minimum length of data that is searched for; shorter data may occur in a text by chance.
const MIN_DATA: usize = 16;

/// Blocks that a run may attach to its response.
#[derive(Default)]
pub(crate) struct Attachments {
    blocks: Vec<ContentBlock>,
    bytes: usize,
}

impl Attachments {
    /// Returns the blocks that can be attached: those that are not text.
    pub(super) fn attachable(content: &[ContentBlock]) -> Vec<ContentBlock> {
        content.iter().filter(|block| data_or_uri(block).is_some()).cloned().collect()
    }

    /// Adds blocks, without duplicates and up to the limits.
    pub(super) fn extend(&mut self, blocks: Vec<ContentBlock>) {
        for block in blocks {
            let bytes = data_or_uri(&block).map_or(0, str::len);
            if self.blocks.len() < MAX_BLOCKS
                && self.bytes + bytes <= MAX_BLOCK_BYTES
                && !self.blocks.contains(&block)
            {
                self.bytes += bytes;
                self.blocks.push(block);
            }
        }
    }

    /// Replaces blocks in the JSON of a value with placeholders. Data inside of strings is left to
    /// [`Attachments::extract_from_text`].
    pub(super) fn replace_in_json(&self, json: String, max_tree: usize) -> String {
        let is_present =
            self.data_blocks().any(|(_, data, _)| memmem::find(json.as_bytes(), data.as_bytes()).is_some());
        if !is_present || json_weight(json.as_bytes()) > max_tree {
            return json;
        }
        match serde_json::from_str(&json) {
            Ok(mut value) => {
                self.replace(&mut value);
                value.to_string()
            }
            Err(_) => json,
        }
    }

    fn replace(&self, value: &mut Value) {
        let data = value.get("data").or_else(|| value.get("resource")?.get("blob")).and_then(Value::as_str);
        if let Some(data) = data.filter(|_| value["type"].is_string()) {
            let placeholder = self
                .data_blocks()
                .find(|(_, known, _)| *known == data)
                .map(|(number, _, block)| placeholder(number, block));
            if let Some(placeholder) = placeholder {
                *value = placeholder.into();
                return;
            }
        }
        match value {
            Value::Array(items) => items.iter_mut().for_each(|item| self.replace(item)),
            Value::Object(members) => members.values_mut().for_each(|member| self.replace(member)),
            _ => {}
        }
    }

    /// Replaces the data of blocks in a text with placeholders, and returns the blocks that the text refers to.
    pub(super) fn extract_from_text(&self, mut text: String) -> (String, Vec<ContentBlock>) {
        let (mut attached, mut omitted, mut bytes) = (Vec::new(), 0, 0);
        let mut attach = |block: &ContentBlock, size: usize| {
            if bytes + size > MAX_ATTACHED_BYTES {
                omitted += 1;
            } else {
                bytes += size;
                attached.push(block.clone());
            }
        };
        for (number, data, block) in self.data_blocks() {
            let placeholder = placeholder(number, block);
            let is_present = memmem::find(text.as_bytes(), data.as_bytes()).is_some();
            if is_present {
                text = text.replace(data, &placeholder);
            }
            if is_present || memmem::find(text.as_bytes(), placeholder.as_bytes()).is_some() {
                attach(block, data.len());
            }
        }
        for block in &self.blocks {
            if let ContentBlock::ResourceLink { uri, .. } = block
                && memmem::find(text.as_bytes(), uri.as_bytes()).is_some()
            {
                attach(block, uri.len());
            }
        }
        if omitted > 0 {
            let plural = if omitted == 1 { "" } else { "s" };
            let _ = write!(text, "\n({omitted} attachment{plural} omitted: limit 8 MiB per response)");
        }
        (text, attached)
    }

    /// Returns the blocks with data, each with its number and its data.
    fn data_blocks(&self) -> impl Iterator<Item = (usize, &str, &ContentBlock)> {
        let is_data = |block: &&ContentBlock| !matches!(block, ContentBlock::ResourceLink { .. });
        let blocks = self.blocks.iter().filter(is_data).zip(1..);
        blocks.filter_map(|(block, number)| Some((number, data_or_uri(block)?, block)))
    }
}

/// Returns the text that identifies a block: its data, or the URI of a link.
fn data_or_uri(block: &ContentBlock) -> Option<&str> {
    match block {
        ContentBlock::Image { data, .. } | ContentBlock::Audio { data, .. } => Some(data.as_str()),
        ContentBlock::Resource { resource, .. } => resource.blob.as_deref(),
        ContentBlock::ResourceLink { uri, .. } => return Some(uri),
        _ => None,
    }
    .filter(|data| data.len() >= MIN_DATA)
}

/// Returns the text that replaces a block's data.
fn placeholder(number: usize, block: &ContentBlock) -> String {
    let (kind, mime_type) = match block {
        ContentBlock::Image { mime_type, .. } => ("image", mime_type.as_str()),
        ContentBlock::Audio { mime_type, .. } => ("audio", mime_type.as_str()),
        ContentBlock::Resource { resource, .. } => {
            ("file", resource.mime_type.as_deref().unwrap_or_default())
        }
        _ => ("block", ""),
    };
    // Four characters of base64 are three bytes.
    let bytes = data_or_uri(block).map_or(0, str::len) / 4 * 3;
    let mime_type: String = mime_type.chars().filter(char::is_ascii_graphic).take(100).collect();
    format!("[attachment {number}: {kind}, {mime_type}, about {bytes} bytes]")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn attachments(blocks: &[ContentBlock]) -> Attachments {
        let mut attachments = Attachments::default();
        attachments.extend(Attachments::attachable(blocks));
        attachments
    }

    #[test]
    fn seam_10_an_image_in_a_value_is_attached_and_replaced_by_a_placeholder() {
        let (first, second) =
            (ContentBlock::image([1; 90], "image/png"), ContentBlock::audio([2; 30], "audio/wav"));
        let all = attachments(&[ContentBlock::text("t"), first.clone(), second.clone(), first.clone()]);
        let value = serde_json::json!({"shots": [{"of": "a", "shot": first}], "n": 1}).to_string();
        let (text, blocks) = all.extract_from_text(all.replace_in_json(value, usize::MAX));
        assert_eq!(
            text,
            r#"{"shots":[{"of":"a","shot":"[attachment 1: image, image/png, about 90 bytes]"}],"n":1}"#
        );
        assert_eq!(blocks, [first]);
    }

    #[test]
    fn seam_10_data_in_a_text_is_replaced_everywhere() {
        let image = ContentBlock::image([7; 60], "image/png");
        let ContentBlock::Image { data, .. } = &image else { unreachable!() };
        let all = attachments(std::slice::from_ref(&image));
        let (text, blocks) =
            all.extract_from_text(format!("{{'type': 'image', 'data': '{data}'}} and {data}"));
        assert!(!text.contains(data) && text.matches("[attachment 1: image").count() == 2, "{text}");
        assert_eq!(blocks, [image]);
        assert_eq!(all.extract_from_text("no data".to_owned()), ("no data".to_owned(), Vec::new()));
    }

    #[test]
    fn seam_10_a_response_has_a_size_limit() {
        let image = |byte| ContentBlock::image(vec![byte; 5 << 20], "image/png");
        let all = attachments(&[image(1), image(2)]);
        let value = serde_json::json!([image(1), image(2)]).to_string();
        let (text, blocks) = all.extract_from_text(all.replace_in_json(value, usize::MAX));
        assert_eq!(blocks, [image(1)]);
        assert!(text.ends_with("(1 attachment omitted: limit 8 MiB per response)"), "{}", &text[..200]);
    }
}
