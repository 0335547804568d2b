//! Assigns names: each spelling, canonical or flat, identifies one tool, so that lists and calls agree.

use std::sync::Arc;

use onetool_core::{FLAT_NAME_MAX, ToolName};

use super::{Catalog, Entry, RegisterError, Source};

impl Catalog {
    pub(super) fn is_reserved(&self, name: &ToolName) -> bool {
        self.reserved.iter().any(|it| it == name.as_str() || Some(it.as_str()) == name.pack())
    }

    /// Returns the flat name for a new tool, if its name is available.
    ///
    /// For a registration, both spellings must be available. Names from a pack, a server or an API cannot be chosen, so
    /// a number is appended to their flat spelling if necessary.
    pub(super) fn flat_name_for(&self, name: &ToolName, source: &Source) -> Result<Arc<str>, RegisterError> {
        if self.holder(name.as_str(), source).is_some_and(|it| it.name() == name) {
            return Err(RegisterError::DuplicateTool { name: name.clone() });
        }
        let flat = name.flat();
        if source.is_registration() && self.is_reserved_flat(&flat, source) {
            return Err(RegisterError::ReservedTool { name: name.clone() });
        }
        // The canonical spelling must be available in any case: only the flat one can get a number.
        let spellings =
            if source.is_registration() { vec![name.as_str(), &flat] } else { vec![name.as_str()] };
        if let Some(holder) = spellings.into_iter().find_map(|it| self.holder(it, source)) {
            let (name, holder) = (name.clone(), holder.name().clone());
            return Err(RegisterError::DuplicateFlatName { name, flat, holder });
        }
        Ok(self.free_flat_name(flat, source))
    }

    /// Inserts an entry. A remote tool that has one of its spellings gets a number or, if the spelling is its canonical
    /// name, is removed.
    pub(super) fn insert(&mut self, entry: Entry) {
        let (name, flat) = (entry.name().clone(), entry.shared_flat_name().clone());
        let mut renamed = Vec::new();
        for spelling in [name.as_str(), &flat] {
            if let Some(old) = self.tools.shift_remove(spelling) {
                self.by_flat_name.remove(old.flat_name());
            }
            renamed.extend(self.by_flat_name.get(spelling).cloned());
        }
        self.by_flat_name.insert(flat, name.clone());
        self.tools.insert(name, Arc::new(entry));
        for name in &renamed {
            self.rename(name);
        }
    }

    /// Removes the numbers of remote tools that no longer need one.
    pub fn settle_remote_names(&mut self) {
        let is_numbered = |it: &&Arc<Entry>| it.source().is_remote() && it.flat_name() != it.name().flat();
        let numbered: Vec<_> = self.tools.values().filter(is_numbered).map(|it| it.name().clone()).collect();
        for name in &numbered {
            self.rename(name);
        }
    }

    /// Assigns the best available flat name to a tool.
    fn rename(&mut self, name: &ToolName) {
        let Some(entry) = self.tools.get(name).cloned() else { return };
        if self.by_flat_name.get(entry.flat_name()) == Some(name) {
            self.by_flat_name.remove(entry.flat_name());
        }
        let flat = self.free_flat_name(name.flat(), entry.source());
        self.by_flat_name.insert(flat.clone(), name.clone());
        if *flat != *entry.flat_name() {
            // In place, to preserve the order of the list.
            self.tools.insert(name.clone(), Arc::new(entry.renamed(flat)));
        }
    }

    /// Returns the tool that has a spelling, unless a new tool of `source` takes precedence over it.
    fn holder(&self, spelling: &str, source: &Source) -> Option<&Arc<Entry>> {
        let yields = |entry: &Entry| entry.source().is_remote() && source.wins_over_remote();
        let canonical = self.tools.get(spelling);
        let flat = || self.by_flat_name.get(spelling).and_then(|name| self.tools.get(name));
        canonical.filter(|it| !yields(it)).or_else(|| flat().filter(|it| !yields(it)))
    }

    /// Returns whether a flat name is reserved for the gateway.
    fn is_reserved_flat(&self, flat: &str, source: &Source) -> bool {
        !source.is_gateway() && self.reserved.iter().any(|it| it == flat)
    }

    /// Returns the wanted flat name, with the lowest number that makes it available if necessary.
    fn free_flat_name(&self, wanted: String, source: &Source) -> Arc<str> {
        let is_free =
            |flat: &str| !self.is_reserved_flat(flat, source) && self.holder(flat, source).is_none();
        if is_free(&wanted) {
            return wanted.into();
        }
        let numbered = |number: u64| {
            let suffix = format!("_{number}");
            format!("{}{suffix}", &wanted[..wanted.len().min(FLAT_NAME_MAX - suffix.len())])
        };
        // A server may have thousands of names that differ only in characters that a flat name cannot contain, so this
        // is a binary search between `taken` and `free`.
        let (mut taken, mut free) = (1, 2);
        while !is_free(&numbered(free)) {
            (taken, free) = (free, free * 2);
        }
        while taken + 1 < free {
            let middle = taken.midpoint(free);
            *(if is_free(&numbered(middle)) { &mut free } else { &mut taken }) = middle;
        }
        numbered(free).into()
    }
}

#[cfg(test)]
mod tests;
