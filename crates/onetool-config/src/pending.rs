//! Changes that an agent asked for and only the operator may make.

use indexmap::IndexMap;

/// Collects the settings that wait for the operator, by their keys, each with what changed.
///
/// An agent can reload the configuration, and must not gain rights by it: whatever would widen them keeps its old
/// value and is listed here.
#[derive(Debug, Default)]
pub struct PendingChanges {
    keys: Vec<String>,
}

impl PendingChanges {
    /// Notes a setting that waits.
    pub fn add(&mut self, key: &str, change: &str) {
        self.keys.push(format!("{key} ({change})"));
    }

    /// Returns `new` if it is allowed; otherwise notes that it waits and returns `old`.
    pub fn choose<T: Clone>(&mut self, key: &str, change: &str, old: &T, new: T, is_allowed: bool) -> T {
        if is_allowed {
            return new;
        }
        self.add(key, change);
        old.clone()
    }

    /// Returns `new` if it is `old`; otherwise notes that it waits and returns `old`.
    pub fn keep<T: Clone + PartialEq>(&mut self, key: &str, old: &T, new: T) -> T {
        let is_same = new == *old;
        self.choose(key, "changed", old, new, is_same)
    }

    /// Takes a section of named entries: entries may go, and change as far as `allowed` says; new ones wait.
    ///
    /// `allowed` returns the part of the change from its first to its second argument that an agent may make.
    pub fn entries<T: Clone + PartialEq>(
        &mut self,
        section: &str,
        old: &IndexMap<String, T>,
        new: IndexMap<String, T>,
        allowed: impl Fn(&T, &T) -> T,
    ) -> IndexMap<String, T> {
        let mut taken = IndexMap::new();
        for (name, new) in new {
            let key = format!("{section}.{name}");
            match old.get(&name) {
                None => self.add(&key, "new"),
                Some(old) => {
                    let allowed = allowed(old, &new);
                    if allowed != new {
                        self.add(&key, "changed");
                    }
                    taken.insert(name, allowed);
                }
            }
        }
        taken
    }

    /// Returns the collected keys.
    pub fn into_keys(self) -> Vec<String> {
        self.keys
    }
}
