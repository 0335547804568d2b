//! Questions a handler puts to the client in the middle of a call.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::JsonObject;

/// What kind of question it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum InputKind {
    /// The person fills in a form.
    Elicitation,
    /// The client's model writes something.
    Sampling,
    /// The client lists its root folders.
    Roots,
}

impl InputKind {
    /// Every kind.
    pub const ALL: [Self; 3] = [Self::Elicitation, Self::Sampling, Self::Roots];

    /// Returns the client capability that the question needs.
    pub fn capability(self) -> &'static str {
        match self {
            Self::Elicitation => "elicitation",
            Self::Sampling => "sampling",
            Self::Roots => "roots",
        }
    }

    /// Returns the MCP method that carries the question.
    pub fn method(self) -> &'static str {
        match self {
            Self::Elicitation => "elicitation/create",
            Self::Sampling => "sampling/createMessage",
            Self::Roots => "roots/list",
        }
    }
}

/// A question to the client, with its parameters as MCP defines them.
#[derive(Debug, Clone, PartialEq)]
pub struct InputRequest {
    /// What kind of question it is.
    pub kind: InputKind,
    /// The parameters of the MCP request.
    pub params: JsonObject,
}

impl InputRequest {
    /// Asks the person for what `schema` (an object of plain fields) describes.
    pub fn elicit(message: impl Into<String>, schema: impl Into<Value>) -> Self {
        let params = json!({"message": message.into(), "requestedSchema": schema.into()});
        Self { kind: InputKind::Elicitation, params: object(params) }
    }

    /// Asks the client's model to answer `prompt`.
    pub fn sample(prompt: impl Into<String>, max_tokens: u32) -> Self {
        let message = json!({"role": "user", "content": {"type": "text", "text": prompt.into()}});
        let params = json!({"messages": [message], "maxTokens": max_tokens});
        Self { kind: InputKind::Sampling, params: object(params) }
    }

    /// Asks for the client's root folders.
    pub fn roots() -> Self {
        Self { kind: InputKind::Roots, params: JsonObject::new() }
    }

    /// Returns whether a client with these capabilities can be asked this.
    pub(crate) fn is_possible(&self, capabilities: &JsonObject) -> bool {
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

/// What a stateless client has to bring along when it sends the same request again.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct InputRequired {
    /// The questions, by a key of the handler's choice.
    pub requests: BTreeMap<String, InputRequest>,
    /// What the handler wants to find again; the server seals it, so a changed one never comes back.
    pub state: Option<Value>,
}

/// What a client brought along: answers to earlier questions, and the handler's own state.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct InputState {
    /// Answers by the key of their question.
    pub answers: BTreeMap<String, Value>,
    /// The state that the handler left in [`InputRequired::state`].
    pub state: Option<Value>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seam_10_a_client_is_asked_to_open_an_address_only_if_it_says_that_it_can() {
        let url = InputRequest {
            kind: InputKind::Elicitation,
            params: object(
                json!({"mode": "url", "message": "m", "url": "https://example.org", "elicitationId": "1"}),
            ),
        };
        let form = InputRequest::elicit("m", json!({"type": "object"}));
        for (capabilities, can_fill_in, can_open) in [
            (json!({}), false, false),
            (json!({"elicitation": {}}), true, false),
            (json!({"elicitation": {"form": {}, "url": {}}}), true, true),
        ] {
            let capabilities = object(capabilities);
            assert_eq!(
                (form.is_possible(&capabilities), url.is_possible(&capabilities)),
                (can_fill_in, can_open)
            );
        }
    }
}
