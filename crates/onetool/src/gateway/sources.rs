//! Upstream MCP servers and OpenAPI descriptions: starts them concurrently, watches them, and keeps their tools in the
//! catalog up to date.
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

use super::configured::{ConfiguredSource, configured_sources};
use super::record;
use super::source_report::{SourceReport, SourceState};

use crate::config::{ApiConfig, Config};
use onetool_core::clock::{Clock, Timestamp};
use onetool_server::Server;
use onetool_server::catalog::{Catalog, Offer};
use onetool_store::Store;
use onetool_store::stats::Stats;
use onetool_store::store::SourceSwitches;

/// The first delay before fetching a description is retried; it doubles with every attempt.
const MIN_RETRY_DELAY: Duration = Duration::from_secs(2);
const MAX_RETRY_DELAY: Duration = Duration::from_mins(5);

/// All external sources.
pub(super) struct Sources {
    pub(super) server: Server,
    pub(super) store: Arc<dyn Store>,
    stats: Stats,
    clock: Clock,
    children: ChildContext,
    loader: Loader,
    table: Mutex<Table>,
    /// Whether every first attempt has finished; kept here so that requests need not lock the table.
    is_settled: AtomicBool,
    /// Notified whenever a source changes.
    changes: watch::Sender<()>,
    /// Connections that are shutting down.
    ending: TaskTracker,
    /// Held while the switches are read and applied.
    pub(super) switching: tokio::sync::Mutex<()>,
}

/// The configured sources, and those that are running.
#[derive(Default)]
pub(super) struct Table {
    pub(super) configured: IndexMap<Arc<str>, ConfiguredSource>,
    pub(super) running: IndexMap<Arc<str>, Running>,
    /// The sources that someone switched on or off, once they have been read; kept across reloads.
    pub(super) switched: Option<SourceSwitches>,
    pub(super) follows_switches: bool,
    /// Whether sources should run: not before there is a runtime, and not after closing.
    is_started: bool,
    is_closed: bool,
    startup_wait: Duration,
    /// How long requests wait for sources that are still connecting.
    deadline: Option<Instant>,
    next_id: u64,
    /// Tokens of the local definitions: those not on the clients' lists, and those on them.
    local_tokens: (u64, u64),
}

/// A source that has been started.
pub(super) struct Running {
    /// Distinguishes it from an earlier source of the same name, whose last update may still arrive.
    id: u64,
    configured: ConfiguredSource,
    pub(super) work: Work,
    pub(super) state: SourceState,
    /// When it entered this state.
    since: Timestamp,
    /// The last error, even if it has recovered since.
    last_error: Option<String>,
    /// Whether the first attempt has finished, successfully or not.
    has_settled: bool,
    pub(super) offer: Offer,
    /// Why its tools are not in the catalog although it is connected.
    conflict: Option<String>,
    pub(super) notes: Vec<String>,
    tokens: u64,
}

/// The background work of a source; dropping it stops the source.
pub(super) enum Work {
    Nothing,
    Connection(Upstream),
    Load { _task: AbortOnDropHandle<()> },
}

/// The new state and tools of a source.
struct SourceUpdate {
    state: SourceState,
    offer: Offer,
    notes: Vec<String>,
    tokens: u64,
}

