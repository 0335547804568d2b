//! From a name as somebody wrote it to the tool that is meant.

use std::sync::Arc;

use super::{Catalog, Entry, UnknownName};

const NEAR_NAMES: usize = 3;
const NEAR_ENOUGH: f64 = 0.6;
/// A prefix that every name had before names became short.
const LEGACY_PREFIX: &str = "go_ent_";

impl Catalog {
    /// Returns the tool of a canonical or flat name.
    ///
    /// # Errors
    /// When no tool has the name; the error knows the new name of a renamed one, or names that look alike.
    pub fn resolve(&self, name: &str) -> Result<&Arc<Entry>, UnknownName> {
        self.get(name).ok_or_else(|| {
            let renamed_to = self.renamed_to(name);
            let near = if renamed_to.is_some() { Vec::new() } else { self.near_names(name) };
            UnknownName { name: name.to_owned(), renamed_to, near }
        })
    }

    /// Returns the tool of a canonical or flat name, if the policy lets callers know of it.
    ///
    /// # Errors
    /// When no tool has the name, or its tool is denied.
    pub fn visible(&self, name: &str) -> Result<&Arc<Entry>, UnknownName> {
        let denied = || UnknownName { name: name.to_owned(), renamed_to: None, near: Vec::new() };
        let entry = self.resolve(name)?;
        self.rules.policy.allows(entry.name()).then_some(entry).ok_or_else(denied)
    }

    /// Returns the tool of a canonical or flat name, if there is one.
    pub(crate) fn get(&self, name: &str) -> Option<&Arc<Entry>> {
        self.tools.get(name).or_else(|| self.tools.get(self.by_flat_name.get(name)?))
    }

    fn renamed_to(&self, name: &str) -> Option<String> {
        let renamed = |name: &str| self.rules.renames.get(name).map(String::as_str);
        let is_visible = |short: &str| self.get(short).is_some_and(|it| self.rules.policy.allows(it.name()));
        let by_rule = || {
            let short = name.strip_prefix(LEGACY_PREFIX)?;
            if is_visible(short) { Some(short) } else { renamed(short) }
        };
        renamed(name).or_else(by_rule).map(str::to_owned)
    }

    fn near_names(&self, name: &str) -> Vec<String> {
        let wanted = name.strip_prefix(LEGACY_PREFIX).unwrap_or(name).to_lowercase();
        let score = |entry: &Entry| {
            let own = entry.name().as_str().to_lowercase();
            let flat = entry.flat_name().to_lowercase();
            let tool = entry.name().tool().to_lowercase();
            [own, flat, tool]
                .iter()
                .map(|it| strsim::normalized_damerau_levenshtein(it, &wanted))
                .fold(0.0, f64::max)
        };
        let mut scored: Vec<(f64, &str)> = self
            .tools()
            .map(|entry| (score(entry), entry.name().as_str()))
            .filter(|(score, _)| *score >= NEAR_ENOUGH)
            .collect();
        scored.sort_by(|(a, x), (b, y)| b.total_cmp(a).then_with(|| x.cmp(y)));
        scored.into_iter().take(NEAR_NAMES).map(|(_, name)| name.to_owned()).collect()
    }
}
