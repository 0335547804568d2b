//! Requests from a handler to the client during a call.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::JsonObject;

/// The kind of a request to the client.
///
/// ```
/// use onetool_core::InputKind;
///
/// assert_eq!(InputKind::Sampling.method(), "sampling/createMessage");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum InputKind {
    /// Asks the user to fill in a form.
    Elicitation,
    /// Asks the client's model to generate a message.
    Sampling,
    /// Asks for the client's root directories.
    Roots,
}

impl InputKind {
    /// Every kind.
    pub const ALL: [Self; 3] = [Self::Elicitation, Self::Sampling, Self::Roots];

    /// Returns the client capability that the request needs.
    pub fn capability(self) -> &'static str {
        match self {
            Self::Elicitation => "elicitation",
            Self::Sampling => "sampling",
            Self::Roots => "roots",
        }
    }

    /// Returns the MCP method of the request.
    pub fn method(self) -> &'static str {
        match self {
            Self::Elicitation => "elicitation/create",
            Self::Sampling => "sampling/createMessage",
            Self::Roots => "roots/list",
        }
    }
}

/// A request to the client, with its parameters as MCP defines them.
///
/// ```
/// use onetool_core::{CallContext, InputRequest, ToolError, tool_fn};
///
/// let tool = tool_fn("demo.greet", "Greets the user by name.", |(): (), cx: CallContext| async move {
///     let schema = serde_json::json!({"type": "object", "properties": {"name": {"type": "string"}}});
///     let response = cx.ask("name", InputRequest::elicit("What is your name?", schema)).await?;
///     Ok::<_, ToolError>(format!("Hello, {}!", response["content"]["name"]))
/// });
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct InputRequest {
    /// The kind of request.
    pub kind: InputKind,
    /// The parameters of the MCP request.
    pub params: JsonObject,
}

impl InputRequest {
    /// Asks the user to fill in the fields described by `schema`, an object schema with primitive properties.
    pub fn elicit(message: impl Into<String>, schema: impl Into<Value>) -> Self {
        let params = json!({"message": message.into(), "requestedSchema": schema.into()});
        Self { kind: InputKind::Elicitation, params: object(params) }
    }

    /// Asks the client's model to respond to `prompt`.
    pub fn sample(prompt: impl Into<String>, max_tokens: u32) -> Self {
        let message = json!({"role": "user", "content": {"type": "text", "text": prompt.into()}});
        let params = json!({"messages": [message], "maxTokens": max_tokens});
        Self { kind: InputKind::Sampling, params: object(params) }
    }

    /// Asks for the client's root directories.
    pub fn roots() -> Self {
        Self { kind: InputKind::Roots, params: JsonObject::new() }
    }

    /// Returns whether a client with these capabilities supports this request.
    pub(crate) fn is_supported(&self, capabilities: &JsonObject) -> bool {
        let is_url =
            self.kind == InputKind::Elicitation && self.params.get("mode").is_some_and(|it| it == "url");
        let capability = capabilities.get(self.kind.capability());
        capability.is_some_and(|capability| !is_url || capability.get("url").is_some())
    }
}

fn object(value: Value) -> JsonObject {
    match value {
        Value::Object(object) => object,
        _ => JsonObject::new(),
    }
}

/// The input that a stateless client has to include when it sends the same request again.
///
/// [`CallContext::ask`](crate::CallContext::ask) creates it for one request.
///
/// ```
/// use onetool_core::{InputRequest, InputRequired, ToolError};
///
/// let required = InputRequired {
///     requests: [("roots".to_owned(), InputRequest::roots())].into(),
///     state: Some(serde_json::json!({"step": 1})),
/// };
/// let error = ToolError::InputRequired(Box::new(required));
/// ```
#[derive(Debug, Clone, Default, PartialEq)]
pub struct InputRequired {
    /// The requests, by a key that the handler chooses.
    pub requests: BTreeMap<String, InputRequest>,
    /// State for the handler's next run. The server seals it and rejects a modified one.
    pub state: Option<Value>,
}

/// The input that a client included: responses to earlier requests, and the handler's state.
///
/// ```
/// use onetool_core::{CallContext, InputState};
///
/// let input = InputState { responses: [("name".to_owned(), "Ada".into())].into(), state: None };
/// let cx = CallContext::detached().with_input(input);
/// assert_eq!(cx.input().responses["name"], "Ada");
/// ```
#[derive(Debug, Clone, Default, PartialEq)]
pub struct InputState {
    /// Responses by the key of their request.
    pub responses: BTreeMap<String, Value>,
    /// The handler's state from [`InputRequired::state`].
    pub state: Option<Value>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seam_10_a_client_is_asked_to_open_a_url_only_if_it_declares_support() {
        let url = InputRequest {
            kind: InputKind::Elicitation,
            params: object(
                json!({"mode": "url", "message": "m", "url": "https://example.org", "elicitationId": "1"}),
            ),
        };
        let form = InputRequest::elicit("m", json!({"type": "object"}));
        for (capabilities, supports_form, supports_url) in [
            (json!({}), false, false),
            (json!({"elicitation": {}}), true, false),
            (json!({"elicitation": {"form": {}, "url": {}}}), true, true),
        ] {
            let capabilities = object(capabilities);
            assert_eq!(
                (form.is_supported(&capabilities), url.is_supported(&capabilities)),
                (supports_form, supports_url)
            );
        }
    }
}
