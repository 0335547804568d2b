//! Other MCP servers and OpenAPI descriptions: started side by side, followed, and kept in the catalog as they are now.
//!
//! Lock order: the table of sources before the catalog.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, Weak};
use std::time::{Duration, Instant};

use indexmap::IndexMap;
use onetool_cage::JobError;
use onetool_core::sync::Unpoisoned as _;
use onetool_core::{Tool, error_chain};
use onetool_openapi::{Api, LoadError, Loader};
use onetool_proxy::{ChildContext, Snapshot, State, Upstream};
use tokio::runtime::Handle;
use tokio::sync::watch;
use tokio_util::task::{AbortOnDropHandle, TaskTracker};

use super::record;
use super::source_report::{SourceReport, SourceState};
use super::wanted::{Wanted, wanted};
use crate::config::{ApiConfig, Config};
use onetool_core::clock::{Clock, Timestamp};
use onetool_server::Server;
use onetool_server::catalog::{Catalog, Offer};
use onetool_store::Store;
use onetool_store::stats::Stats;
use onetool_store::store::SourceSwitches;

/// The first pause before a description that could not be fetched is tried again; it doubles each time.
const FIRST_PAUSE: Duration = Duration::from_secs(2);
const LONGEST_PAUSE: Duration = Duration::from_mins(5);

/// Every source from outside.
pub(super) struct Sources {
    pub(super) server: Server,
    pub(super) store: Arc<dyn Store>,
    stats: Stats,
    clock: Clock,
    children: ChildContext,
    loader: Loader,
    table: Mutex<Table>,
    /// Whether nothing is left to wait for, so that requests need not even ask.
    is_settled: AtomicBool,
    /// Told whenever a source has changed.
    news: watch::Sender<()>,
    /// Connections that are being ended.
    ending: TaskTracker,
    /// Held while the switches are read and applied.
    pub(super) switching: tokio::sync::Mutex<()>,
}

/// What is configured, and what runs of it.
#[derive(Default)]
pub(super) struct Table {
    pub(super) wanted: IndexMap<Arc<str>, Wanted>,
    pub(super) running: IndexMap<Arc<str>, Running>,
    /// What someone switched on or off, once that has been read; it outlives a reload.
    pub(super) switched: Option<SourceSwitches>,
    pub(super) follows_switches: bool,
    /// Whether sources are to run at all; not before there is a runtime, and not after the end.
    is_started: bool,
    is_closed: bool,
    startup_wait: Duration,
    /// Until when requests wait for sources that are still connecting.
    deadline: Option<Instant>,
    next_id: u64,
    /// Tokens of the definitions that are here: kept out of the clients' lists, and on them.
    local_tokens: (u64, u64),
}

/// A source that has been started.
pub(super) struct Running {
    /// Tells it from an earlier one of the same name, whose last news may still be on their way.
    id: u64,
    wanted: Wanted,
    pub(super) work: Work,
    pub(super) state: SourceState,
    /// Since when it is in that state.
    since: Timestamp,
    /// Why it could not be used the last time, also after that is over.
    last_error: Option<String>,
    /// Whether the first attempt has come to an end, good or bad.
    has_settled: bool,
    pub(super) offer: Offer,
    /// Why its tools are not in the catalog though it is connected.
    conflict: Option<String>,
    pub(super) notes: Vec<String>,
    tokens: u64,
}

/// What keeps a source going; dropping it ends it.
pub(super) enum Work {
    Nothing,
    Connection(Upstream),
    Load { _task: AbortOnDropHandle<()> },
}

/// News of a source.
struct News {
    state: SourceState,
    offer: Offer,
    notes: Vec<String>,
    tokens: u64,
}

/// Says why a source cannot have its name, if it cannot.
fn conflict(catalog: &Catalog, name: &str) -> Option<String> {
    if catalog.is_reserved_pack(name) {
        return Some(format!("the name '{name}' belongs to onetool itself; rename it in the configuration"));
    }
    catalog.has_local_pack(name).then(|| {
        format!(
            "a pack here is called '{name}', too, and wins over it; rename one of them in the configuration"
        )
    })
}

impl Sources {
    pub(super) fn new(
        server: Server,
        store: Arc<dyn Store>,
        stats: Stats,
        clock: Clock,
        children: ChildContext,
        loader: Loader,
    ) -> Arc<Self> {
        Arc::new(Self {
            server,
            store,
            stats,
            clock,
            children,
            loader,
            table: Mutex::default(),
            is_settled: AtomicBool::new(false),
            news: watch::Sender::new(()),
            ending: TaskTracker::new(),
            switching: tokio::sync::Mutex::default(),
        })
    }

