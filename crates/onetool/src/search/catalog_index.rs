//! A search index of the catalog that is updated incrementally.

use std::collections::{BTreeSet, HashMap};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::sync::{Arc, Mutex, MutexGuard, RwLock, RwLockReadGuard, RwLockWriteGuard, Weak};

use onetool_core::ToolName;
use onetool_core::sync::Unpoisoned as _;

use onetool_search::{Document, Hit, Index, MAX_REMEMBERED};
use onetool_server::catalog::{Catalog, Entry};

/// An index that all sessions share. It is built by the first update or search.
///
/// Building and searching can take long, so do not call them on a runtime thread.
#[derive(Default)]
pub(super) struct CatalogIndex {
    snapshot: RwLock<IndexedSnapshot>,
    /// Separate from the index, so that remembering a query does not wait for a build.
    remembered: Mutex<Remembered>,
}

#[derive(Default)]
struct IndexedSnapshot {
    index: Index,
    /// The snapshot that was indexed; weak, so that the index does not keep removed tools alive.
    catalog: Weak<Catalog>,
    tools: HashMap<ToolName, IndexedTool>,
    /// Counts updates; tools with an older number were removed from the catalog.
    update: u64,
}

/// Queries that led to a tool, oldest first. They outlive the tool, which may come back.
#[derive(Default)]
struct Remembered {
    queries: HashMap<String, Vec<String>>,
    /// Tools whose queries changed since they were indexed.
    changed: BTreeSet<String>,
}

/// What was indexed for a tool, to detect changes.
struct IndexedTool {
    entry: Weak<Entry>,
    /// A hash of its description, documentation and pack.
    docs_hash: u64,
    /// A hash of everything that is indexed.
    content_hash: u64,
    update: u64,
}

impl CatalogIndex {
    /// Brings the index up to date. The first build takes a while for many thousands of tools.
    pub(super) fn update(&self, catalog: &Arc<Catalog>) {
        if !self.read().is_from(catalog) {
            let inserted = self.write().update(catalog);
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
            let mut snapshot = self.write();
            for (tool, queries) in changed {
                snapshot.index.set_remembered(&tool, &queries);
            }
        }
    }

    /// Returns the tools that match a query, best first.
    pub(super) fn search(&self, catalog: &Arc<Catalog>, query: &str, limit: usize) -> Vec<Hit> {
        self.update(catalog);
        self.read().index.search(query, limit)
    }

    /// Returns the queries that led to a tool, oldest first.
    pub(super) fn queries_of(&self, tool: &str) -> Vec<String> {
        self.remembered().queries.get(tool).cloned().unwrap_or_default()
    }

    /// Adds queries that led to tools, oldest first. Keeps the latest few of each tool, without duplicates.
    pub(super) fn remember(&self, queries: impl IntoIterator<Item = (String, String)>) {
        let mut remembered = self.remembered();
        for (tool, query) in queries {
            let known = remembered.queries.entry(tool.clone()).or_default();
            known.retain(|it| *it != query);
            known.push(query);
            if known.len() > MAX_REMEMBERED {
                known.remove(0);
            }
            remembered.changed.insert(tool);
        }
    }

    /// Forgets all queries.
    pub(super) fn forget_queries(&self) {
        let mut remembered = self.remembered();
        let forgotten = std::mem::take(&mut remembered.queries);
        remembered.changed.extend(forgotten.into_keys());
    }

    fn read(&self) -> RwLockReadGuard<'_, IndexedSnapshot> {
        self.snapshot.read().unpoisoned()
    }

    fn write(&self) -> RwLockWriteGuard<'_, IndexedSnapshot> {
        self.snapshot.write().unpoisoned()
    }

    fn remembered(&self) -> MutexGuard<'_, Remembered> {
        self.remembered.lock().unpoisoned()
    }
}

impl IndexedSnapshot {
    fn is_from(&self, catalog: &Arc<Catalog>) -> bool {
        std::ptr::eq(self.catalog.as_ptr(), Arc::as_ptr(catalog))
    }

    /// Indexes new and changed tools, and removes the others. Returns the names of the former.
    fn update(&mut self, catalog: &Arc<Catalog>) -> Vec<ToolName> {
        // Another thread may have updated the index while this one waited for the lock.
        if self.is_from(catalog) {
            return Vec::new();
        }
        self.update += 1;
        let tools = catalog.tools().filter(|entry| self.update_tool(catalog, entry));
        let inserted = tools.map(|entry| entry.name().clone()).collect();
        let Self { index, tools, update, .. } = self;
        tools.retain(|name, tool| {
            let is_in_catalog = tool.update == *update;
            if !is_in_catalog {
                index.remove(name.as_str());
            }
            is_in_catalog
        });
        self.catalog = Arc::downgrade(catalog);
        inserted
    }

    /// Indexes a tool if it changed. Returns whether it did.
    fn update_tool(&mut self, catalog: &Catalog, entry: &Arc<Entry>) -> bool {
        let (name, update) = (entry.name(), self.update);
        let (pack, docs) = (name.pack().unwrap_or_default(), catalog.docs(name));
        let (keywords, category) =
            docs.map_or((&[][..], None), |docs| (docs.keywords.as_slice(), docs.category.as_deref()));
        let description = catalog.description(entry);
        let pack_description = catalog.pack_description(pack).unwrap_or_default();
        let docs_hash = hash(|hasher| (description, pack_description, keywords, category).hash(hasher));
        if let Some(known) = self.tools.get_mut(name)
            && std::ptr::eq(known.entry.as_ptr(), Arc::as_ptr(entry))
            && known.docs_hash == docs_hash
        {
            known.update = update;
            return false;
        }
        // A source that reconnects brings new entries, usually with the same content. `peek` does not keep the schema:
        // thousands of them would stay in memory only for the index.
        let schema = entry.spec().input_schema.peek();
        let content_hash =
            hash(|hasher| (docs_hash, serde_json::to_string(&*schema).unwrap_or_default()).hash(hasher));
        let indexed = IndexedTool { entry: Arc::downgrade(entry), docs_hash, content_hash, update };
        let previous = self.tools.insert(name.clone(), indexed);
        if previous.is_some_and(|previous| previous.content_hash == content_hash) {
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
