//! The index of what is in the catalog: it follows every change, and only what differs is indexed anew.

use std::collections::{BTreeSet, HashMap};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::sync::{Arc, Mutex, MutexGuard, RwLock, RwLockReadGuard, RwLockWriteGuard, Weak};

use onetool_core::ToolName;
use onetool_core::sync::Unpoisoned as _;

use onetool_search::{Document, Hit, Index, REMEMBERED_MAX};
use onetool_server::catalog::{Catalog, Entry};

/// An index that all sessions share. It is built by the first search, or by whoever asks it to follow before that.
///
/// Building and searching take their time, so neither belongs on a thread of the runtime.
#[derive(Default)]
pub(super) struct CatalogIndex {
    followed: RwLock<Followed>,
    /// Apart from the index, so that nobody waits for a build to remember something.
    remembered: Mutex<Remembered>,
}

#[derive(Default)]
struct Followed {
    index: Index,
    /// The snapshot that the index was made from; weak, so that what is gone does not stay for its sake.
    catalog: Weak<Catalog>,
    tools: HashMap<ToolName, Known>,
    round: u64,
}

/// Queries that led to a tool, oldest first. A tool that is not there now may come back.
#[derive(Default)]
struct Remembered {
    queries: HashMap<String, Vec<String>>,
    /// Tools whose queries are not in the index as they are here.
    changed: BTreeSet<String>,
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
    /// Brings the index up to date. A first build of many thousand tools takes a while.
    pub(super) fn follow(&self, catalog: &Arc<Catalog>) {
        if !self.read().is_made_from(catalog) {
            let inserted = self.write().follow(catalog);
            let mut remembered = self.remembered();
            let Remembered { queries, changed } = &mut *remembered;
            changed
                .extend(inserted.iter().map(ToString::to_string).filter(|tool| queries.contains_key(tool)));
        }
        let changed: Vec<(String, Vec<String>)> = {
            let mut remembered = self.remembered();
            let changed = std::mem::take(&mut remembered.changed).into_iter();
            let with_queries = |tool: String| {
                let queries = remembered.queries.get(&tool).cloned().unwrap_or_default();
                (tool, queries)
            };
            changed.map(with_queries).collect()
        };
        if !changed.is_empty() {
            let mut followed = self.write();
            for (tool, queries) in changed {
                followed.index.set_remembered(&tool, &queries);
            }
        }
    }

    /// Returns the tools that fit a query, best first.
    pub(super) fn search(&self, catalog: &Arc<Catalog>, query: &str, limit: usize) -> Vec<Hit> {
        self.follow(catalog);
        self.read().index.search(query, limit)
    }

    /// Returns the queries that led to a tool, oldest first.
    pub(super) fn queries_of(&self, tool: &str) -> Vec<String> {
        self.remembered().queries.get(tool).cloned().unwrap_or_default()
    }

    /// Adds queries that led to tools, oldest first. Each counts once; the latest few of a tool stay.
    pub(super) fn remember(&self, queries: impl IntoIterator<Item = (String, String)>) {
        let mut remembered = self.remembered();
        for (tool, query) in queries {
            let known = remembered.queries.entry(tool.clone()).or_default();
            known.retain(|it| *it != query);
            known.push(query);
            if known.len() > REMEMBERED_MAX {
                known.remove(0);
            }
            remembered.changed.insert(tool);
        }
    }

    /// Forgets every query.
    pub(super) fn forget_queries(&self) {
        let mut remembered = self.remembered();
        let forgotten = std::mem::take(&mut remembered.queries);
        remembered.changed.extend(forgotten.into_keys());
    }

    fn read(&self) -> RwLockReadGuard<'_, Followed> {
        self.followed.read().unpoisoned()
    }

    fn write(&self) -> RwLockWriteGuard<'_, Followed> {
        self.followed.write().unpoisoned()
    }

    fn remembered(&self) -> MutexGuard<'_, Remembered> {
        self.remembered.lock().unpoisoned()
    }
}

impl Followed {
    fn is_made_from(&self, catalog: &Arc<Catalog>) -> bool {
        std::ptr::eq(self.catalog.as_ptr(), Arc::as_ptr(catalog))
    }

    /// Returns the tools that were indexed anew.
    fn follow(&mut self, catalog: &Arc<Catalog>) -> Vec<ToolName> {
        // Somebody else may have done it while this one waited for the lock.
        if self.is_made_from(catalog) {
            return Vec::new();
        }
        self.round += 1;
        let tools = catalog.tools().filter(|entry| self.follow_tool(catalog, entry));
        let inserted = tools.map(|entry| entry.name().clone()).collect();
        let Self { index, tools, round, .. } = self;
        tools.retain(|name, known| {
            let stays = known.round == *round;
            if !stays {
                index.remove(name.as_str());
            }
            stays
        });
        self.catalog = Arc::downgrade(catalog);
        inserted
    }

    /// Indexes a tool unless it is as it was, and tells whether it did.
    fn follow_tool(&mut self, catalog: &Catalog, entry: &Arc<Entry>) -> bool {
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
            return false;
        }
        // A source that connects again brings new entries, commonly with the same content. The schema is only looked
        // at: thousands of them are not kept in memory for the sake of the index.
        let schema = entry.spec().input_schema.peek();
        let content =
            hash(|hasher| (about, serde_json::to_string(&*schema).unwrap_or_default()).hash(hasher));
        let known = Known { entry: Arc::downgrade(entry), about, content, round };
        let before = self.tools.insert(name.clone(), known);
        if before.is_some_and(|before| before.content == content) {
            return false;
        }
        self.index.insert(&Document {
            name: name.as_str(),
            description,
            pack,
            pack_description,
            input_schema: Some(&schema),
            keywords,
            category,
            remembered: &[],
        });
        true
    }
}

fn hash(write: impl FnOnce(&mut DefaultHasher)) -> u64 {
    let mut hasher = DefaultHasher::new();
    write(&mut hasher);
    hasher.finish()
}