    /// Locks the table; to be done before the catalog is locked.
    pub(super) fn lock(&self) -> MutexGuard<'_, Table> {
        self.table.lock().unpoisoned()
    }

    /// Returns whether more servers are configured than start at the same time.
    pub(super) fn are_many(&self) -> bool {
        self.lock().wanted.values().filter(|it| matches!(it, Wanted::Server(_))).count()
            > onetool_proxy::max_concurrent_starts()
    }

    /// Starts what is configured and does not run, if there is a runtime to run it in.
    pub(super) fn start(self: &Arc<Self>) {
        if Handle::try_current().is_ok() {
            let mut table = self.lock();
            table.is_started = !table.is_closed;
            self.follow_switches(&mut table);
            self.start_missing(&mut table);
        }
    }

    /// Takes up a configuration that has come into force: ends what is gone or has changed, and starts what is new.
    ///
    /// What has failed for good is tried again: that is what somebody reloads for.
    pub(super) fn adopt(self: &Arc<Self>, mut table: MutexGuard<'_, Table>, config: &Config) {
        table.wanted = wanted(config, table.switched.as_ref());
        table.startup_wait = config.startup_wait.0;
        let catalog = self.server.catalog();
        table.local_tokens = record::definition_tokens(&catalog);
        let Table { wanted, running, .. } = &mut *table;
        for (name, it) in running.iter_mut() {
            it.conflict = conflict(&catalog, name);
        }
        let stays = |name: &Arc<str>, it: &Running| {
            wanted.get(name) == Some(&it.wanted) && !matches!(it.state, SourceState::Failed { .. })
        };
        let (kept, ended) = std::mem::take(running).into_iter().partition(|(name, it)| stays(name, it));
        *running = kept;
        self.end(ended);
        if table.is_started && Handle::try_current().is_ok() {
            self.start_missing(&mut table);
        }
        self.after_change(&table);
    }

    pub(super) fn end(&self, ended: IndexMap<Arc<str>, Running>) {
        for it in ended.into_values() {
            if let Work::Connection(upstream) = it.work
                && Handle::try_current().is_ok()
            {
                self.ending.spawn(upstream.shut_down());
            }
        }
    }

    pub(super) fn start_missing(self: &Arc<Self>, table: &mut Table) {
        if !table.is_started || table.switched.is_none() {
            return;
        }
        let Table { wanted, running, next_id, .. } = table;
        let mut is_any_new = false;
        for (name, wanted) in wanted.iter() {
            if running.contains_key(name) {
                continue;
            }
            *next_id += 1;
            is_any_new = true;
            running.insert(name.clone(), self.start_one(name, wanted, *next_id));
        }
        if is_any_new {
            table.deadline = Some(Instant::now() + table.startup_wait);
        }
        self.after_change(table);
    }

    fn start_one(self: &Arc<Self>, name: &Arc<str>, wanted: &Wanted, id: u64) -> Running {
        let is_enabled = wanted.is_enabled();
        let me = Link { sources: Arc::downgrade(self), name: name.clone(), id };
        let work = match wanted {
            _ if !is_enabled => Work::Nothing,
            Wanted::Server(config) => {
                let upstream = Upstream::start(config.connection.clone(), self.children.clone());
                tokio::spawn(follow(me, upstream.watch(), config.is_untrusted));
                Work::Connection(upstream)
            }
            Wanted::Api(config) => {
                let task = tokio::spawn(load(me, ApiConfig::clone(config), self.loader.clone()));
                Work::Load { _task: AbortOnDropHandle::new(task) }
            }
        };
        Running {
            id,
            wanted: wanted.clone(),
            work,
            state: if is_enabled { SourceState::Connecting } else { SourceState::Disabled },
            since: self.clock.now(),
            last_error: None,
            has_settled: !is_enabled,
            offer: Offer::default(),
            conflict: None,
            notes: Vec::new(),
            tokens: 0,
        }
    }

    /// Takes in what a source says now.
    fn take(&self, name: &Arc<str>, id: u64, news: News) {
        let mut table = self.lock();
        let Some(it) = table.running.get_mut(name).filter(|it| it.id == id) else { return };
        it.has_settled |= news.state != SourceState::Connecting;
        if it.state != news.state {
            it.since = self.clock.now();
            it.last_error = news.state.reason().map(str::to_owned).or(it.last_error.take());
            it.state = news.state;
        }
        it.notes = news.notes;
        it.tokens = news.tokens;
        if !news.offer.is_same(&it.offer) {
            it.offer = news.offer;
            let source = it.wanted.source(name);
            let changed = self.server.shared_catalog().replace(|catalog| {
                it.conflict = conflict(catalog, name);
                let offer = if it.conflict.is_none() { it.offer.clone() } else { Offer::default() };
                Ok::<_, std::convert::Infallible>(catalog.set_source(&source, name, &offer))
            });
            if let Some(conflict) = &it.conflict {
                tracing::warn!(%source, "the tools of a source are not there: {conflict}");
            }
            for refused in changed.into_iter().flatten() {
                tracing::warn!(%source, "left out: {refused}");
                it.notes.push(format!("left out: {refused}"));
            }
        }
        self.after_change(&table);
    }

    pub(super) fn after_change(&self, table: &Table) {
        self.is_settled.store(table.is_settled(), Ordering::Release);
        let (kept_out, own) = table.local_tokens;
        let from_outside: u64 =
            table.running.values().filter(|it| it.conflict.is_none()).map(|it| it.tokens).sum();
        self.stats.set_definition_tokens(kept_out + from_outside, own);
        self.news.send_replace(());
    }

    /// Hears of every change of a source.
    #[cfg(feature = "web")]
    pub(super) fn news(&self) -> watch::Receiver<()> {
        self.news.subscribe()
    }

    /// Tells whether no source is in its first attempt to connect.
    pub(super) fn is_settled(&self) -> bool {
        self.is_settled.load(Ordering::Acquire)
    }

    /// Waits until every source has come to the end of its first attempt, or the time for that has passed.
    pub(super) async fn settled(self: &Arc<Self>) {
        self.start();
        self.switches_read().await;
        let deadline = self.lock().deadline;
        if let Some(deadline) = deadline {
            // Whoever comes later than that finds what is there.
            let _ = tokio::time::timeout_at(deadline.into(), self.all_settled()).await;
        }
    }

    /// Waits until every source has come to the end of its first attempt, however long that takes.
    pub(super) async fn all_settled(self: &Arc<Self>) {
        self.start();
        self.switches_read().await;
        let mut news = self.news.subscribe();
        while !self.lock().is_settled() {
            if news.changed().await.is_err() {
                return;
            }
        }
    }

    /// Tells how every configured source is doing, in the order of the configuration.
    pub(super) fn reports(&self) -> Vec<SourceReport> {
        let table = self.lock();
        let report = |(name, wanted): (&Arc<str>, &Wanted)| {
            let source = wanted.source(name);
            match table.running.get(name) {
                Some(it) => SourceReport {
                    name: name.to_string(),
                    source,
                    transport: wanted.transport(),
                    state: it.state.clone(),
                    since: Some(it.since),
                    last_error: it.last_error.clone(),
                    conflict: it.conflict.clone(),
                    tools: if it.conflict.is_none() { it.offer.tools.len() } else { 0 },
                    notes: it.notes.clone(),
                },
                None => SourceReport::not_started(name, source, wanted.transport(), wanted.is_enabled()),
            }
        };
        table.wanted.iter().map(report).collect()
    }

    /// Ends every connection and every child, and waits until that is done. Nothing starts again.
    pub(super) async fn close(&self) {
        let running = {
            let mut table = self.lock();
            (table.is_started, table.is_closed) = (false, true);
            std::mem::take(&mut table.running)
        };
        self.end(running);
        self.ending.close();
        self.ending.wait().await;
    }
}

