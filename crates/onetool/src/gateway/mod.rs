//! The gateway: a server with the configured tools and sources, the `ot` pack and `run`, which can be reloaded.

mod agent_reload;
#[cfg(feature = "web")]
mod api;
#[cfg(feature = "web")]
mod call_history;
mod configured;
mod error;
mod http_surface;
#[cfg(feature = "web")]
mod mask;
mod metrics;
mod open_store;
mod ot_host;
mod own_paths;
mod record;
mod server_memory;
mod source_report;
mod source_switch;
mod sources;
mod suspicion;

use std::collections::HashSet;
use std::io;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, OnceLock, RwLock, Weak};
use std::time::Duration;

use indexmap::IndexMap;
use onetool_cage::{Jobs, Slots, WorkerCommand};
use onetool_core::sync::Unpoisoned as _;
use onetool_core::{Pack, PackError, ToolDocs, ToolName, error_chain};
use onetool_openapi::Loader;
use onetool_proxy::{ChildContext, ChildEnvironment, Guard};
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use crate::config::{Config, Location};
use crate::meta_tools;
use crate::search::{Finder, Hit};
use crate::worker;
use agent_reload::AgentReload;
use http_surface::HttpSurface;
use onetool_core::clock::Clock;
use onetool_core::current::Current;
use onetool_declared::Declared;
use onetool_packs::{NameUse, OwnFiles, OwnPaths, PackContext};
use onetool_run::shortcuts::{Aliases, Shortcuts, Snippets, shipped};
use onetool_run::{Interpreter, PythonPack};
use onetool_server::Server;
use onetool_server::Wait;
use onetool_server::catalog::{Catalog, RegisterError, Rules, Source};
use onetool_server::http;
use onetool_store::results::ResultStore;
use onetool_store::stats::Stats;
use onetool_store::{LocalState, SharedStore, Store as _};
use own_paths::own_paths;
use server_memory::StoredMemory;
use sources::Sources;

pub use error::GatewayError;
pub use http_surface::HttpSource;
pub use open_store::OpenStore;
pub use source_report::{SourceReport, SourceState};
pub use suspicion::Suspicion;

/// The client name of the page.
const PAGE: &str = "page";

/// Names of tools, and packs, that belong to the gateway.
const RESERVED: [&str; 6] = ["run", "tool_find", "tool_describe", "tool_load", "tool_active", "ot"];

/// Reads the configuration; the error describes the problem and its location.
pub type LoadConfig = Arc<dyn Fn() -> Result<Config, String> + Send + Sync>;

/// The environment of a gateway. The library itself reads neither environment variables nor the working directory.
#[derive(Clone, Default)]
#[non_exhaustive]
pub struct GatewayOptions {
    /// The environment variables that child processes inherit: `PATH`, `HOME` and the locale.
    pub children: ChildEnvironment,
    /// The working directory, where agents may write files.
    pub directory: PathBuf,
    /// Directories that belong to onetool; no tool can open anything in them. The `.onetool` directories next to the
    /// configuration and in the working directory always belong to it.
    pub state: Vec<PathBuf>,
    /// How to open the store for persistent and shared state. By default, everything is kept in memory unless the
    /// configuration names a file.
    pub store: OpenStore,
    /// How to start the processes that run Python and parse untrusted documents. The command must call
    /// [`worker_main`](crate::worker_main). Without it there is no `run` tool, web pages cannot be read, and OpenAPI
    /// descriptions and SQLite files are read in this process.
    pub worker: Option<WorkerCommand>,
    /// How to start the process that kills upstream servers and declared commands, with all their descendants, when
    /// they end or this process is killed. Without it, only their process groups are killed, and nothing is when this
    /// process is killed.
    pub guard: Option<Guard>,
    /// The directory for cached OpenAPI plans. Without it, they are not cached.
    pub cache: Option<PathBuf>,
    /// How `ot.reload()` reads the configuration.
    pub load: Option<LoadConfig>,
    /// The command with which the operator reloads. Agents get it for changes that only the operator may make.
    pub operator_reload: Option<String>,
}

