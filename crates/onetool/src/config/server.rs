//! The key `server`.

use onetool_config::{NonEmpty, Seconds};
use schemars::JsonSchema;
use serde::Deserialize;

/// The name and instructions that clients see, and the time limit of a call.
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[non_exhaustive]
pub struct ServerConfig {
    /// Name that clients see.
    pub name: NonEmpty,
    /// Instructions that clients pass to their model.
    pub instructions: Option<String>,
    /// Time limit of a call in seconds.
    pub call_timeout: Seconds,
}

impl Default for ServerConfig {
    fn default() -> Self {
        Self { name: NonEmpty::new("onetool"), instructions: None, call_timeout: Seconds::new(300) }
    }
}