impl Table {
    /// Tells whether nothing is left to wait for: everything runs, and has come to the end of its first attempt.
    fn is_settled(&self) -> bool {
        self.is_closed
            || self.wanted.keys().all(|name| self.running.get(name).is_some_and(|it| it.has_settled))
    }

    /// Fits what runs into a catalog whose own packs have changed; `config` is the configuration to come.
    pub(super) fn refit(&self, catalog: &mut Catalog, config: &Config) {
        let wanted = wanted(config, self.switched.as_ref());
        for (name, it) in &self.running {
            let source = it.wanted.source(name);
            let is_kept = wanted.get(name) == Some(&it.wanted);
            if !is_kept || conflict(catalog, name).is_some() {
                catalog.remove_source(&source);
            } else if it.conflict.is_some() {
                catalog.set_source(&source, name, &it.offer);
            }
        }
    }
}

/// The way from a source's own task back to the table.
struct Link {
    sources: Weak<Sources>,
    name: Arc<str>,
    id: u64,
}

impl Link {
    /// Hands news in; tells whether anybody is left to hear them.
    fn tell(&self, news: News) -> bool {
        let Some(sources) = self.sources.upgrade() else { return false };
        sources.take(&self.name, self.id, news);
        true
    }
}

/// Follows an upstream until it ends.
async fn follow(link: Link, mut watch: watch::Receiver<Arc<Snapshot>>, is_untrusted: bool) {
    loop {
        let snapshot = watch.borrow_and_update().clone();
        if !link.tell(news_of(&snapshot, is_untrusted)) || watch.changed().await.is_err() {
            return;
        }
    }
}

