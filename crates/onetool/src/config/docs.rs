//! The key `docs`.

use indexmap::IndexMap;
use onetool_config::{ConfigError, Section};
use onetool_core::ToolDocs;
use schemars::JsonSchema;
use serde::Deserialize;

use super::check_name;

/// Documentation for agents, in addition to the descriptions of the tools.
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[non_exhaustive]
pub struct DocsConfig {
    /// URL of the documentation. Links to the pages of packs begin with it.
    pub base_url: String,
    /// Instructions for packs, by name; `ot.help` and the page show them.
    pub packs: IndexMap<String, String>,
    /// Documentation of tools, by canonical name.
    pub tools: IndexMap<String, ToolDocs>,
}

impl Default for DocsConfig {
    fn default() -> Self {
        let base_url = "https://onetool.beycom.online".into();
        Self { base_url, packs: IndexMap::new(), tools: IndexMap::new() }
    }
}

impl DocsConfig {
    pub(super) fn read(section: &Section<'_>) -> Result<Self, ConfigError> {
        let docs: Self = section.read()?;
        if !url::Url::parse(&docs.base_url).is_ok_and(|url| matches!(url.scheme(), "http" | "https")) {
            return Err(section.field("base_url").invalid("must begin with http:// or https://"));
        }
        for name in docs.tools.keys() {
            check_name(name, &section.field("tools").field(name))?;
        }
        Ok(docs)
    }
}
