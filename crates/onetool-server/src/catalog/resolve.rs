//! Finds the tool for a name, or suggests similar names.

use std::sync::Arc;

use onetool_core::{abbreviate, similar_items};

use super::{Catalog, Entry, UnknownName};

/// The prefix that all names had in earlier versions.
const LEGACY_PREFIX: &str = "go_ent_";

impl Catalog {
    /// Returns the tool with a canonical or flat name.
    ///
    /// # Errors
    /// If no tool has the name; the error contains the new name of a renamed tool, or similar names.
    pub fn resolve(&self, name: &str) -> Result<&Arc<Entry>, UnknownName> {
        self.get(name).ok_or_else(|| self.unknown(name))
    }

    /// Returns the tool with a canonical or flat name, if the policy allows callers to see it.
    ///
    /// # Errors
    /// If no tool has the name, or the policy denies the tool.
    pub fn visible(&self, name: &str) -> Result<&Arc<Entry>, UnknownName> {
        self.get_visible(name).ok_or_else(|| self.unknown(name))
    }

    /// Returns the tool with a canonical or flat name, if it exists.
    pub fn get(&self, name: &str) -> Option<&Arc<Entry>> {
        self.tools.get(name).or_else(|| self.tools.get(self.by_flat_name.get(name)?))
    }

    /// Returns the tool with a canonical or flat name, if it exists and the policy allows callers to see it.
    pub fn get_visible(&self, name: &str) -> Option<&Arc<Entry>> {
        self.get(name).filter(|entry| self.rules.policy.shows(entry.name()))
    }

    /// Creates the error for an unknown name, with suggestions. Searches the whole catalog.
    pub fn unknown(&self, name: &str) -> UnknownName {
        if self.get(name).is_some() {
            // The tool exists but is denied, so suggestions would be wrong.
            return UnknownName::plain(name);
        }
        let renamed_to = self.renamed_to(name).map(|new| abbreviate(new).into_owned());
        let exists = |new: &String| self.get_visible(new).is_some();
        let similar = match &renamed_to {
            Some(new) if exists(new) => Vec::new(),
            Some(new) => self.similar_to(new),
            None => self.similar_to(name),
        };
        let is_gone = renamed_to.as_ref().is_some_and(|new| !exists(new));
        UnknownName { renamed_to, is_gone, similar, ..UnknownName::plain(name) }
    }

    /// Returns the new name of a renamed tool, whether or not a tool has it.
    pub(crate) fn renamed_to<'a>(&'a self, name: &'a str) -> Option<&'a str> {
        let renamed = |name: &str| self.rules.renames.get(name).map(String::as_str);
        renamed(name).or_else(|| {
            let short = name.strip_prefix(LEGACY_PREFIX).filter(|it| !it.is_empty())?;
            Some(renamed(short).filter(|_| self.get_visible(short).is_none()).unwrap_or(short))
        })
    }

    fn similar_to(&self, name: &str) -> Vec<String> {
        let spellings = self.tools().flat_map(|entry| {
            let name = entry.name();
            [(name.as_str(), entry.flat_name()), (name.as_str(), name.tool())]
        });
        similar_items(name, spellings).into_iter().map(str::to_owned).collect()
    }
}

impl UnknownName {
    /// Creates the error without suggestions. A long name is abbreviated.
    pub fn plain(name: &str) -> Self {
        let name = abbreviate(name).into_owned();
        Self { name, renamed_to: None, is_gone: false, similar: Vec::new() }
    }
}