fn news_of(snapshot: &Snapshot, is_untrusted: bool) -> News {
    let state = match &snapshot.state {
        State::Connecting => SourceState::Connecting,
        State::Connected => SourceState::Connected,
        State::BackingOff { reason, .. } => SourceState::Retrying { reason: reason.to_string() },
        State::Failed { reason } => SourceState::Failed { reason: reason.to_string() },
        State::Disabled => SourceState::Disabled,
    };
    let (tools, notes) = usable(&snapshot.tools);
    let offer = Offer {
        tools,
        resources: snapshot.resources.clone(),
        prompts: snapshot.prompts.clone(),
        description: snapshot.instructions.clone(),
        is_untrusted,
    };
    let tokens = offer.tools.iter().map(|tool| record::spec_tokens(tool.spec())).sum();
    News { state, offer, notes, tokens }
}

/// Leaves out tools whose arguments nobody could check, and says which.
fn usable(tools: &[Arc<dyn Tool>]) -> (Vec<Arc<dyn Tool>>, Vec<String>) {
    let mut notes = Vec::new();
    let is_usable = |tool: &&Arc<dyn Tool>| {
        let spec = tool.spec();
        match spec.input_schema.check_growth() {
            Ok(()) => true,
            Err(error) => {
                notes.push(format!("'{}' is left out: {error}", spec.name));
                false
            }
        }
    };
    let tools = tools.iter().filter(is_usable).cloned().collect();
    (tools, notes)
}

/// Loads a description; one that could not be fetched is tried again.
async fn load(link: Link, config: ApiConfig, loader: Loader) {
    let mut pause = FIRST_PAUSE;
    loop {
        let loaded = loader.load(config.origin.clone(), config.options.clone()).await;
        let error = match loaded {
            Ok(api) => {
                link.tell(news_of_api(&link.name, api, config.is_untrusted));
                return;
            }
            Err(error) => error,
        };
        let reason = error_chain(&error);
        tracing::warn!(api = %link.name, "an OpenAPI description could not be loaded: {reason}");
        let is_passing = matches!(
            error,
            LoadError::Fetch { .. }
                | LoadError::Unreadable { source: JobError::Busy(_) | JobError::Unavailable(_), .. }
        );
        let state =
            if is_passing { SourceState::Retrying { reason } } else { SourceState::Failed { reason } };
        let news = News { state, offer: Offer::default(), notes: Vec::new(), tokens: 0 };
        if !link.tell(news) || !is_passing {
            return;
        }
        tokio::time::sleep(pause).await;
        pause = (pause * 2).min(LONGEST_PAUSE);
    }
}

fn news_of_api(name: &str, api: Api, is_untrusted: bool) -> News {
    let Api { tools, report, .. } = api;
    tracing::info!(
        api = name,
        operations = report.operations,
        left_out = report.skipped.len(),
        document_bytes = report.document_bytes,
        tokens = report.token_estimate,
        from_cache = report.from_cache,
        "an OpenAPI description is loaded"
    );
    let left_out = report.skipped.iter().map(|(operation, why)| format!("'{operation}' is left out: {why}"));
    let notes = left_out.chain(report.warnings.iter().cloned()).collect();
    let description = (!report.title.is_empty()).then(|| format!("{} {}", report.title, report.version));
    let offer = Offer { tools, description, is_untrusted, ..Offer::default() };
    let tokens = u64::try_from(report.token_estimate).unwrap_or(u64::MAX);
    News { state: SourceState::Connected, offer, notes, tokens }
}