impl GatewayOptions {
    fn child_context(&self) -> ChildContext {
        ChildContext { environment: self.children.clone(), guard: self.guard.clone(), memory: None }
    }
}

/// How long to wait for a client's first message before starting servers.
const GREETING_TIMEOUT: Duration = Duration::from_millis(200);

/// The changes made by a reload.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ReloadReport {
    /// Tools that were added.
    pub added: Vec<String>,
    /// Tools that were removed.
    pub removed: Vec<String>,
    /// Changed settings that take effect only after a restart.
    pub on_restart: Vec<String>,
    /// Changed settings that wait for the operator, if an agent requested the reload.
    pub waiting: Vec<String>,
}

/// Who requested a reload.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Requester {
    /// The operator; all changes are applied.
    Operator,
    /// A caller of tools; see [`agent_reload`].
    Agent,
}

/// A server that can reload its configuration. Cheap to clone; all clones are the same gateway.
#[derive(Clone)]
pub struct Gateway {
    inner: Arc<Inner>,
}

struct Inner {
    server: Server,
    options: GatewayOptions,
    config: Current<Config>,
    own_files: OwnFiles,
    /// Held during a reload.
    reloading: Mutex<()>,
    /// The routers that were created.
    http: Mutex<Vec<HttpSurface>>,
    /// Configured packs that could not be loaded.
    broken_packs: RwLock<Vec<PackError>>,
    store: Arc<SharedStore>,
    /// State kept in memory, which survives a reload that replaces the store.
    local: Arc<LocalState>,
    results: ResultStore,
    stats: Stats,
    clock: Clock,
    interpreter: Interpreter,
    /// Limits the number of worker processes.
    slots: Arc<Slots>,
    /// Parses untrusted documents.
    jobs: Option<Arc<Jobs>>,
    finder: Arc<Finder>,
    sources: Arc<Sources>,
    #[cfg(feature = "web")]
    history: Arc<call_history::History>,
}

impl Gateway {
    /// Builds the gateway.
    ///
    /// # Errors
    /// If something in the configuration is invalid or cannot be registered.
    pub fn new(config: Config, options: GatewayOptions) -> Result<Self, GatewayError> {
        let register_error = |error| GatewayError::Register { at: None, error };
        let clock = Clock::system();
        let local = Arc::<LocalState>::default();
        let store = Arc::new(SharedStore::new(options.store.open(&config.storage, &local)));
        let results = ResultStore::new(store.clone(), clock.clone(), config.output);
        let stats = Stats::new(store.clone(), clock.clone(), config.stats);
        let finder = Arc::new(Finder::new(store.clone(), clock.clone(), config.search.clone()));
        #[cfg(feature = "web")]
        let history = Arc::new(call_history::History::new(store.clone(), clock.clone()));
        let recorder = record::Recorder {
            stats: stats.clone(),
            finder: finder.clone(),
            #[cfg(feature = "web")]
            history: history.clone(),
        };
        // The sources need the server, but the server waits for the sources, so they are set later.
        let started_sources = Arc::new(OnceLock::new());
        let server = Server::builder()
            .logging()
            .completions()
            .discovery()
            .reserved(&RESERVED)
            .sessions(store.clone())
            .overflow(Arc::new(results.clone()))
            .observer(recorder)
            .wait(wait_for(started_sources.clone()))
            .build()
            .map_err(register_error)?;
        let slots = Arc::new(Slots::new(config.run.slots()));
        let jobs = options.worker.as_ref().map(|it| Arc::new(Jobs::new(worker::document(it), slots.clone())));
        let current = Current::default();
        let python = options.worker.as_ref().map(worker::python);
        let interpreter = Interpreter::new(python, config.run.clone(), &server, &results, &stats, &slots);
        if let Some(run) = interpreter.run_tool() {
            server.add_tool(run, Source::Surface).map_err(register_error)?;
        }
        meta_tools::register(&server, &finder).map_err(register_error)?;
        let loader = Loader { cache: options.cache.clone(), jobs: jobs.clone() };
        let memory = StoredMemory { store: store.clone(), clock: clock.clone() };
        let children = ChildContext { memory: Some(Arc::new(memory)), ..options.child_context() };
        let sources =
            Sources::new(server.clone(), store.clone(), stats.clone(), clock.clone(), children, loader);
        let _ = started_sources.set(Arc::downgrade(&sources));
        let inner = Arc::new(Inner {
            server,
            options,
            config: current,
            own_files: OwnFiles::default(),
            reloading: Mutex::default(),
            http: Mutex::default(),
            broken_packs: RwLock::default(),
            store,
            local,
            results,
            stats,
            clock,
            interpreter,
            slots,
            jobs,
            finder,
            sources,
            #[cfg(feature = "web")]
            history,
        });
        let weak = Arc::downgrade(&inner);
        let context = move || weak.upgrade().map(|inner| ot_host::context(&inner));
        crate::ot::register(&inner.server, context).map_err(register_error)?;
        let gateway = Self { inner };
        gateway.inner.own_files.set(gateway.inner.own_paths([&config]));
        let packs = gateway.inner.load_packs(&config);
        gateway.inner.apply(config, packs)?;
        Ok(gateway)
    }

