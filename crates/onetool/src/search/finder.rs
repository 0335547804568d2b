//! The search behind `tool_find`, `ot.help` and `onetool find`, and the queries that it remembers.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use indexmap::IndexMap;
use onetool_core::sync::Unpoisoned as _;
use onetool_search::{Hit, REMEMBERED_MAX};

use super::catalog_index::CatalogIndex;
use crate::config::SearchConfig;
use onetool_core::clock::Clock;
use onetool_core::current::Current;
use onetool_server::catalog::{Catalog, SessionKey};
use onetool_store::storage::Storage;

/// Sessions whose latest searches are kept, how many of each, and how many hits of a search.
const MAX_SESSIONS: usize = 10_000;
const MAX_SEARCHES: usize = 3;
const MAX_HITS: usize = 20;
/// Characters of a query that is worth remembering; a longer one is a text rather than a query.
const MAX_QUERY: usize = 500;

/// Finds tools in the catalog. One for all sessions.
pub(crate) struct Finder {
    index: Arc<CatalogIndex>,
    storage: Storage,
    clock: Clock,
    settings: Current<SearchConfig>,
    /// Whether the queries of earlier days have been read.
    has_read: AtomicBool,
    searches: Mutex<IndexMap<SessionKey, VecDeque<Search>>>,
}

/// A search that may turn out to have led to a tool.
struct Search {
    query: String,
    hits: Vec<Arc<str>>,
}

impl Finder {
    pub(crate) fn new(storage: Storage, clock: Clock, settings: SearchConfig) -> Self {
        Self {
            index: Arc::default(),
            storage,
            clock,
            settings: Current::new(settings),
            has_read: AtomicBool::new(false),
            searches: Mutex::default(),
        }
    }

    pub(crate) fn settings(&self) -> Arc<SearchConfig> {
        self.settings.get()
    }

    /// Reads the remembered queries again: the storage has them in another place now.
    pub(crate) fn read_again(&self) {
        self.index.forget_queries();
        self.has_read.store(false, Ordering::Release);
    }

    /// Puts new settings in force. What is not to be remembered is out of the search at once.
    pub(crate) fn set(&self, settings: SearchConfig) {
        if !settings.remember {
            self.read_again();
            self.searches.lock().unpoisoned().clear();
        }
        self.settings.set(settings);
    }

    /// Brings the search up to date, so that the next one does not wait for it.
    pub(crate) async fn prepare(&self, catalog: &Arc<Catalog>) {
        self.read_remembered().await;
        let catalog = catalog.clone();
        self.work(move |index| index.follow(&catalog)).await;
    }

    /// Returns the tools that fit a query, best first.
    pub(crate) async fn search(&self, catalog: &Arc<Catalog>, query: &str, limit: usize) -> Vec<Hit> {
        self.read_remembered().await;
        let (catalog, query) = (catalog.clone(), query.to_owned());
        self.work(move |index| index.search(&catalog, &query, limit)).await
    }

    /// Returns the queries that led to a tool, oldest first.
    pub(crate) async fn remembered(&self, tool: &str) -> Vec<String> {
        self.read_remembered().await;
        self.index.queries_of(tool)
    }

    /// Works with the index where nobody else waits: thousands of tools take their time.
    async fn work<T: Default + Send + 'static>(
        &self,
        work: impl FnOnce(&CatalogIndex) -> T + Send + 'static,
    ) -> T {
        let index = self.index.clone();
        let done = tokio::task::spawn_blocking(move || work(&index)).await;
        done.unwrap_or_else(|error| {
            tracing::error!(%error, "the search failed");
            T::default()
        })
    }

    /// Notes what a session searched for, in case it leads to something.
    pub(crate) fn saw_search(&self, session: &SessionKey, query: &str, hits: &[Hit]) {
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

    /// Remembers the session's searches that found this tool, now that it is loaded or called.
    pub(crate) fn saw_use(&self, session: &SessionKey, tool: &str) {
        let mut sessions = self.searches.lock().unpoisoned();
        let Some(searches) = sessions.get_mut(session) else { return };
        let mut led_here = Vec::new();
        for search in searches {
            // Each search leads to a tool once; loading it and calling it later is one success.
            let before = search.hits.len();
            search.hits.retain(|hit| **hit != *tool);
            if search.hits.len() < before {
                led_here.push(search.query.clone());
            }
        }
        drop(sessions);
        if led_here.is_empty() {
            return;
        }
        for query in &led_here {
            // Nobody waits for it: a query that is lost with the disk is no harm.
            drop(self.storage.remember(tool, query, self.clock.now(), REMEMBERED_MAX));
        }
        self.index.remember(led_here.into_iter().map(|query| (tool.to_owned(), query)));
    }

    /// Reads what earlier days remembered, once.
    async fn read_remembered(&self) {
        if !self.settings().remember || self.has_read.swap(true, Ordering::AcqRel) {
            return;
        }
        match self.storage.remembered().done().await {
            Ok(queries) => self.index.remember(queries),
            Err(error) => tracing::warn!(%error, "remembered queries cannot be read"),
        }
    }
}

/// Returns a query as it is remembered, if it is worth it.
fn normalized(query: &str) -> Option<String> {
    let line = query.split_whitespace().collect::<Vec<_>>().join(" ");
    let text: String = line.to_lowercase().chars().filter(|c| !c.is_control()).collect();
    (!text.is_empty() && text.chars().count() <= MAX_QUERY).then_some(text)
}
