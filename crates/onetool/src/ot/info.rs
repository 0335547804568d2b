//! How much an answer tells.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How much an answer tells.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
pub(crate) enum InfoLevel {
    List,
    #[default]
    Min,
    Full,
}
