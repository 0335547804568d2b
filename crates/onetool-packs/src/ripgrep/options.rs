//! The options of the pack `ripgrep`.

use std::path::PathBuf;

use onetool_config::{ConfigError, FilePath, PendingChanges, Section};
use onetool_core::Pack;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::options::{PackContext, PackOptions};
use crate::roots::{check_roots, is_subset};

/// Searches the contents of files inside `roots`.
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[non_exhaustive]
pub(crate) struct RipgrepOptions {
    /// Directories to search; relative paths start at the first one. Without roots, there is no pack. Default: the
    /// roots of the pack `file`.
    pub(crate) roots: Option<Vec<FilePath>>,
    /// Whether the pack is enabled.
    pub(crate) enabled: bool,
}

impl Default for RipgrepOptions {
    fn default() -> Self {
        Self { roots: None, enabled: true }
    }
}

impl RipgrepOptions {
    fn roots(&self) -> &[FilePath] {
        self.roots.as_deref().unwrap_or_default()
    }
}

impl PackOptions for RipgrepOptions {
    const NAME: &'static str = "ripgrep";

    fn is_enabled(&self) -> bool {
        self.enabled && !self.roots().is_empty()
    }

    fn check(&mut self, section: &Section<'_>, packs: &Section<'_>) -> Result<(), ConfigError> {
        check_roots(self.roots(), &section.field("roots"))?;
        let file = packs.field("file");
        if self.roots.is_none() && file.field("enabled").read::<Option<bool>>()? != Some(false) {
            self.roots = file.field("roots").read()?;
        }
        Ok(())
    }

    fn build(&self, context: &PackContext) -> Pack {
        super::build(self.roots(), context.own_files.clone())
    }

    fn roots(&self) -> Vec<PathBuf> {
        self.roots().iter().map(|root| root.to_path_buf()).collect()
    }

    fn restrict(&self, new: Self, pending: &mut PendingChanges) -> Self {
        let Self { roots, enabled } = new;
        let is_narrower = is_subset(roots.as_deref().unwrap_or_default(), self.roots());
        Self {
            roots: pending.choose("packs.ripgrep.roots", "wider", &self.roots, roots, is_narrower),
            enabled,
        }
    }
}

#[cfg(test)]
mod tests;