    /// Returns the server.
    pub fn server(&self) -> &Server {
        &self.inner.server
    }

    /// Returns the current configuration.
    pub fn config(&self) -> Arc<Config> {
        self.inner.config()
    }

    /// Returns a router for the gateway, to be served directly or merged into another axum application: MCP, and with
    /// the feature `web` the page at `/` and `/ui/`, the tools at `/tools` and the page's API at `/api/v1`.
    ///
    /// A reload applies new settings of the page, and with [`HttpSource::following`] all others.
    pub fn http_router(&self, options: impl Into<HttpSource>) -> axum::Router {
        let (surface, router) = HttpSurface::new(&self.inner, options.into());
        self.add_surface(surface);
        router
    }

    /// Registers routes to be rebuilt by a reload.
    fn add_surface(&self, surface: HttpSurface) {
        self.inner.http.lock().unpoisoned().push(surface);
    }

    /// Serves over HTTP until `stop` is canceled; see [`http::serve`].
    ///
    /// # Errors
    /// None yet, like [`http::serve`].
    pub async fn serve_http(
        &self,
        listener: TcpListener,
        options: impl Into<HttpSource>,
        stop: CancellationToken,
        drain: Duration,
    ) -> io::Result<()> {
        let (surface, routes) = HttpSurface::new(&self.inner, options.into());
        let limits = surface.connections().clone();
        self.add_surface(surface);
        http::serve_routes(self.server(), routes, listener, move || *limits.get(), stop, drain).await;
        Ok(())
    }

    /// Starts to connect all configured servers and to load all OpenAPI descriptions, concurrently and in the
    /// background. Does nothing outside of a tokio runtime. A request that needs a source also starts them.
    pub fn connect(&self) {
        self.inner.sources.start();
    }

    /// Connects, and waits until every source has finished its first attempt, successfully or not. Requests wait
    /// automatically, but at most for the configured time.
    pub async fn connected(&self) {
        self.inner.sources.all_settled().await;
    }

    /// Returns the state of every server and API, in the order of the configuration.
    pub fn sources(&self) -> Vec<SourceReport> {
        self.inner.sources.reports()
    }

    /// Returns the external descriptions that may try to manipulate a model.
    pub fn suspicions(&self) -> Vec<Suspicion> {
        suspicion::in_catalog(&self.inner.server.catalog())
    }

    /// Does the background work: connects the sources, starts the worker for the first `run`, and deletes stored results
    /// that have expired. Runs until it is dropped.
    pub async fn work(&self) {
        if self.inner.sources.are_many() {
            // Many servers starting together would delay the Python worker, which every `run` waits for.
            let _ = tokio::time::timeout(GREETING_TIMEOUT, self.server().greeted()).await;
            self.warm().await;
        }
        self.connect();
        // The rest waits, so that it does not delay the first response.
        self.server().greeted().await;
        tokio::join!(self.warm(), self.inner.results.keep_clean(), self.inner.keep_index_current());
    }

