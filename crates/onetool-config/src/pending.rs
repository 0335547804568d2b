//! Changes to a configuration that an agent requested and only the operator may make.

use indexmap::IndexMap;

/// The settings that wait for the operator: their keys, each with what changed.
///
/// An agent can reload the configuration but must not gain rights that way. A setting that would widen them keeps its
/// old value and is listed here.
///
/// ```
/// use onetool_config::PendingChanges;
///
/// let mut pending = PendingChanges::default();
/// let read_only = pending.choose("packs.file.read_only", "off", &true, false, false);
/// assert!(read_only);
/// assert_eq!(pending.into_keys(), ["packs.file.read_only (off)"]);
/// ```
#[derive(Debug, Default)]
pub struct PendingChanges {
    keys: Vec<String>,
}

impl PendingChanges {
    /// Adds a setting that waits.
    pub fn add(&mut self, key: &str, change: &str) {
        self.keys.push(format!("{key} ({change})"));
    }

    /// Returns `new` if it is allowed; otherwise adds the setting and returns `old`.
    pub fn choose<T: Clone>(&mut self, key: &str, change: &str, old: &T, new: T, is_allowed: bool) -> T {
        if is_allowed {
            return new;
        }
        self.add(key, change);
        old.clone()
    }

    /// Returns `old`, and adds the setting if `new` differs.
    pub fn keep<T: Clone + PartialEq>(&mut self, key: &str, old: &T, new: T) -> T {
        let is_same = new == *old;
        self.choose(key, "changed", old, new, is_same)
    }

    /// Returns the allowed part of a change to a map of named entries: entries may be removed, and changed as far as
    /// `allowed` permits; new ones wait.
    ///
    /// `allowed` gets the old and the new entry and returns the entry to use.
    pub fn entries<T: Clone + PartialEq>(
        &mut self,
        section: &str,
        old: &IndexMap<String, T>,
        new: IndexMap<String, T>,
        allowed: impl Fn(&T, &T) -> T,
    ) -> IndexMap<String, T> {
        let mut entries = IndexMap::new();
        for (name, new) in new {
            let key = format!("{section}.{name}");
            match old.get(&name) {
                None => self.add(&key, "new"),
                Some(old) => {
                    let allowed = allowed(old, &new);
                    if allowed != new {
                        self.add(&key, "changed");
                    }
                    entries.insert(name, allowed);
                }
            }
        }
        entries
    }

    /// Returns the settings, such as `servers.github (new)`.
    pub fn into_keys(self) -> Vec<String> {
        self.keys
    }
}