/// Returns why a source cannot use its name, if it cannot.
fn conflict(catalog: &Catalog, name: &str) -> Option<String> {
    if catalog.is_reserved_pack(name) {
        return Some(format!(
            "the name '{name}' belongs to onetool itself; rename the source in the configuration"
        ));
    }
    catalog.has_local_pack(name).then(|| {
        format!("a local pack is also named '{name}' and takes precedence; rename one in the configuration")
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
            changes: watch::Sender::new(()),
            ending: TaskTracker::new(),
            switching: tokio::sync::Mutex::default(),
        })
    }

    /// Locks the table. Must not be called while the catalog is locked.
    pub(super) fn lock(&self) -> MutexGuard<'_, Table> {
        self.table.lock().unpoisoned()
    }

    /// Returns whether more servers are configured than start at the same time.
    pub(super) fn are_many(&self) -> bool {
        self.lock().configured.values().filter(|it| matches!(it, ConfiguredSource::Server(_))).count()
            > onetool_proxy::max_concurrent_starts()
    }

    /// Starts the configured sources that are not running, if there is a runtime.
    pub(super) fn start(self: &Arc<Self>) {
        if Handle::try_current().is_ok() {
            let mut table = self.lock();
            table.is_started = !table.is_closed;
            self.follow_switches(&mut table);
            self.start_missing(&mut table);
        }
    }

    /// Applies a new configuration: stops the sources that were removed or changed, and starts the new ones.
    ///
    /// Failed sources are retried, because that is usually why someone reloads.
    pub(super) fn set_config(self: &Arc<Self>, mut table: MutexGuard<'_, Table>, config: &Config) {
        table.configured = configured_sources(config, table.switched.as_ref());
        table.startup_wait = config.startup_wait.0;
        let catalog = self.server.catalog();
        table.local_tokens = record::definition_tokens(&catalog);
        let Table { configured, running, .. } = &mut *table;
        for (name, it) in running.iter_mut() {
            it.conflict = conflict(&catalog, name);
        }
        let stays = |name: &Arc<str>, it: &Running| {
            configured.get(name) == Some(&it.configured) && !matches!(it.state, SourceState::Failed { .. })
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
        let Table { configured, running, next_id, .. } = table;
        let mut is_any_new = false;
        for (name, source) in configured.iter() {
            if running.contains_key(name) {
                continue;
            }
            *next_id += 1;
            is_any_new = true;
            running.insert(name.clone(), self.start_one(name, source, *next_id));
        }
        if is_any_new {
            table.deadline = Some(Instant::now() + table.startup_wait);
        }
        self.after_change(table);
    }

    fn start_one(self: &Arc<Self>, name: &Arc<str>, configured: &ConfiguredSource, id: u64) -> Running {
        let is_enabled = configured.is_enabled();
        let link = Link { sources: Arc::downgrade(self), name: name.clone(), id };
        let work = match configured {
            _ if !is_enabled => Work::Nothing,
            ConfiguredSource::Server(config) => {
                let upstream = Upstream::start(config.connection.clone(), self.children.clone());
                tokio::spawn(follow(link, upstream.watch(), config.is_untrusted));
                Work::Connection(upstream)
            }
            ConfiguredSource::Api(config) => {
                let task = tokio::spawn(load(link, ApiConfig::clone(config), self.loader.clone()));
                Work::Load { _task: AbortOnDropHandle::new(task) }
            }
        };
        Running {
            id,
            configured: configured.clone(),
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

    /// Applies an update of a source.
    fn update(&self, name: &Arc<str>, id: u64, update: SourceUpdate) {
        let mut table = self.lock();
        let Some(it) = table.running.get_mut(name).filter(|it| it.id == id) else { return };
        it.has_settled |= update.state != SourceState::Connecting;
        if it.state != update.state {
            it.since = self.clock.now();
            it.last_error = update.state.reason().map(str::to_owned).or(it.last_error.take());
            it.state = update.state;
        }
        it.notes = update.notes;
        it.tokens = update.tokens;
        if !update.offer.is_same(&it.offer) {
            it.offer = update.offer;
            let source = it.configured.source(name);
            let changed = self.server.shared_catalog().replace(|catalog| {
                it.conflict = conflict(catalog, name);
                let offer = if it.conflict.is_none() { it.offer.clone() } else { Offer::default() };
                Ok::<_, std::convert::Infallible>(catalog.set_source(&source, name, &offer))
            });
            if let Some(conflict) = &it.conflict {
                tracing::warn!(%source, "skipped all tools of a source: {conflict}");
            }
            for refused in changed.into_iter().flatten() {
                tracing::warn!(%source, "skipped: {refused}");
                it.notes.push(format!("skipped: {refused}"));
            }
        }
        self.after_change(&table);
    }

    pub(super) fn after_change(&self, table: &Table) {
        self.is_settled.store(table.is_settled(), Ordering::Release);
        let (unlisted, listed) = table.local_tokens;
        let remote: u64 = table.running.values().filter(|it| it.conflict.is_none()).map(|it| it.tokens).sum();
        self.stats.set_definition_tokens(unlisted + remote, listed);
        self.changes.send_replace(());
    }

    /// Subscribes to changes of sources.
    #[cfg(feature = "web")]
    pub(super) fn changes(&self) -> watch::Receiver<()> {
        self.changes.subscribe()
    }

    /// Returns whether every source has finished its first attempt.
    pub(super) fn is_settled(&self) -> bool {
        self.is_settled.load(Ordering::Acquire)
    }

    /// Waits until every source has finished its first attempt, or the configured time has passed.
    pub(super) async fn settled(self: &Arc<Self>) {
        self.start();
        self.switches_read().await;
        let deadline = self.lock().deadline;
        if let Some(deadline) = deadline {
            // After the deadline, requests use the sources that are connected.
            let _ = tokio::time::timeout_at(deadline.into(), self.all_settled()).await;
        }
    }

    /// Waits until every source has finished its first attempt, however long that takes.
    pub(super) async fn all_settled(self: &Arc<Self>) {
        self.start();
        self.switches_read().await;
        let mut changes = self.changes.subscribe();
        while !self.lock().is_settled() {
            if changes.changed().await.is_err() {
                return;
            }
        }
    }

    /// Returns the state of every configured source, in the order of the configuration.
    pub(super) fn reports(&self) -> Vec<SourceReport> {
        let table = self.lock();
        let report = |(name, configured): (&Arc<str>, &ConfiguredSource)| {
            let source = configured.source(name);
            match table.running.get(name) {
                Some(it) => SourceReport {
                    name: name.to_string(),
                    source,
                    transport: configured.transport(),
                    state: it.state.clone(),
                    since: Some(it.since),
                    last_error: it.last_error.clone(),
                    conflict: it.conflict.clone(),
                    tools: if it.conflict.is_none() { it.offer.tools.len() } else { 0 },
                    notes: it.notes.clone(),
                },
                None => {
                    SourceReport::not_started(name, source, configured.transport(), configured.is_enabled())
                }
            }
        };
        table.configured.iter().map(report).collect()
    }

    /// Shuts down every connection and child process, and waits for them. Sources do not start again.
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
    /// Returns whether every configured source has finished its first attempt.
    fn is_settled(&self) -> bool {
        self.is_closed
            || self.configured.keys().all(|name| self.running.get(name).is_some_and(|it| it.has_settled))
    }

    /// Adds or removes the tools of running sources in a catalog whose local packs have changed; `config` is the new
    /// configuration.
    pub(super) fn update_catalog(&self, catalog: &mut Catalog, config: &Config) {
        let configured = configured_sources(config, self.switched.as_ref());
        for (name, it) in &self.running {
            let source = it.configured.source(name);
            let is_kept = configured.get(name) == Some(&it.configured);
            if !is_kept || conflict(catalog, name).is_some() {
                catalog.remove_source(&source);
            } else if it.conflict.is_some() {
                catalog.set_source(&source, name, &it.offer);
            }
        }
    }
}

/// Connects the task of a source with the table.
struct Link {
    sources: Weak<Sources>,
    name: Arc<str>,
    id: u64,
}

impl Link {
    /// Applies an update. Returns whether the sources still exist.
    fn update(&self, update: SourceUpdate) -> bool {
        let Some(sources) = self.sources.upgrade() else { return false };
        sources.update(&self.name, self.id, update);
        true
    }
}

/// Applies the changes of an upstream until it ends.
async fn follow(link: Link, mut watch: watch::Receiver<Arc<Snapshot>>, is_untrusted: bool) {
    loop {
        let snapshot = watch.borrow_and_update().clone();
        if !link.update(upstream_update(&snapshot, is_untrusted)) || watch.changed().await.is_err() {
            return;
        }
    }
}

fn upstream_update(snapshot: &Snapshot, is_untrusted: bool) -> SourceUpdate {
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
    SourceUpdate { state, offer, notes, tokens }
}

/// Filters out tools whose arguments cannot be validated. Returns the others, and a note for each skipped tool.
fn usable(tools: &[Arc<dyn Tool>]) -> (Vec<Arc<dyn Tool>>, Vec<String>) {
    let mut notes = Vec::new();
    let is_usable = |tool: &&Arc<dyn Tool>| {
        let spec = tool.spec();
        match spec.input_schema.check_growth() {
            Ok(()) => true,
            Err(error) => {
                notes.push(format!("skipped '{}': {error}", spec.name));
                false
            }
        }
    };
    let tools = tools.iter().filter(is_usable).cloned().collect();
    (tools, notes)
}

/// Loads a description, and retries if it could not be fetched.
async fn load(link: Link, config: ApiConfig, loader: Loader) {
    let mut delay = MIN_RETRY_DELAY;
    loop {
        let loaded = loader.load(config.origin.clone(), config.options.clone()).await;
        let error = match loaded {
            Ok(api) => {
                link.update(api_update(&link.name, api, config.is_untrusted));
                return;
            }
            Err(error) => error,
        };
        let reason = error_chain(&error);
        tracing::warn!(api = %link.name, "cannot load an OpenAPI description: {reason}");
        let is_temporary = matches!(
            error,
            LoadError::Fetch { .. }
                | LoadError::Unreadable { source: JobError::Busy(_) | JobError::Unavailable(_), .. }
        );
        let state =
            if is_temporary { SourceState::Retrying { reason } } else { SourceState::Failed { reason } };
        let update = SourceUpdate { state, offer: Offer::default(), notes: Vec::new(), tokens: 0 };
        if !link.update(update) || !is_temporary {
            return;
        }
        tokio::time::sleep(delay).await;
        delay = (delay * 2).min(MAX_RETRY_DELAY);
    }
}

fn api_update(name: &str, api: Api, is_untrusted: bool) -> SourceUpdate {
    let Api { tools, report, .. } = api;
    tracing::info!(
        api = name,
        operations = report.operations,
        skipped = report.skipped.len(),
        document_bytes = report.document_bytes,
        tokens = report.token_estimate,
        from_cache = report.from_cache,
        "loaded an OpenAPI description"
    );
    let skipped = report.skipped.iter().map(|(operation, reason)| format!("skipped '{operation}': {reason}"));
    let notes = skipped.chain(report.warnings.iter().cloned()).collect();
    let description = (!report.title.is_empty()).then(|| format!("{} {}", report.title, report.version));
    let offer = Offer { tools, description, is_untrusted, ..Offer::default() };
    let tokens = u64::try_from(report.token_estimate).unwrap_or(u64::MAX);
    SourceUpdate { state: SourceState::Connected, offer, notes, tokens }
}