    /// Returns the tools that match a query, best first, with an explanation of their scores.
    pub async fn find(&self, query: &str, limit: usize) -> Vec<Hit> {
        self.inner.finder.search(&self.server().catalog(), query, limit).await
    }

    /// Starts the worker that the first `run` would otherwise wait for.
    pub async fn warm(&self) {
        self.inner.interpreter.warm().await;
    }

    /// Returns which protections the sandbox cannot provide on this system, if any.
    pub async fn sandbox_gaps(&self) -> Option<String> {
        self.inner.interpreter.gaps().await
    }

    /// Closes the connections to upstream servers, stops child processes, and flushes the store. Call it before the
    /// program exits.
    pub async fn close(&self) {
        self.inner.sources.close().await;
        self.inner.stats.flush().await;
        if let Err(error) = self.inner.store.close().await {
            tracing::warn!("cannot close the store: {}", error_chain(&error));
        }
    }

    /// Applies a new configuration for the operator, completely or not at all. In-flight calls are not affected.
    ///
    /// # Errors
    /// If something in it is invalid or cannot be registered; the old configuration stays active.
    pub fn reload(&self, config: Config) -> Result<ReloadReport, GatewayError> {
        self.inner.reload(config, Requester::Operator)
    }

    /// Returns the current problem with the store, if any.
    pub fn storage_problem(&self) -> Option<String> {
        self.inner.store.health().problem
    }

    /// Returns the configured packs that could not be loaded.
    pub fn broken_packs(&self) -> Vec<PackError> {
        self.inner.broken_packs()
    }
}

/// The packs read from the configured files.
type Packs = Vec<Result<PythonPack, PackError>>;

impl Inner {
    fn config(&self) -> Arc<Config> {
        self.config.get()
    }

    fn broken_packs(&self) -> Vec<PackError> {
        self.broken_packs.read().unpoisoned().clone()
    }

    fn reload(self: &Arc<Self>, new: Config, requester: Requester) -> Result<ReloadReport, GatewayError> {
        let _one_at_a_time = self.reloading.lock().unpoisoned();
        let (old_config, old_catalog) = (self.config(), self.server.catalog());
        // Protect the files of both configurations during the reload, including those that wait for the operator.
        self.own_files.set(self.own_paths([&*old_config, &new]));
        let read = (requester == Requester::Agent).then(|| new.clone());
        let (mut config, waiting) = match requester {
            Requester::Operator => (new, Vec::new()),
            Requester::Agent => {
                let AgentReload { config, waiting } = AgentReload::new(&old_config, new);
                (config, waiting)
            }
        };
        let on_restart = on_restart(&old_config, &mut config);
        // A broken pack is skipped at startup, but fails a reload, so that it does not remove a pack that works.
        let packs: Vec<PythonPack> = self.load_packs(&config).into_iter().collect::<Result<_, _>>()?;
        self.apply(config, packs.into_iter().map(Ok).collect())?;
        let config = self.config();
        if config.storage.location() != old_config.storage.location() {
            self.store.replace(self.options.store.open(&config.storage, &self.local));
            self.finder.reload_queries();
        }
        self.own_files.set(self.own_paths([&*config].into_iter().chain(&read)));
        let mut surfaces = self.http.lock().unpoisoned();
        surfaces.retain(|surface| surface.rebuild(self));
        // A choice made on the page is overridden only if the setting changed.
        #[cfg(feature = "web")]
        if config.http.history != old_config.http.history && !surfaces.is_empty() {
            self.history.set_on(config.http.history);
        }
        drop(surfaces);
        let names = |catalog: &Catalog| catalog.tools().map(|it| it.name().to_string()).collect::<Vec<_>>();
        let (old, new) = (names(&old_catalog), names(&self.server.catalog()));
        let only_in = |these: &[String], those: &[String]| {
            let those: HashSet<&String> = those.iter().collect();
            these.iter().filter(|name| !those.contains(name)).cloned().collect::<Vec<_>>()
        };
        let (added, removed) = (only_in(&new, &old), only_in(&old, &new));
        let report = ReloadReport { added, removed, on_restart, waiting };
        tracing::info!(
            added = ?report.added,
            removed = ?report.removed,
            on_restart = ?report.on_restart,
            waiting = ?report.waiting,
            "configuration reloaded"
        );
        Ok(report)
    }

