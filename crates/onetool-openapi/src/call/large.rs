//! Reads an answer: into memory as far as it fits there, and else straight into the server's store (O6).

use onetool_core::{CallContext, Overflow, ToolError};
use reqwest::Response;
use serde_json::Value;

use super::unreachable;
use crate::media_type::{is_json, is_utf8_text};

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
    let mut may_be_stored = response.status().is_success() && is_utf8_text(content_type);
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
            stored = cx.overflow(is_json(content_type));
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
