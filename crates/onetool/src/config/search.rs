//! The key `search:` as written and as meant: how many tools a search gives, which ones every list has, what is
//! remembered.

use schemars::JsonSchema;
use serde::Deserialize;

use super::ConfigError;
use super::tree::Place;

/// How tools are found.
#[derive(Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default, expecting = "a map")]
pub(super) struct SearchFile {
    /// How many tools `tool_find` gives unless it is asked for another number; 5 if missing.
    #[schemars(range(min = 1, max = 100))]
    limit: Option<usize>,
    /// Tools that stand on the list of every session from its start.
    pinned: Option<Vec<String>>,
    /// Whether a query is remembered for the tool that it led to; true if missing.
    remember: Option<bool>,
}

/// How tools are found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SearchConfig {
    /// How many tools a search gives unless it is asked for another number.
    pub limit: usize,
    /// Tools that stand on the list of every session from its start, by canonical or flat name.
    pub pinned: Vec<String>,
    /// Whether a query is remembered for the tool that it led to.
    pub remember: bool,
}

impl SearchConfig {
    /// The most tools that one search gives.
    pub const MAX_LIMIT: usize = 100;
}

impl Default for SearchConfig {
    fn default() -> Self {
        Self { limit: 5, pinned: Vec::new(), remember: true }
    }
}

pub(super) fn resolve(file: SearchFile, place: &Place<'_>) -> Result<SearchConfig, ConfigError> {
    let default = SearchConfig::default();
    let limit = file.limit.unwrap_or(default.limit);
    if !(1..=SearchConfig::MAX_LIMIT).contains(&limit) {
        let message = format!("has to be from 1 to {}", SearchConfig::MAX_LIMIT);
        return Err(ConfigError::invalid(&place.field("limit"), message));
    }
    let pinned = file.pinned.unwrap_or(default.pinned);
    for (index, name) in pinned.iter().enumerate() {
        super::resolve::check_name(name, &place.field("pinned").item(index))?;
    }
    Ok(SearchConfig { limit, pinned, remember: file.remember.unwrap_or(default.remember) })
}
