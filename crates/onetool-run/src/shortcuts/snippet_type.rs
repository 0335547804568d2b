//! Types of snippet parameters.

use std::fmt;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

/// The type of a snippet's parameter, named as in JSON Schema.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum SnippetType {
    /// Text.
    String,
    /// A whole number.
    Integer,
    /// A number.
    Number,
    /// `true` or `false`.
    Boolean,
    /// A list.
    Array,
    /// A map.
    Object,
}

impl SnippetType {
    /// Returns whether a value has this type.
    pub fn accepts(self, value: &Value) -> bool {
        match self {
            Self::String => value.is_string(),
            Self::Integer => value.is_i64() || value.is_u64(),
            Self::Number => value.is_number(),
            Self::Boolean => value.is_boolean(),
            Self::Array => value.is_array(),
            Self::Object => value.is_object(),
        }
    }

    /// Returns a value of this type to show in an example.
    pub fn sample(self, name: &str) -> Value {
        match self {
            Self::String => name.into(),
            Self::Integer => 1.into(),
            Self::Number => 1.5.into(),
            Self::Boolean => true.into(),
            Self::Array => json!([name]),
            Self::Object => json!({}),
        }
    }

    /// Returns the type with its article, for messages.
    pub fn with_article(self) -> String {
        let article = if matches!(self, Self::Integer | Self::Array | Self::Object) { "an" } else { "a" };
        format!("{article} {self}")
    }
}

impl fmt::Display for SnippetType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::String => "string",
            Self::Integer => "integer",
            Self::Number => "number",
            Self::Boolean => "boolean",
            Self::Array => "array",
            Self::Object => "object",
        })
    }
}
