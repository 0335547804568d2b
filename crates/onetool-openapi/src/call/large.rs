//! Reads an answer: into memory as far as it fits there, and else straight into the server's store (O6).

use onetool_core::{CallContext, Overflow, ToolError};
use reqwest::Response;
use serde_json::Value;

use super::answer::{is_json, media_type};
use super::unreachable;

/// How much of an answer is held in memory before it goes to the store.
const HELD: usize = 16 << 20;

/// What became of an answer.
pub(super) enum Body {
    /// It is here.
    Held(Vec<u8>),
    /// It is stored; this is what the caller gets in its place.
    Stored(Value),
}

/// Reads a body of at most `limit` bytes, counted after decompression.
pub(super) async fn read(
    mut response: Response,
    content_type: &str,
    limit: usize,
    cx: &CallContext,
) -> Result<Body, ToolError> {
    let mut may_be_stored = response.status().is_success() && is_text(content_type);
    let (mut held, mut length) = (Vec::new(), 0);
    let mut stored: Option<Box<dyn Overflow>> = None;
    while let Some(piece) = response.chunk().await.map_err(|error| unreachable(&error.without_url()))? {
        length += piece.len();
        if length > limit {
            return Err(ToolError::failed(format!("the answer is longer than the limit of {limit} bytes")));
        }
        if let Some(stored) = &mut stored {
            stored.write(&piece).await?;
            continue;
        }
        held.extend_from_slice(&piece);
        // Asked once: without a place to store it, or with bytes that are no text, all of it is held after all.
        if held.len() > HELD && std::mem::take(&mut may_be_stored) && !held.contains(&0) {
            stored = cx.overflow(is_json(&media_type(content_type)));
            if let Some(stored) = &mut stored {
                stored.write(&std::mem::take(&mut held)).await?;
            }
        }
    }
    match stored {
        Some(stored) => Ok(Body::Stored(stored.finish().await?)),
        None => Ok(Body::Held(held)),
    }
}

/// Tells whether an answer is text in UTF-8, as far as its type says.
fn is_text(content_type: &str) -> bool {
    let media_type = media_type(content_type);
    let content_type = content_type.to_ascii_lowercase();
    let charset = content_type.split_once("charset=").map(|(_, it)| it.trim_matches('"'));
    let is_utf8 = charset.is_none_or(|it| it.starts_with("utf-8") || it.starts_with("us-ascii"));
    let ends = ["json", "xml", "yaml", "x-ndjson", "jsonl", "javascript", "csv"];
    is_utf8 && (media_type.starts_with("text/") || ends.iter().any(|end| media_type.ends_with(end)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn o6_only_text_in_utf_8_can_be_stored_piece_by_piece() {
        for text in ["application/json", "text/plain; charset=UTF-8", "application/problem+json", "text/csv"]
        {
            assert!(is_text(text), "{text}");
        }
        for other in ["image/png", "application/octet-stream", "text/html; charset=iso-8859-1", ""] {
            assert!(!is_text(other), "{other}");
        }
    }
}