    /// Applies the settings that are neither part of the catalog nor read from the configuration when used.
    fn set_limits(&self, config: &Config) {
        self.server.change_options(|options| {
            options.name = config.server.name.to_string();
            options.instructions = instructions(config);
            options.call_timeout = *config.server.call_timeout;
            options.newest_protocol = Some(config.protocol.max.as_str().to_owned());
        });
        self.results.set_options(config.output);
        self.stats.set_options(config.stats);
        self.interpreter.set_options(config.run.clone());
        self.finder.set(config.search.clone());
        self.slots.set_limits(config.run.slots());
    }

    /// Returns the paths that belong to onetool under these configurations.
    fn own_paths<'a>(&self, configs: impl IntoIterator<Item = &'a Config>) -> OwnPaths {
        own_paths(&self.options, &*self.store, configs)
    }

    /// Updates the search index whenever the catalog changes, so that searches need not wait for it.
    async fn keep_index_current(&self) {
        let mut changes = self.server.changes();
        loop {
            changes.borrow_and_update();
            self.finder.prepare(&self.server.catalog()).await;
            if changes.changed().await.is_err() {
                return;
            }
        }
    }

    fn load_packs(&self, config: &Config) -> Packs {
        self.interpreter.packs(&config.pack_files)
    }

    /// Builds the built-in packs.
    fn bundles(&self, config: &Config, catalog: &Catalog) -> (Vec<Pack>, Vec<PackError>) {
        let context = PackContext {
            own_files: self.own_files.clone(),
            jobs: self.jobs.clone(),
            redactor: config.redactor.clone(),
        };
        config.packs.build(&context, |name| {
            if catalog.has_local_pack(name) {
                NameUse::LocalPack
            } else if config.servers.contains_key(name) || config.apis.contains_key(name) {
                NameUse::Source
            } else {
                NameUse::Free
            }
        })
    }

    fn apply(&self, config: Config, packs: Packs) -> Result<(), GatewayError> {
        let python = |spec, code: &str, timeout| self.interpreter.tool(spec, code, timeout);
        let children = self.options.child_context();
        let declared = Declared::new(&config.declared, &config.redactor, &children, &python)?;
        let mut broken = Vec::new();
        let table = self.sources.lock();
        self.server.shared_catalog().replace(|catalog| {
            catalog.remove_source(&Source::Config);
            catalog.remove_source(&Source::Pack);
            catalog.remove_source(&Source::Bundled);
            for (at, tool) in declared.tools {
                located(at, catalog.add_tool(tool, Source::Config))?;
            }
            for (at, resource) in declared.resources {
                located(at, catalog.add_resource(resource, Source::Config))?;
            }
            for (at, prompt) in declared.prompts {
                located(at, catalog.add_prompt(prompt, Source::Config))?;
            }
            let mut docs = IndexMap::new();
            for pack in packs {
                match pack {
                    Ok(pack) => {
                        docs.extend(pack.pack.docs.iter().cloned());
                        broken.extend(add_pack(catalog, pack));
                    }
                    Err(error) => broken.push(error),
                }
            }
            let (bundles, errors) = self.bundles(&config, catalog);
            broken.extend(errors);
            for pack in bundles {
                docs.extend(pack.docs.iter().cloned());
                if let Some(error) = catalog.add_bundle(pack).into_iter().next() {
                    return Err(GatewayError::Register { at: None, error });
                }
            }
            table.update_catalog(catalog, &config);
            catalog.settle_remote_names();
            let rules = rules(&config, catalog, docs)?;
            catalog.set_rules(rules);
            Ok::<_, GatewayError>(())
        })?;
        self.sources.set_config(table, &config);
        for error in &broken {
            tracing::warn!(pack = error.name, %error, "cannot load a pack");
        }
        *self.broken_packs.write().unpoisoned() = broken;
        self.set_limits(&config);
        self.config.set(config);
        Ok(())
    }
}

