//! The key `search`.

use onetool_config::{ConfigError, Section};
use schemars::JsonSchema;
use serde::Deserialize;

use super::check_name;

/// Search for tools.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[non_exhaustive]
pub struct SearchConfig {
    /// Default number of results of `tool_find`.
    #[schemars(range(min = 1, max = 100))]
    pub limit: usize,
    /// Tools that every session lists from the start, by canonical or flat name.
    pub pinned: Vec<String>,
    /// Whether to remember queries for the tools that they led to.
    pub remember: bool,
}

impl Default for SearchConfig {
    fn default() -> Self {
        Self { limit: 5, pinned: Vec::new(), remember: true }
    }
}

impl SearchConfig {
    /// Maximum number of results of one search.
    pub const MAX_LIMIT: usize = 100;

    pub(super) fn read(section: &Section<'_>) -> Result<Self, ConfigError> {
        let search: Self = section.read()?;
        if !(1..=Self::MAX_LIMIT).contains(&search.limit) {
            return Err(section.field("limit").invalid(format!("must be from 1 to {}", Self::MAX_LIMIT)));
        }
        for (index, name) in search.pinned.iter().enumerate() {
            check_name(name, &section.field("pinned").item(index))?;
        }
        Ok(search)
    }
}
