//! Decodes messages from an upstream.
//!
//! Results keep the fields that the SDK's types do not know. A response that cannot be decoded fails its call with the
//! reason; the SDK would wait for another one.

use std::sync::Arc;

use onetool_core::{JsonObject, MAX_JSON_WEIGHT, json_weight};
use rmcp::model::{
    ClientJsonRpcMessage, ClientRequest, CustomResult, ErrorData, JsonRpcMessage, RequestId,
    ServerJsonRpcMessage, ServerResult,
};
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::Value;

/// The decoder's nesting limit, which bounds the stack that a message can use.
const MAX_DEPTH: usize = 128;

/// The fields that make a message a response. The values are skipped, however deeply they nest.
#[derive(Deserialize)]
struct Envelope {
    #[serde(default)]
    id: Value,
    method: Option<IgnoredAny>,
    result: Option<IgnoredAny>,
    error: Option<IgnoredAny>,
}

/// Decodes the messages of one server.
#[derive(Clone)]
pub(crate) struct Decoder {
    pub(crate) server: Arc<str>,
    pub(crate) form: Form,
}

/// The form in which the SDK gets a result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    /// In the SDK's types, for results of a handshake, which the SDK reads itself.
    Typed,
    /// Unchanged, with the fields that the SDK's types do not know.
    Raw,
    /// In the SDK's types, with the unchanged result in the metadata. Over HTTP the SDK learns from the tool list
    /// which arguments are also sent as headers, and drops tools that declare this incorrectly.
    Both,
}

impl Form {
    /// Returns the form for the result of a request over HTTP.
    pub(crate) fn for_request(message: &ClientJsonRpcMessage) -> Self {
        match message {
            JsonRpcMessage::Request(request)
                if matches!(request.request, ClientRequest::ListToolsRequest(_)) =>
            {
                Self::Both
            }
            message if is_handshake(message) => Self::Typed,
            _ => Self::Raw,
        }
    }
}

/// The key under which an unchanged result passes through the SDK, which otherwise drops what its types do not know.
pub(crate) const RAW: &str = "onetool/raw";

/// Returns a result unchanged, whatever type the SDK converted it to.
pub(crate) fn raw_result(result: ServerResult) -> serde_json::Result<Value> {
    match result {
        ServerResult::CustomResult(CustomResult(mut result)) => match result.get_mut(RAW) {
            Some(raw) => Ok(raw.take()),
            None => Ok(result),
        },
        typed => serde_json::to_value(typed).map(unwrap_raw),
    }
}

/// Returns the unchanged result from the metadata, without the tools that the SDK dropped.
fn unwrap_raw(mut result: Value) -> Value {
    let Some(Value::Object(mut raw)) = result["_meta"].get_mut(RAW).map(Value::take) else {
        return result;
    };
    if let (Some(Value::Array(tools)), Some(kept)) = (raw.get_mut("tools"), result["tools"].as_array()) {
        tools.retain(|tool| kept.iter().any(|kept| kept["name"] == tool["name"]));
    }
    Value::Object(raw)
}

impl Decoder {
    /// Decodes a message.
    pub(crate) fn decode(&self, message: &[u8]) -> Result<ServerJsonRpcMessage, String> {
        typed(parse(message)?, self.form).map_err(|error| error.to_string())
    }
}

/// Parses a message as JSON.
pub(crate) fn parse(message: &[u8]) -> Result<Value, String> {
    if is_too_heavy(message) {
        return Err(TOO_HEAVY.to_owned());
    }
    serde_json::from_slice(message).map_err(|error| error.to_string())
}

/// Returns whether the SDK reads the response itself and needs it in its own types.
pub(crate) fn is_handshake(message: &ClientJsonRpcMessage) -> bool {
    use ClientRequest::{DiscoverRequest, InitializeRequest, SubscriptionsListenRequest};
    matches!(message, JsonRpcMessage::Request(request) if matches!(
        request.request,
        InitializeRequest(_) | DiscoverRequest(_) | SubscriptionsListenRequest(_)
    ))
}

/// Converts JSON to a message.
pub(crate) fn typed(mut message: Value, form: Form) -> serde_json::Result<ServerJsonRpcMessage> {
    let id = message.get("id").and_then(request_id);
    match (id, form, message.get_mut("result")) {
        (Some(id), Form::Raw, Some(result)) => {
            let result = ServerResult::CustomResult(CustomResult::new(result.take()));
            return Ok(ServerJsonRpcMessage::response(result, id));
        }
        (_, Form::Both, Some(result)) => attach_raw(result),
        _ => {}
    }
    serde_json::from_value(message)
}

/// Adds an unchanged copy of a result to its metadata.
pub(crate) fn attach_raw(result: &mut Value) {
    let raw = result.clone();
    if let Some(result) = result.as_object_mut() {
        let meta = result.entry("_meta").or_insert_with(|| Value::Object(JsonObject::new()));
        if let Some(meta) = meta.as_object_mut() {
            meta.insert(RAW.to_owned(), raw);
        }
    }
}

/// Why a message that would take too much memory is not decoded.
pub(crate) const TOO_HEAVY: &str = "it would take more than 128 MiB of memory";

/// Returns whether a message would take too much memory.
pub(crate) fn is_too_heavy(message: &[u8]) -> bool {
    json_weight(message) > MAX_JSON_WEIGHT
}

/// Returns the error that replaces a response that cannot be decoded; `None` if the message is not a response.
pub(crate) fn error_for_message(server: &str, message: &[u8], error: &str) -> Option<ServerJsonRpcMessage> {
    let envelope: Envelope = serde_json::from_slice(message).ok()?;
    let is_response = envelope.method.is_none() && (envelope.result.is_some() || envelope.error.is_some());
    let id = request_id(&envelope.id).filter(|_| is_response)?;
    Some(error_for_request(server, id, error))
}

/// Returns the error of a request whose response could not be decoded.
pub(crate) fn error_for_request(server: &str, id: RequestId, error: &str) -> ServerJsonRpcMessage {
    let text = if is_too_deep(error) {
        format!("server '{server}' sent a response that is nested too deeply: more than {MAX_DEPTH} levels")
    } else {
        format!("server '{server}' sent a response that cannot be read: {error}")
    };
    tracing::warn!(%server, "{text}");
    ServerJsonRpcMessage::error(ErrorData::internal_error(text, None), Some(id))
}

/// Returns whether decoding failed because of the nesting depth, which only the error's text says.
fn is_too_deep(error: &str) -> bool {
    error.contains("recursion limit exceeded")
}

/// Parses an id. The SDK sends numbers; some servers return the number as a string.
pub(crate) fn request_id(id: &Value) -> Option<RequestId> {
    let number = id.as_i64().or_else(|| id.as_str().and_then(|text| text.parse().ok()));
    match number {
        Some(number) => Some(RequestId::Number(number)),
        None => serde_json::from_value(id.clone()).ok(),
    }
}