/// Returns the instructions for the clients' models: those of the operator, and a notice if something is missing.
fn instructions(config: &Config) -> Option<String> {
    let parts = [&config.server.instructions, &config.notice];
    let parts: Vec<&str> = parts.into_iter().flatten().map(String::as_str).collect();
    (!parts.is_empty()).then(|| parts.join("\n\n"))
}

/// Adds the tools of a Python pack. Returns an error for each tool that cannot be added.
fn add_pack(catalog: &mut Catalog, PythonPack { path, pack }: PythonPack) -> Vec<PackError> {
    if let Some(description) = &pack.description {
        catalog.describe_pack(&pack.name, description, Source::Pack);
    }
    let add = |tool| catalog.add_tool(tool, Source::Pack).err();
    let failed = |error: RegisterError| PackError::new(&*pack.name, &path, None, error.to_string());
    pack.tools.into_iter().filter_map(add).map(failed).collect()
}

fn located(at: Location, registered: Result<(), RegisterError>) -> Result<(), GatewayError> {
    registered.map_err(|error| GatewayError::Register { at: Some(at), error })
}

/// Combines the operator's settings for tools with `docs`, the documentation that comes with the packs.
fn rules(
    config: &Config,
    catalog: &Catalog,
    mut docs: IndexMap<String, ToolDocs>,
) -> Result<Rules, GatewayError> {
    for (name, own) in &config.docs.tools {
        let bundled = docs.shift_remove(name).unwrap_or_default();
        docs.insert(name.clone(), own.clone().or(bundled));
    }
    let targets: IndexMap<String, String> =
        config.aliases.iter().map(|(name, alias)| (name.clone(), alias.target.clone())).collect();
    let aliases = Aliases::new(targets, |name| match catalog.resolve(name) {
        Ok(entry) => Ok(entry.name().clone()),
        // The tools of a source that is still connecting are unknown, so assume that this one exists.
        Err(_) if belongs_to_source(config, name) => Ok(ToolName::new(name)),
        Err(unknown) => Err(unknown),
    });
    let aliases = aliases.map_err(|error| {
        let at = config.aliases.get(error.alias()).map(|alias| alias.at.clone());
        GatewayError::Alias { at, error }
    })?;
    let snippets = Snippets::new(&config.snippets).with_shipped(shipped(|pack| catalog.has_bundle(pack)));
    let mut rules = Rules::default();
    rules.policy.clone_from(&config.policy);
    rules.docs = docs;
    rules.renames.clone_from(&config.renames);
    rules.pinned = config.search.pinned.iter().cloned().collect();
    rules.attached = Some(Arc::new(Shortcuts { aliases: Arc::new(aliases), snippets: Arc::new(snippets) }));
    Ok(rules)
}

fn belongs_to_source(config: &Config, name: &str) -> bool {
    let name = ToolName::new(name);
    let pack = name.pack().unwrap_or_default();
    config.servers.contains_key(pack) || config.apis.contains_key(pack)
}

/// Returns the wait of requests for sources that are still loading.
fn wait_for(sources: Arc<OnceLock<Weak<Sources>>>) -> Wait {
    Box::new(move || {
        let sources = sources.get()?.upgrade().filter(|it| !it.is_settled())?;
        Some(Box::pin(async move { sources.settled().await }))
    })
}

/// Resets the settings that cannot change while the program runs to their old values. Returns those that differ.
fn on_restart(old: &Config, new: &mut Config) -> Vec<String> {
    let requested = std::mem::replace(&mut new.http.listen, old.http.listen);
    if requested == old.http.listen { Vec::new() } else { vec!["http.listen".to_owned()] }
}
