//! The key `server`.

use onetool_config::{NonEmpty, Seconds};
use schemars::JsonSchema;
use serde::Deserialize;

/// How onetool introduces itself, and the limits of a call.
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[non_exhaustive]
pub struct ServerConfig {
    /// The name that clients see.
    pub name: NonEmpty,
    /// Instructions that clients pass on to their model.
    pub instructions: Option<String>,
    /// Time limit of a call in seconds.
    pub call_timeout: Seconds,
}

impl Default for ServerConfig {
    fn default() -> Self {
        Self { name: NonEmpty::new("onetool"), instructions: None, call_timeout: Seconds::new(300) }
    }
}
