//! The options of the pack `brave`.

use onetool_config::{ConfigError, PendingChanges, Seconds, Secret, Section};
use onetool_core::Pack;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::api_key::ApiKey;
use crate::base_url::BaseUrl;
use crate::options::{PackContext, PackOptions};

/// Searches the web with Brave.
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[non_exhaustive]
pub(crate) struct BraveOptions {
    /// Key for the Brave Search API.
    pub(crate) api_key: ApiKey,
    /// URL of the API.
    pub(crate) base_url: BaseUrl,
    /// Time limit of a search in seconds.
    pub(crate) timeout: Seconds,
    /// Whether the pack is enabled.
    pub(crate) enabled: bool,
}

impl Default for BraveOptions {
    fn default() -> Self {
        Self {
            api_key: ApiKey::default(),
            base_url: BaseUrl::new("https://api.search.brave.com/res/v1"),
            timeout: Seconds::new(30),
            enabled: true,
        }
    }
}

impl PackOptions for BraveOptions {
    const NAME: &'static str = "brave";

    fn is_enabled(&self) -> bool {
        self.enabled
    }

    fn check(&mut self, section: &Section<'_>, _: &Section<'_>) -> Result<(), ConfigError> {
        if self.base_url.is_empty() {
            self.base_url = Self::default().base_url;
        }
        self.api_key.check_sent_to(&self.base_url, &section.field("base_url"))
    }

    fn build(&self, context: &PackContext) -> Pack {
        super::build(self.clone(), context.redactor.clone())
    }

    fn secrets(&self) -> Vec<&Secret> {
        self.api_key.get().into_iter().collect()
    }

    fn restrict(&self, new: Self, pending: &mut PendingChanges) -> Self {
        let Self { api_key, base_url, timeout, enabled } = new;
        let old = (self.api_key.clone(), self.base_url.clone());
        let (api_key, base_url) = pending.keep("packs.brave", &old, (api_key, base_url));
        Self { api_key, base_url, timeout, enabled }
    }
}

#[cfg(test)]
mod tests;
