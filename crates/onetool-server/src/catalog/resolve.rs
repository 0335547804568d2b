//! From a name as somebody wrote it to the tool that is meant.

use std::sync::Arc;

use onetool_core::{abbreviate, similar_items};

use super::{Catalog, Entry, UnknownName};

/// A prefix that every name had before names became short.
const LEGACY_PREFIX: &str = "go_ent_";
impl Catalog {
    /// Returns the tool of a canonical or flat name.
    ///
    /// # Errors
    /// When no tool has the name; the error knows the new name of a renamed one, or names that look alike.
    pub fn resolve(&self, name: &str) -> Result<&Arc<Entry>, UnknownName> {
        self.get(name).ok_or_else(|| self.unknown(name))
    }

    /// Returns the tool of a canonical or flat name, if the policy lets callers know of it.
    ///
    /// # Errors
    /// When no tool has the name, or its tool is denied.
    pub fn visible(&self, name: &str) -> Result<&Arc<Entry>, UnknownName> {
        self.get_visible(name).ok_or_else(|| self.unknown(name))
    }

    /// Returns the tool of a canonical or flat name, if there is one.
    pub fn get(&self, name: &str) -> Option<&Arc<Entry>> {
        self.tools.get(name).or_else(|| self.tools.get(self.by_flat_name.get(name)?))
    }

    /// Returns the tool of a canonical or flat name, if there is one and the policy lets callers know of it.
    pub fn get_visible(&self, name: &str) -> Option<&Arc<Entry>> {
        self.get(name).filter(|entry| self.rules.policy.shows(entry.name()))
    }

    /// Says that no tool has a name, and what may have been meant. Looks through the whole catalog.
    pub fn unknown(&self, name: &str) -> UnknownName {
        if self.get(name).is_some() {
            // It is denied; nothing else was meant.
            return UnknownName::plain(name);
        }
        let renamed_to = self.renamed_to(name).map(|new| abbreviate(new).into_owned());
        let is_here = |new: &String| self.get_visible(new).is_some();
        let near = match &renamed_to {
            Some(new) if is_here(new) => Vec::new(),
            Some(new) => self.near_names(new),
            None => self.near_names(name),
        };
        let is_gone = renamed_to.as_ref().is_some_and(|new| !is_here(new));
        UnknownName { renamed_to, is_gone, near, ..UnknownName::plain(name) }
    }

    /// Returns the name that a tool has now; whether there is such a tool is another question.
    pub(crate) fn renamed_to<'a>(&'a self, name: &'a str) -> Option<&'a str> {
        let renamed = |name: &str| self.rules.renames.get(name).map(String::as_str);
        renamed(name).or_else(|| {
            let short = name.strip_prefix(LEGACY_PREFIX).filter(|it| !it.is_empty())?;
            Some(renamed(short).filter(|_| self.get_visible(short).is_none()).unwrap_or(short))
        })
    }

    fn near_names(&self, name: &str) -> Vec<String> {
        let spellings = self.tools().flat_map(|entry| {
            let name = entry.name();
            [(name.as_str(), entry.flat_name()), (name.as_str(), name.tool())]
        });
        similar_items(name, spellings).into_iter().map(str::to_owned).collect()
    }
}

impl UnknownName {
    /// Says no more than that no tool has a name, and repeats no more of it than anybody can read.
    pub fn plain(name: &str) -> Self {
        let name = abbreviate(name).into_owned();
        Self { name, renamed_to: None, is_gone: false, near: Vec::new() }
    }
}
