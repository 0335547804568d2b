//! The options of the pack `web`.

use onetool_config::{AtLeast, PendingChanges, Seconds};
use onetool_core::Pack;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::options::{PackContext, PackOptions};

/// Reads web pages.
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[non_exhaustive]
pub(crate) struct WebOptions {
    /// Whether to allow private and loopback addresses.
    pub(crate) allow_private: bool,
    /// Time limit for a page in seconds.
    pub(crate) timeout: Seconds,
    /// Maximum size of a page in bytes, after decompression.
    pub(crate) max_bytes: AtLeast<1>,
    /// Whether the pack is enabled.
    pub(crate) enabled: bool,
}

impl Default for WebOptions {
    fn default() -> Self {
        let max_bytes = AtLeast::new(10 * 1024 * 1024);
        Self { allow_private: false, timeout: Seconds::new(30), max_bytes, enabled: true }
    }
}

impl PackOptions for WebOptions {
    const NAME: &'static str = "web";

    fn is_enabled(&self) -> bool {
        self.enabled
    }

    fn build(&self, context: &PackContext) -> Pack {
        super::build(self.clone(), context.jobs.clone())
    }

    fn restrict(&self, new: Self, pending: &mut PendingChanges) -> Self {
        let is_allowed = self.allow_private || !new.allow_private;
        let old = &self.allow_private;
        let allow_private =
            pending.choose("packs.web.allow_private", "on", old, new.allow_private, is_allowed);
        Self { allow_private, ..new }
    }
}

#[cfg(test)]
mod tests;
