//! Reads messages: results as they came, with all the fields that the SDK's types do not know. A response that cannot
//! be decoded fails its call with the reason; the SDK would wait for another one.

use std::sync::Arc;

use onetool_core::{JsonObject, MAX_JSON_WEIGHT, json_weight};
use rmcp::model::{
    ClientJsonRpcMessage, ClientRequest, CustomResult, ErrorData, JsonRpcMessage, RequestId,
    ServerJsonRpcMessage, ServerResult,
};
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

/// Reads the messages of one server.
#[derive(Clone)]
pub(crate) struct Reader {
    pub(crate) server: Arc<str>,
    pub(crate) form: Form,
}

/// In which form the SDK gets a result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    /// In its own types, for results of a handshake, which it reads itself.
    Typed,
    /// As it came, with all that its types do not know.
    Raw,
    /// In its own types, with what came in the metadata: over HTTP it learns from the list of tools which arguments are
    /// headers too, and drops tools that get this wrong.
    Both,
}

impl Form {
    /// Returns the form of the result of a request over HTTP.
    pub(crate) fn of(message: &ClientJsonRpcMessage) -> Self {
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

/// The key under which a result travels beside what the SDK makes of it.
const BESIDE: &str = "onetool/raw";

/// Returns a result as it came, without the tools that the SDK dropped.
pub(crate) fn as_it_came(mut result: Value) -> Value {
    let Some(Value::Object(mut came)) = result["_meta"].get_mut(BESIDE).map(Value::take) else {
        return result;
    };
    if let (Some(Value::Array(tools)), Some(kept)) = (came.get_mut("tools"), result["tools"].as_array()) {
        tools.retain(|tool| kept.iter().any(|it| it["name"] == tool["name"]));
    }
    Value::Object(came)
}

impl Reader {
    /// Reads a message.
    pub(crate) fn message(&self, message: &[u8]) -> Result<ServerJsonRpcMessage, String> {
        typed(data(message)?, self.form).map_err(|error| error.to_string())
    }
}

/// Reads a message as plain data.
pub(crate) fn data(message: &[u8]) -> Result<Value, String> {
    if is_too_heavy(message) {
        return Err(TOO_HEAVY.to_owned());
    }
    serde_json::from_slice(message).map_err(|error| error.to_string())
}

/// Returns whether the SDK reads the response itself and has to have it in its own types.
pub(crate) fn is_handshake(message: &ClientJsonRpcMessage) -> bool {
    use ClientRequest::{DiscoverRequest, InitializeRequest, SubscriptionsListenRequest};
    matches!(message, JsonRpcMessage::Request(request) if matches!(
        request.request,
        InitializeRequest(_) | DiscoverRequest(_) | SubscriptionsListenRequest(_)
    ))
}

/// Makes a message of data.
pub(crate) fn typed(mut message: Value, form: Form) -> serde_json::Result<ServerJsonRpcMessage> {
    let id = message.get("id").and_then(request_id);
    match (id, form, message.get_mut("result")) {
        (Some(id), Form::Raw, Some(result)) => {
            let result = ServerResult::CustomResult(CustomResult::new(result.take()));
            return Ok(ServerJsonRpcMessage::response(result, id));
        }
        (_, Form::Both, Some(result)) => put_beside(result),
        _ => {}
    }
    serde_json::from_value(message)
}

/// Puts a result into its own metadata.
pub(crate) fn put_beside(result: &mut Value) {
    let came = result.clone();
    if let Some(result) = result.as_object_mut() {
        let meta = result.entry("_meta").or_insert_with(|| Value::Object(JsonObject::new()));
        if let Some(meta) = meta.as_object_mut() {
            meta.insert(BESIDE.to_owned(), came);
        }
    }
}

/// What is said of a message that would take too much memory.
pub(crate) const TOO_HEAVY: &str = "it would take more than 128 MiB of memory";

/// Returns whether a message would take too much memory.
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
