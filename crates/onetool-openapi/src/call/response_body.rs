//! Reads response bodies: small ones into memory, large ones straight into the server's result store (O6).

use onetool_core::{CallContext, Overflow, ToolError};
use reqwest::Response;
use serde_json::Value;

use crate::media_type::{is_json, is_utf8_text};
use crate::transport::request_error;

/// Maximum size of a text body in memory; larger ones go to the result store.
const IN_MEMORY_MAX: usize = 16 << 20;

/// A completely read body.
pub(super) enum ResponseBody {
    InMemory(Vec<u8>),
    /// The body is in the result store; the caller gets this summary instead.
    Stored(Value),
}

/// Reads a body of at most `limit` bytes, counted after decompression.
pub(super) async fn read(
    mut response: Response,
    content_type: &str,
    limit: usize,
    cx: &CallContext,
) -> Result<ResponseBody, ToolError> {
    let mut may_be_stored = response.status().is_success() && is_utf8_text(content_type);
    let (mut bytes, mut length) = (Vec::new(), 0);
    let mut store: Option<Box<dyn Overflow>> = None;
    let read_error = |error: reqwest::Error| ToolError::failed(request_error(&error.without_url()));
    while let Some(chunk) = response.chunk().await.map_err(read_error)? {
        length += chunk.len();
        if length > limit {
            return Err(ToolError::failed(format!("the response is larger than the limit of {limit} bytes")));
        }
        if let Some(store) = &mut store {
            store.write(&chunk).await?;
            continue;
        }
        bytes.extend_from_slice(&chunk);
        // Tried only once: without a result store, or if the body is binary, all of it stays in memory.
        if bytes.len() > IN_MEMORY_MAX && std::mem::take(&mut may_be_stored) && !bytes.contains(&0) {
            store = cx.overflow(is_json(content_type));
            if let Some(store) = &mut store {
                store.write(&std::mem::take(&mut bytes)).await?;
            }
        }
    }
    match store {
        Some(store) => Ok(ResponseBody::Stored(store.finish().await?)),
        None => Ok(ResponseBody::InMemory(bytes)),
    }
}
