//! The options of the pack `package`.

use onetool_config::{ConfigError, PendingChanges, Seconds, Section};
use onetool_core::Pack;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::base_url::BaseUrl;
use crate::options::{PackContext, PackOptions};

/// Looks up the latest versions of packages.
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[non_exhaustive]
pub(crate) struct PackageOptions {
    /// URL of the npm registry.
    pub(crate) npm_url: BaseUrl,
    /// URL of the Python Package Index.
    pub(crate) pypi_url: BaseUrl,
    /// URL of the sparse index of crates.io.
    pub(crate) crates_url: BaseUrl,
    /// Time limit of a request in seconds.
    pub(crate) timeout: Seconds,
    /// Whether the pack is enabled.
    pub(crate) enabled: bool,
}

impl Default for PackageOptions {
    fn default() -> Self {
        Self {
            npm_url: BaseUrl::new("https://registry.npmjs.org"),
            pypi_url: BaseUrl::new("https://pypi.org"),
            crates_url: BaseUrl::new("https://index.crates.io"),
            timeout: Seconds::new(30),
            enabled: true,
        }
    }
}

impl PackOptions for PackageOptions {
    const NAME: &'static str = "package";

    fn is_enabled(&self) -> bool {
        self.enabled
    }

    fn check(&mut self, _: &Section<'_>, _: &Section<'_>) -> Result<(), ConfigError> {
        let default = Self::default();
        let urls = [
            (&mut self.npm_url, default.npm_url),
            (&mut self.pypi_url, default.pypi_url),
            (&mut self.crates_url, default.crates_url),
        ];
        for (url, default) in urls {
            if url.is_empty() {
                *url = default;
            }
        }
        Ok(())
    }

    fn build(&self, _: &PackContext) -> Pack {
        super::build(self.clone())
    }

    fn restrict(&self, new: Self, pending: &mut PendingChanges) -> Self {
        let old = Self { timeout: new.timeout, enabled: new.enabled, ..self.clone() };
        pending.keep("packs.package", &old, new)
    }
}

#[cfg(test)]
mod tests;
