//! Pictures, sound, bytes and links that tools answered in a run: what the code returns or prints of them goes to the
//! client as blocks of their kind, and the text says so in their place.

use std::fmt::Write as _;

use memchr::memmem;
use onetool_core::{ContentBlock, json_weight};
use serde_json::Value;

/// Most blocks that are kept for the end of a run, and most bytes of them.
const MAX_KEPT: usize = 64;
const MAX_KEPT_BYTES: usize = 64 << 20;
/// Most bytes that one response carries; clients hang up on larger messages.
const MAX_ATTACHED_BYTES: usize = 8 << 20;
/// Shorter data may stand in a text by chance.
const MIN_DATA: usize = 16;

/// Blocks that a run may attach to its response.
#[derive(Default)]
pub(crate) struct Attachments {
    blocks: Vec<ContentBlock>,
    bytes: usize,
}

impl Attachments {
    /// Takes the blocks that are not text.
    pub(super) fn of(content: &[ContentBlock]) -> Vec<ContentBlock> {
        content.iter().filter(|block| mark(block).is_some()).cloned().collect()
    }

    pub(super) fn extend(&mut self, blocks: Vec<ContentBlock>) {
        for block in blocks {
            let bytes = mark(&block).map_or(0, str::len);
            if self.blocks.len() < MAX_KEPT
                && self.bytes + bytes <= MAX_KEPT_BYTES
                && !self.blocks.contains(&block)
            {
                self.bytes += bytes;
                self.blocks.push(block);
            }
        }
    }

    /// Replaces blocks in the JSON of a value by notes; what is left of them in texts is for [`Attachments::in_text`].
    pub(super) fn in_value(&self, json: String, max_tree: usize) -> String {
        let is_there =
            self.data_blocks().any(|(_, mark, _)| memmem::find(json.as_bytes(), mark.as_bytes()).is_some());
        if !is_there || json_weight(json.as_bytes()) > max_tree {
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
            let note = self
                .data_blocks()
                .find(|(_, mark, _)| *mark == data)
                .map(|(number, _, block)| note(number, block));
            if let Some(note) = note {
                *value = note.into();
                return;
            }
        }
        match value {
            Value::Array(items) => items.iter_mut().for_each(|item| self.replace(item)),
            Value::Object(members) => members.values_mut().for_each(|member| self.replace(member)),
            _ => {}
        }
    }

    /// Replaces the data of blocks in a text by notes, and returns the blocks that the text speaks of.
    pub(super) fn in_text(&self, mut text: String) -> (String, Vec<ContentBlock>) {
        let (mut attached, mut left_behind, mut bytes) = (Vec::new(), 0, 0);
        let mut attach = |block: &ContentBlock, size: usize| {
            if bytes + size > MAX_ATTACHED_BYTES {
                left_behind += 1;
            } else {
                bytes += size;
                attached.push(block.clone());
            }
        };
        for (number, data, block) in self.data_blocks() {
            let note = note(number, block);
            let is_there = memmem::find(text.as_bytes(), data.as_bytes()).is_some();
            if is_there {
                text = text.replace(data, &note);
            }
            if is_there || memmem::find(text.as_bytes(), note.as_bytes()).is_some() {
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
        if left_behind > 0 {
            let plural = if left_behind == 1 { "" } else { "s" };
            let _ = write!(
                text,
                "\n({left_behind} attachment{plural} omitted: one response carries at most 8 MiB)"
            );
        }
        (text, attached)
    }

    /// Returns the blocks that are data, with their numbers.
    fn data_blocks(&self) -> impl Iterator<Item = (usize, &str, &ContentBlock)> {
        let is_data = |block: &&ContentBlock| !matches!(block, ContentBlock::ResourceLink { .. });
        let blocks = self.blocks.iter().filter(is_data).zip(1..);
        blocks.filter_map(|(block, number)| Some((number, mark(block)?, block)))
    }
}

/// Returns what a block is recognized by: its data, or where it leads.
fn mark(block: &ContentBlock) -> Option<&str> {
    match block {
        ContentBlock::Image { data, .. } | ContentBlock::Audio { data, .. } => Some(data.as_str()),
        ContentBlock::Resource { resource, .. } => resource.blob.as_deref(),
        ContentBlock::ResourceLink { uri, .. } => return Some(uri),
        _ => None,
    }
    .filter(|data| data.len() >= MIN_DATA)
}

/// Describes a block where its data was.
fn note(number: usize, block: &ContentBlock) -> String {
    let (kind, mime_type) = match block {
        ContentBlock::Image { mime_type, .. } => ("image", mime_type.as_str()),
        ContentBlock::Audio { mime_type, .. } => ("audio", mime_type.as_str()),
        ContentBlock::Resource { resource, .. } => {
            ("file", resource.mime_type.as_deref().unwrap_or_default())
        }
        _ => ("block", ""),
    };
    // Four characters of base64 are three bytes.
    let bytes = mark(block).map_or(0, str::len) / 4 * 3;
    let mime_type: String = mime_type.chars().filter(char::is_ascii_graphic).take(100).collect();
    format!("[attachment {number}: {kind}, {mime_type}, about {bytes} bytes]")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn attachments(blocks: &[ContentBlock]) -> Attachments {
        let mut attachments = Attachments::default();
        attachments.extend(Attachments::of(blocks));
        attachments
    }

    #[test]
    fn seam_10_a_picture_in_a_value_becomes_a_note_and_stays_a_block() {
        let (first, second) =
            (ContentBlock::image([1; 90], "image/png"), ContentBlock::audio([2; 30], "audio/wav"));
        let all = attachments(&[ContentBlock::text("t"), first.clone(), second.clone(), first.clone()]);
        let value = serde_json::json!({"shots": [{"of": "a", "shot": first}], "n": 1}).to_string();
        let (text, blocks) = all.in_text(all.in_value(value, usize::MAX));
        assert_eq!(
            text,
            r#"{"shots":[{"of":"a","shot":"[attachment 1: image, image/png, about 90 bytes]"}],"n":1}"#
        );
        assert_eq!(blocks, [first]);
    }

    #[test]
    fn seam_10_data_in_a_text_is_replaced_wherever_it_stands() {
        let image = ContentBlock::image([7; 60], "image/png");
        let ContentBlock::Image { data, .. } = &image else { unreachable!() };
        let all = attachments(std::slice::from_ref(&image));
        let (text, blocks) = all.in_text(format!("{{'type': 'image', 'data': '{data}'}} and {data}"));
        assert!(!text.contains(data) && text.matches("[attachment 1: image").count() == 2, "{text}");
        assert_eq!(blocks, [image]);
        assert_eq!(all.in_text("nothing of it".to_owned()), ("nothing of it".to_owned(), Vec::new()));
    }

    #[test]
    fn seam_10_a_response_carries_only_so_much() {
        let image = |byte| ContentBlock::image(vec![byte; 5 << 20], "image/png");
        let all = attachments(&[image(1), image(2)]);
        let value = serde_json::json!([image(1), image(2)]).to_string();
        let (text, blocks) = all.in_text(all.in_value(value, usize::MAX));
        assert_eq!(blocks, [image(1)]);
        assert!(
            text.ends_with("(1 attachment omitted: one response carries at most 8 MiB)"),
            "{}",
            &text[..200]
        );
    }
}
