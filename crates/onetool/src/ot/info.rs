//! Levels of detail.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The level of detail of a listing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
pub(crate) enum InfoLevel {
    List,
    #[default]
    Min,
    Full,
}
