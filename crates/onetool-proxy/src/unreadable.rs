//! Responses that cannot be decoded: their calls fail with the reason instead of waiting for another response.

use onetool_core::{MAX_JSON_WEIGHT, json_weight};
use rmcp::model::{ErrorData, RequestId, ServerJsonRpcMessage};
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::Value;

/// How deep the decoder goes, which bounds the stack that a message can use.
const MAX_DEPTH: usize = 128;

/// What makes a message a response. The rest is skipped, however deep it nests.
#[derive(Deserialize)]
struct Envelope {
    #[serde(default)]
    id: Value,
    method: Option<IgnoredAny>,
    result: Option<IgnoredAny>,
    error: Option<IgnoredAny>,
}

/// What is said of a message that would take too much memory.
pub(crate) const TOO_HEAVY: &str = "it would take more than 128 MiB of memory";

/// Tells why a message cannot be decoded before it is tried.
pub(crate) fn is_too_heavy(message: &[u8]) -> bool {
    json_weight(message) > MAX_JSON_WEIGHT
}

/// Returns the error that takes the place of a response that cannot be decoded; none if it is not a response.
pub(crate) fn replaced(server: &str, message: &[u8], error: &str) -> Option<ServerJsonRpcMessage> {
    let envelope: Envelope = serde_json::from_slice(message).ok()?;
    let is_response = envelope.method.is_none() && (envelope.result.is_some() || envelope.error.is_some());
    let id = request_id(&envelope.id).filter(|_| is_response)?;
    Some(failed(server, id, error))
}

/// Makes the error of a request whose response could not be decoded.
pub(crate) fn failed(server: &str, id: RequestId, error: &str) -> ServerJsonRpcMessage {
    let text = if is_too_deep(error) {
        format!("server '{server}' sent a response that nests too deep: more than {MAX_DEPTH} levels")
    } else {
        format!("server '{server}' sent a response that cannot be read: {error}")
    };
    tracing::warn!(%server, "{text}");
    ServerJsonRpcMessage::error(ErrorData::internal_error(text, None), Some(id))
}

/// Returns whether the decoder gave up because of the depth. It says so in its text and nowhere else.
pub(crate) fn is_too_deep(error: &str) -> bool {
    error.contains("recursion limit exceeded")
}

/// Reads an id; the SDK sends numbers, and some servers answer with the same number as text.
pub(crate) fn request_id(id: &Value) -> Option<RequestId> {
    let number = id.as_i64().or_else(|| id.as_str().and_then(|text| text.parse().ok()));
    match number {
        Some(number) => Some(RequestId::Number(number)),
        None => serde_json::from_value(id.clone()).ok(),
    }
}
