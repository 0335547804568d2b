//! The options of the pack `file`.

use std::path::PathBuf;

use onetool_config::{ConfigError, FilePath, NonEmpty, PendingChanges, Section};
use onetool_core::Pack;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::options::{PackContext, PackOptions};
use crate::roots::{check_roots, is_subset};

/// Reads and changes files inside `roots`.
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[non_exhaustive]
pub(crate) struct FileOptions {
    /// Directories that the tools can access; relative paths start at the first one. Without roots, there is no pack.
    pub(crate) roots: Vec<FilePath>,
    /// Whether to omit the tools `write`, `edit` and `delete`.
    pub(crate) read_only: bool,
    /// Name of the directory in each root that `delete` moves files to.
    pub(crate) trash: NonEmpty,
    /// Whether the pack is enabled.
    pub(crate) enabled: bool,
}

impl Default for FileOptions {
    fn default() -> Self {
        let trash = NonEmpty::new(".onetool-trash");
        Self { roots: Vec::new(), read_only: false, trash, enabled: true }
    }
}

impl PackOptions for FileOptions {
    const NAME: &'static str = "file";

    fn is_enabled(&self) -> bool {
        self.enabled && !self.roots.is_empty()
    }

    fn check(&mut self, section: &Section<'_>, _: &Section<'_>) -> Result<(), ConfigError> {
        check_roots(&self.roots, &section.field("roots"))?;
        if self.trash.contains('/') || matches!(&*self.trash, "." | "..") {
            return Err(section.field("trash").invalid("must be the name of a directory inside the roots"));
        }
        Ok(())
    }

    fn build(&self, context: &PackContext) -> Pack {
        super::build(self, context.own_files.clone())
    }

    fn roots(&self) -> Vec<PathBuf> {
        self.roots.iter().map(|root| root.to_path_buf()).collect()
    }

    fn restrict(&self, new: Self, pending: &mut PendingChanges) -> Self {
        let Self { roots, read_only, trash, enabled } = new;
        let is_narrower = is_subset(&roots, &self.roots);
        let is_stricter = read_only || !self.read_only;
        Self {
            roots: pending.choose("packs.file.roots", "wider", &self.roots, roots, is_narrower),
            read_only: pending.choose("packs.file.read_only", "off", &self.read_only, read_only, is_stricter),
            trash: pending.keep("packs.file.trash", &self.trash, trash),
            enabled,
        }
    }
}

#[cfg(test)]
mod tests;
