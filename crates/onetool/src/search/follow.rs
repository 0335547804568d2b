//! The index of what is in the catalog: it follows every change, and only what differs is indexed anew.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard, Weak};

use onetool_core::ToolName;

use super::{Document, Hit, Index, REMEMBERED_MAX};
use crate::catalog::{Catalog, Entry};

/// An index that all sessions share. It is built by the first search, or by whoever asks it to follow before that.
#[derive(Default)]
pub(crate) struct CatalogIndex(RwLock<Followed>);

#[derive(Default)]
struct Followed {
    index: Index,
    /// The snapshot that the index was made from; weak, so that what is gone does not stay for its sake.
    catalog: Weak<Catalog>,
    tools: HashMap<ToolName, Known>,
    round: u64,
    /// Queries that led to a tool, oldest first. A tool that is not there now may come back.
    remembered: HashMap<String, Vec<String>>,
}

/// What tells whether a tool is still as it was indexed.
struct Known {
    entry: Weak<Entry>,
    /// What the operator and the pack say about it.
    about: u64,
    /// All that is searched.
    content: u64,
    round: u64,
}

impl CatalogIndex {
    /// Tells whether the index is up to date.
    pub(crate) fn is_current(&self, catalog: &Arc<Catalog>) -> bool {
        self.read().is_made_from(catalog)
    }

    /// Brings the index up to date. A first build of many thousand tools takes a while.
    pub(crate) fn follow(&self, catalog: &Arc<Catalog>) {
        if !self.is_current(catalog) {
            self.write().follow(catalog);
        }
    }

    /// Returns the tools that fit a query, best first.
    pub(crate) fn search(&self, catalog: &Arc<Catalog>, query: &str, limit: usize) -> Vec<Hit> {
        self.follow(catalog);
        self.read().index.search(query, limit)
    }

    /// Returns the queries that led to a tool, oldest first.
    pub(crate) fn remembered(&self, tool: &str) -> Vec<String> {
        self.read().remembered.get(tool).cloned().unwrap_or_default()
    }

    /// Adds queries that led to tools, oldest first. Each counts once; the latest few of a tool stay.
    pub(crate) fn remember(&self, queries: impl IntoIterator<Item = (String, String)>) {
        let mut followed = self.write();
        let mut changed = Vec::new();
        for (tool, query) in queries {
            let known = followed.remembered.entry(tool.clone()).or_default();
            known.retain(|it| *it != query);
            known.push(query);
            if known.len() > REMEMBERED_MAX {
                known.remove(0);
            }
            changed.push(tool);
        }
        changed.sort_unstable();
        changed.dedup();
        for tool in changed {
            let Followed { index, remembered, .. } = &mut *followed;
            index.set_remembered(&tool, &remembered[&tool]);
        }
    }

    /// Forgets every query.
    pub(crate) fn forget_queries(&self) {
        let mut followed = self.write();
        let remembered = std::mem::take(&mut followed.remembered);
        for tool in remembered.keys() {
            followed.index.set_remembered(tool, &[]);
        }
    }

    fn read(&self) -> RwLockReadGuard<'_, Followed> {
        self.0.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, Followed> {
        self.0.write().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Followed {
    fn is_made_from(&self, catalog: &Arc<Catalog>) -> bool {
        std::ptr::eq(self.catalog.as_ptr(), Arc::as_ptr(catalog))
    }

    fn follow(&mut self, catalog: &Arc<Catalog>) {
        // Somebody else may have done it while this one waited for the lock.
        if self.is_made_from(catalog) {
            return;
        }
        self.round += 1;
        for entry in catalog.tools() {
            self.follow_tool(catalog, entry);
        }
        let Self { index, tools, round, .. } = self;
        tools.retain(|name, known| {
            let stays = known.round == *round;
            if !stays {
                index.remove(name.as_str());
            }
            stays
        });
        self.catalog = Arc::downgrade(catalog);
    }

    fn follow_tool(&mut self, catalog: &Catalog, entry: &Arc<Entry>) {
        let (name, round) = (entry.name(), self.round);
        let (pack, docs) = (name.pack().unwrap_or_default(), catalog.docs(name));
        let (keywords, category) =
            docs.map_or((&[][..], None), |docs| (docs.keywords.as_slice(), docs.category.as_deref()));
        let description = catalog.description(entry);
        let pack_description = catalog.pack_description(pack).unwrap_or_default();
        let about = hash(|hasher| (description, pack_description, keywords, category).hash(hasher));
        if let Some(known) = self.tools.get_mut(name)
            && std::ptr::eq(known.entry.as_ptr(), Arc::as_ptr(entry))
            && known.about == about
        {
            known.round = round;
            return;
        }
        // A source that connects again brings new entries, commonly with the same content. The schema is only looked
        // at: thousands of them are not kept in memory for the sake of the index.
        let schema = entry.spec().input_schema.peek();
        let content =
            hash(|hasher| (about, serde_json::to_string(&*schema).unwrap_or_default()).hash(hasher));
        let known = Known { entry: Arc::downgrade(entry), about, content, round };
        let before = self.tools.insert(name.clone(), known);
        if before.is_some_and(|before| before.content == content) {
            return;
        }
        self.index.insert(&Document {
            name: name.as_str(),
            description,
            pack,
            pack_description,
            input_schema: Some(&schema),
            keywords,
            category,
            remembered: self.remembered.get(name.as_str()).map_or(&[], Vec::as_slice),
        });
    }
}

fn hash(write: impl FnOnce(&mut DefaultHasher)) -> u64 {
    let mut hasher = DefaultHasher::new();
    write(&mut hasher);
    hasher.finish()
}
