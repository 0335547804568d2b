//! Values that must never be shown, and the filter that removes them from text.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Deserializer};

/// Shorter values are not hidden, because they occur in ordinary words.
const REDACTED_MIN: usize = 6;

/// A value that neither debug output nor messages show.
///
/// ```
/// use onetool_core::Secret;
///
/// let token = Secret::new("hunter2");
/// assert_eq!(token.expose(), "hunter2");
/// assert_eq!(format!("{token} {token:?}"), "[redacted] [redacted]");
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    /// Wraps a value.
    pub fn new(value: impl Into<String>) -> Self {
        Self(value.into())
    }

    /// Returns the value, for the code that sends it.
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl From<String> for Secret {
    fn from(value: String) -> Self {
        Self(value)
    }
}

impl From<&str> for Secret {
    fn from(value: &str) -> Self {
        Self(value.to_owned())
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("[redacted]")
    }
}

impl fmt::Display for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("[redacted]")
    }
}

impl<'de> Deserialize<'de> for Secret {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer).map(Self)
    }
}

impl JsonSchema for Secret {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Secret".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        String::json_schema(generator)
    }
}

/// Removes secret values from text. Cheap to clone.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Redactor {
    /// The values to remove, longest first, so that a secret that contains another is removed whole.
    values: Arc<Vec<String>>,
}

impl Redactor {
    /// Makes a filter for `values`; values of fewer than six characters are not removed.
    pub fn new(values: impl IntoIterator<Item = String>) -> Self {
        let values = values.into_iter().filter(|value| value.chars().count() >= REDACTED_MIN);
        let mut values: Vec<String> = values.flat_map(spellings).collect();
        values.sort_by(|a, b| b.len().cmp(&a.len()).then_with(|| a.cmp(b)));
        values.dedup();
        Self { values: Arc::new(values) }
    }

    /// Adds a value.
    #[must_use]
    pub fn with(&self, value: &str) -> Self {
        Self::new(self.values.iter().cloned().chain([value.to_owned()]))
    }

    /// Combines the values of both filters.
    #[must_use]
    pub fn and(&self, other: &Self) -> Self {
        Self::new(self.values.iter().chain(other.values.iter()).cloned())
    }

    /// Replaces every secret value in `text` with `[redacted]`.
    pub fn scrub<'a>(&self, text: &'a str) -> Cow<'a, str> {
        let mut text = Cow::Borrowed(text);
        for value in self.values.iter() {
            if text.contains(value.as_str()) {
                text = text.replace(value.as_str(), "[redacted]").into();
            }
        }
        text
    }
}

/// Returns the ways in which messages quote a value: as is, escaped for debug output, and as JSON.
fn spellings(value: String) -> [String; 3] {
    let json = serde_json::Value::from(value.as_str()).to_string();
    let debug = value.escape_debug().to_string();
    [value, debug, json.trim_matches('"').to_owned()]
}

impl fmt::Debug for Redactor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Redactor({} values)", self.values.len())
    }
}
