//! The search behind `tool_find`, `ot.help` and `onetool find`, and the successful queries that it remembers.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use indexmap::IndexMap;
use onetool_core::clock::Clock;
use onetool_core::current::Current;
use onetool_core::error_chain;
use onetool_core::state::SessionKey;
use onetool_core::sync::Unpoisoned as _;
use onetool_search::{Hit, MAX_REMEMBERED};
use onetool_server::catalog::Catalog;
use onetool_store::Store;

use super::catalog_index::CatalogIndex;
use crate::config::SearchConfig;

/// Maximum number of sessions whose latest searches are tracked, of searches per session, and of hits per search.
const MAX_SESSIONS: usize = 10_000;
const MAX_SEARCHES: usize = 3;
const MAX_HITS: usize = 20;
/// Maximum length of a query that is remembered, in characters.
const MAX_QUERY: usize = 500;

/// Finds tools in the catalog. All sessions share it.
pub(crate) struct Finder {
    index: Arc<CatalogIndex>,
    store: Arc<dyn Store>,
    clock: Clock,
    settings: Current<SearchConfig>,
    /// Whether the remembered queries were loaded from the store.
    is_loaded: AtomicBool,
    searches: Mutex<IndexMap<SessionKey, VecDeque<Search>>>,
}

/// A search that may lead to the use of a tool.
struct Search {
    query: String,
    hits: Vec<Arc<str>>,
}

impl Finder {
    pub(crate) fn new(store: Arc<dyn Store>, clock: Clock, settings: SearchConfig) -> Self {
        Self {
            index: Arc::default(),
            store,
            clock,
            settings: Current::new(settings),
            is_loaded: AtomicBool::new(false),
            searches: Mutex::default(),
        }
    }

    pub(crate) fn settings(&self) -> Arc<SearchConfig> {
        self.settings.get()
    }

    /// Forgets the queries in memory; the next search loads them from the store again.
    pub(crate) fn reload_queries(&self) {
        self.index.forget_queries();
        self.is_loaded.store(false, Ordering::Release);
    }

    /// Applies new settings. If queries are no longer remembered, they immediately stop affecting searches.
    pub(crate) fn set(&self, settings: SearchConfig) {
        if !settings.remember {
            self.reload_queries();
            self.searches.lock().unpoisoned().clear();
        }
        self.settings.set(settings);
    }

    /// Updates the index, so that the next search does not have to.
    pub(crate) async fn prepare(&self, catalog: &Arc<Catalog>) {
        self.load_queries().await;
        let catalog = catalog.clone();
        self.with_index(move |index| index.update(&catalog)).await;
    }

    /// Returns the tools that match a query, best first.
    pub(crate) async fn search(&self, catalog: &Arc<Catalog>, query: &str, limit: usize) -> Vec<Hit> {
        self.load_queries().await;
        let (catalog, query) = (catalog.clone(), query.to_owned());
        self.with_index(move |index| index.search(&catalog, &query, limit)).await
    }

    /// Returns the queries that led to a tool, oldest first.
    pub(crate) async fn remembered(&self, tool: &str) -> Vec<String> {
        self.load_queries().await;
        self.index.queries_of(tool)
    }

    /// Uses the index on a blocking thread, because thousands of tools take a while.
    async fn with_index<T: Default + Send + 'static>(
        &self,
        work: impl FnOnce(&CatalogIndex) -> T + Send + 'static,
    ) -> T {
        let index = self.index.clone();
        let done = tokio::task::spawn_blocking(move || work(&index)).await;
        done.unwrap_or_else(|error| {
            tracing::error!(%error, "search failed");
            T::default()
        })
    }

    /// Records a search of a session, in case it leads to the use of a tool.
    pub(crate) fn record_search(&self, session: &SessionKey, query: &str, hits: &[Hit]) {
        let Some(query) = self.settings().remember.then(|| normalized(query)).flatten() else { return };
        let hits = hits.iter().take(MAX_HITS).map(|hit| hit.name.clone()).collect();
        let mut sessions = self.searches.lock().unpoisoned();
        let mut searches = sessions.shift_remove(session).unwrap_or_default();
        searches.push_back(Search { query, hits });
        if searches.len() > MAX_SEARCHES {
            searches.pop_front();
        }
        sessions.insert(session.clone(), searches);
        if sessions.len() > MAX_SESSIONS {
            sessions.shift_remove_index(0);
        }
    }

    /// Records that a session loaded or called a tool, and remembers its searches that found the tool.
    pub(crate) fn record_use(&self, session: &SessionKey, tool: &str) {
        let mut sessions = self.searches.lock().unpoisoned();
        let Some(searches) = sessions.get_mut(session) else { return };
        let mut queries = Vec::new();
        for search in searches {
            // A search counts once per tool, even if the tool is loaded and then called.
            let before = search.hits.len();
            search.hits.retain(|hit| **hit != *tool);
            if search.hits.len() < before {
                queries.push(search.query.clone());
            }
        }
        drop(sessions);
        if queries.is_empty() {
            return;
        }
        for query in &queries {
            // Do not wait for it: losing a remembered query does no harm.
            drop(self.store.remember_query(tool, query, self.clock.now(), MAX_REMEMBERED));
        }
        self.index.remember(queries.into_iter().map(|query| (tool.to_owned(), query)));
    }

    /// Loads the remembered queries from the store, once.
    async fn load_queries(&self) {
        if !self.settings().remember || self.is_loaded.swap(true, Ordering::AcqRel) {
            return;
        }
        match self.store.remembered_queries().await {
            Ok(queries) => self.index.remember(queries.into_iter().map(|it| (it.tool, it.query))),
            Err(error) => tracing::warn!("cannot load remembered queries: {}", error_chain(&error)),
        }
    }
}

/// Returns a query in the form in which it is remembered, or `None` if it is empty or too long.
fn normalized(query: &str) -> Option<String> {
    let line = query.split_whitespace().collect::<Vec<_>>().join(" ");
    let text: String = line.to_lowercase().chars().filter(|c| !c.is_control()).collect();
    (!text.is_empty() && text.chars().count() <= MAX_QUERY).then_some(text)
}
