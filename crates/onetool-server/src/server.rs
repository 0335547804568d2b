//! The server: registration, calls, and its builder.

use std::any::Any;
use std::sync::{Arc, OnceLock, Weak};
use std::time::{Duration, Instant};

use onetool_core::state::{LocalSessions, SessionStore};
use onetool_core::{
    BoxFuture, CallContext, JsonObject, OverflowStore, Pack, Prompt, PromptOutput, ProviderError, Resource,
    ResourceContents, Tool, ToolOutput, ToolsProvider,
};
use tokio::sync::{Semaphore, broadcast, watch};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::capabilities::Capabilities;
use crate::catalog::{ActiveSets, Catalog, Change, Entry, Offer, RegisterError, SharedCatalog, Source};
use crate::current::Current;
use crate::dispatch::{CallError, Dispatch, Observer};
use crate::read::{self, ReadError};

const DEFAULT_CALL_TIMEOUT: Duration = Duration::from_mins(5);
const DEFAULT_PAGE_SIZE: usize = 1000;
const MAX_CALLS_IN_FLIGHT: u32 = 1024;
/// The start of the URIs of the gateway's own resources, and of resources of other servers.
const OWN_SCHEME: &str = "onetool://";
/// Number of resource updates that a session may lag behind before it misses some.
const UPDATE_BACKLOG: usize = 256;

/// Maximum number of subscriptions of all sessions together: watched resources, and streams of notifications.
const MAX_SUBSCRIPTIONS: usize = 20_000;

/// Returns a future to wait for before using the whole catalog, if sources are still loading.
pub type Wait = Box<dyn Fn() -> Option<BoxFuture<'static, ()>> + Send + Sync>;

/// An MCP server of tools, resources and prompts. Cheap to clone; all clones are the same server.
///
/// ```
/// use onetool_server::{CallContext, Server, tool_fn};
///
/// let server = Server::builder().name("demo").build()?;
/// server.register_tool(tool_fn("demo.ping", "Returns pong.", |(): (), _: CallContext| async { "pong" }))?;
/// assert_eq!(server.catalog().tools().count(), 1);
/// assert!(server.unregister_tool("demo.ping"));
/// # Ok::<(), onetool_server::RegisterError>(())
/// ```
#[derive(Clone)]
pub struct Server {
    inner: Arc<Inner>,
}

struct Inner {
    options: Current<Options>,
    catalog: SharedCatalog,
    dispatch: Dispatch,
    observer: Option<Box<dyn Observer>>,
    overflow: Option<Arc<dyn OverflowStore>>,
    wait: Option<Wait>,
    sessions: Arc<dyn SessionStore>,
    resource_updates: broadcast::Sender<Arc<str>>,
    /// State of the MCP protocol.
    wire: OnceLock<Box<dyn Any + Send + Sync>>,
    pending_responses: TaskTracker,
    subscriptions_left: Arc<Semaphore>,
    /// Canceled when the first client has sent its first message.
    greeted: CancellationToken,
    shutdown: CancellationToken,
}

/// The server's information for clients, and its limits.
#[derive(Debug, Clone)]
pub struct Options {
    pub name: String,
    pub version: String,
    pub instructions: Option<String>,
    pub logging: bool,
    pub completions: bool,
    pub page_size: usize,
    pub call_timeout: Duration,
    pub newest_protocol: Option<String>,
}

impl Server {
    /// Returns a builder.
    pub fn builder() -> ServerBuilder {
        ServerBuilder::default()
    }

    /// Registers a tool, or an `Arc` of one, and notifies connected clients.
    ///
    /// # Errors
    /// If the name is already registered or invalid, or a schema is invalid.
    pub fn register_tool(&self, tool: impl Tool) -> Result<(), RegisterError> {
        self.add_tool(Arc::new(tool), Source::Code)
    }

    /// Registers a resource, or a family of resources with a URI template, and notifies connected clients.
    ///
    /// # Errors
    /// If the URI is already registered or invalid.
    pub fn register_resource(&self, resource: impl Resource) -> Result<(), RegisterError> {
        self.add_resource(Arc::new(resource), Source::Code)
    }

    /// Registers a prompt, and notifies connected clients.
    ///
    /// # Errors
    /// If the name is already registered or empty.
    pub fn register_prompt(&self, prompt: impl Prompt) -> Result<(), RegisterError> {
        self.add_prompt(Arc::new(prompt), Source::Code)
    }

    /// Removes a tool; returns whether it existed.
    pub fn unregister_tool(&self, name: &str) -> bool {
        self.inner.catalog.edit(Change::TOOLS, |it| it.remove_tool(name).then_some(()).ok_or(())).is_ok()
    }

    /// Removes a resource; returns whether it existed.
    pub fn unregister_resource(&self, uri: &str) -> bool {
        self.inner
            .catalog
            .edit(Change::RESOURCES, |it| it.remove_resource(uri).then_some(()).ok_or(()))
            .is_ok()
    }

    /// Removes a prompt; returns whether it existed.
    pub fn unregister_prompt(&self, name: &str) -> bool {
        self.inner.catalog.edit(Change::PROMPTS, |it| it.remove_prompt(name).then_some(()).ok_or(())).is_ok()
    }

    /// Notifies the subscribers of a resource that it changed.
    pub fn notify_resource_updated(&self, uri: &str) {
        // Fails if no session listens, which is fine.
        let _ = self.inner.resource_updates.send(uri.into());
    }

    /// Waits until a client has sent its first message, for work that should not delay the response to it.
    #[doc(hidden)]
    pub async fn greeted(&self) {
        self.inner.greeted.cancelled().await;
    }

    /// Records that a client has sent its first message.
    #[doc(hidden)]
    pub fn note_greeting(&self) {
        self.inner.greeted.cancel();
    }

    /// Returns a snapshot of everything that is registered.
    pub fn catalog(&self) -> Arc<Catalog> {
        self.inner.catalog.snapshot()
    }

    /// Returns the capabilities for a client that connects now.
    pub fn capabilities(&self) -> Capabilities {
        let options = self.options();
        Capabilities::of(&self.catalog(), options.logging, options.completions)
    }

    /// Calls a tool by its canonical or flat name.
    ///
    /// # Errors
    /// If the tool does not exist, the policy denies the call, the arguments do not match the schema, or the handler
    /// fails, panics or times out.
    ///
    /// ```
    /// # tokio::runtime::Runtime::new()?.block_on(async {
    /// use onetool_server::{CallContext, JsonObject, Server, tool_fn};
    ///
    /// let server = Server::builder().build()?;
    /// server.register_tool(tool_fn("demo.hello", "Says hello.", |_: JsonObject, _: CallContext| async { "hello" }))?;
    /// let output = server.call("demo_hello", JsonObject::new(), CallContext::detached()).await?;
    /// assert_eq!(output.content[0].as_text(), Some("hello"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// # })?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub async fn call(&self, name: &str, args: JsonObject, cx: CallContext) -> Result<ToolOutput, CallError> {
        // An existing tool need not wait for sources that are still loading, unless it uses the whole catalog.
        let is_independent = |entry: &Entry| !matches!(entry.source(), Source::Surface | Source::Builtin);
        if !self.catalog().get(name).is_some_and(|entry| is_independent(entry)) {
            self.settle().await;
        }
        let cx = self.with_overflow(cx);
        let observer = self.inner.observer.as_deref();
        self.inner.dispatch.call(&self.catalog(), name, args, cx, observer).await
    }

    /// Calls a tool of a catalog snapshot, such as the one that the request started with.
    ///
    /// # Errors
    /// Those of [`Server::call`], except that the tool exists.
    #[doc(hidden)]
    pub async fn call_entry(
        &self,
        catalog: &Catalog,
        entry: &Entry,
        args: JsonObject,
        cx: CallContext,
    ) -> Result<ToolOutput, CallError> {
        let cx = self.with_overflow(cx);
        let observer = self.inner.observer.as_deref();
        self.inner.dispatch.call_entry(catalog, entry, args, cx, observer).await
    }

    fn with_overflow(&self, cx: CallContext) -> CallContext {
        match &self.inner.overflow {
            Some(store) => cx.with_overflow(store.clone()),
            None => cx,
        }
    }

    /// Reads a resource.
    ///
    /// # Errors
    /// If the resource does not exist, or its handler fails, panics or times out.
    pub async fn read_resource(
        &self,
        uri: &str,
        cx: CallContext,
    ) -> Result<Vec<ResourceContents>, ReadError> {
        if uri.starts_with(OWN_SCHEME) || self.catalog().resource(uri).is_none() {
            self.settle().await;
        }
        read::read_resource(&self.catalog(), uri, cx, self.options().call_timeout).await
    }

    /// Renders a prompt.
    ///
    /// # Errors
    /// If the prompt does not exist, required arguments are missing, or its handler fails, panics or times out.
    pub async fn get_prompt(
        &self,
        name: &str,
        args: JsonObject,
        cx: CallContext,
    ) -> Result<PromptOutput, ReadError> {
        if self.catalog().prompt(name).is_none() {
            self.settle().await;
        }
        read::get_prompt(&self.catalog(), name, args, cx, self.options().call_timeout).await
    }

    /// Rejects new calls, waits for in-flight ones for at most `limit`, then ends all sessions.
    ///
    /// Returns whether all calls finished.
    pub async fn shut_down(&self, limit: Duration) -> bool {
        let end = Instant::now() + limit;
        let drained = self.inner.dispatch.drain(limit).await;
        // The responses of finished calls may not be sent yet.
        self.inner.pending_responses.close();
        let sent = tokio::time::timeout_at(end.into(), self.inner.pending_responses.wait()).await.is_ok();
        self.inner.shutdown.cancel();
        drained && sent
    }

    /// Waits for sources that are still loading.
    pub async fn settle(&self) {
        if let Some(wait) = self.inner.wait.as_ref().and_then(|wait| wait()) {
            wait.await;
        }
    }

    /// Returns the version that clients see.
    pub fn version(&self) -> String {
        self.options().version.clone()
    }

    /// Returns the server's information for clients, and its limits.
    #[doc(hidden)]
    pub fn options(&self) -> Arc<Options> {
        self.inner.options.get()
    }

    /// Changes the options. Existing sessions keep the information that they have.
    #[doc(hidden)]
    pub fn change_options(&self, change: impl FnOnce(&mut Options)) {
        let mut options = Options::clone(&self.options());
        change(&mut options);
        self.inner.dispatch.set_timeout(options.call_timeout);
        self.inner.options.set(options);
    }

    /// Returns the store that sessions share.
    pub(crate) fn sessions(&self) -> &Arc<dyn SessionStore> {
        &self.inner.sessions
    }

    /// Returns the number of subscriptions that are still available to all sessions together.
    pub(crate) fn subscriptions_left(&self) -> &Arc<Semaphore> {
        &self.inner.subscriptions_left
    }

    /// Returns the state of the MCP protocol; `make` creates it on first use.
    pub(crate) fn wire<T: Send + Sync + 'static>(&self, make: impl FnOnce() -> T) -> &T {
        let wire = self.inner.wire.get_or_init(|| Box::new(make()));
        wire.downcast_ref().expect("invariant: there is only one type of state")
    }

    /// Tracks the responses that clients are still waiting for.
    #[doc(hidden)]
    pub fn pending_responses(&self) -> &TaskTracker {
        &self.inner.pending_responses
    }

    /// Returns the token that is canceled when the server shuts down.
    pub fn shutdown_token(&self) -> &CancellationToken {
        &self.inner.shutdown
    }

    /// Subscribes to changes of the catalog.
    #[doc(hidden)]
    pub fn changes(&self) -> watch::Receiver<Change> {
        self.inner.catalog.subscribe()
    }

    pub(crate) fn resource_updates(&self) -> broadcast::Receiver<Arc<str>> {
        self.inner.resource_updates.subscribe()
    }

    /// Returns the current catalog, which can be replaced.
    #[doc(hidden)]
    pub fn shared_catalog(&self) -> &SharedCatalog {
        &self.inner.catalog
    }

    /// Returns the tools that sessions loaded.
    pub fn active(&self) -> &ActiveSets {
        self.inner.catalog.active()
    }

    /// Returns a handle that does not keep the server alive, for handlers that are registered in it.
    pub fn downgrade(&self) -> WeakServer {
        WeakServer(Arc::downgrade(&self.inner))
    }

    /// Adds a tool of a source.
    ///
    /// # Errors
    /// If the name is already registered or invalid, or a schema is invalid.
    #[doc(hidden)]
    pub fn add_tool(&self, tool: Arc<dyn Tool>, source: Source) -> Result<(), RegisterError> {
        self.inner.catalog.edit(Change::TOOLS, |catalog| catalog.add_tool(tool, source))
    }

    pub(crate) fn add_resource(
        &self,
        resource: Arc<dyn Resource>,
        source: Source,
    ) -> Result<(), RegisterError> {
        self.inner.catalog.edit(Change::RESOURCES, |catalog| catalog.add_resource(resource, source))
    }

    pub(crate) fn add_prompt(&self, prompt: Arc<dyn Prompt>, source: Source) -> Result<(), RegisterError> {
        self.inner.catalog.edit(Change::PROMPTS, |catalog| catalog.add_prompt(prompt, source))
    }
}

impl ToolsProvider for Server {
    fn tools(&self) -> BoxFuture<'_, Result<Vec<Arc<dyn Tool>>, ProviderError>> {
        let tools = self.catalog().tools().map(|entry| entry.tool().clone()).collect();
        Box::pin(std::future::ready(Ok(tools)))
    }
}

/// A handle that does not keep the server alive, for handlers that use the server they are registered in.
///
/// ```
/// use onetool_server::Server;
///
/// let server = Server::builder().build()?;
/// let weak = server.downgrade();
/// assert!(weak.upgrade().is_some());
/// drop(server);
/// assert!(weak.upgrade().is_none());
/// # Ok::<(), onetool_server::RegisterError>(())
/// ```
#[derive(Clone)]
pub struct WeakServer(Weak<Inner>);

impl WeakServer {
    /// Returns the server, if it still exists.
    pub fn upgrade(&self) -> Option<Server> {
        self.0.upgrade().map(|inner| Server { inner })
    }
}

/// A step that completes a new server.
pub(crate) type Finish = fn(&Server) -> Result<(), RegisterError>;

/// Builds a [`Server`].
///
/// ```
/// use std::time::Duration;
///
/// use onetool_server::Server;
///
/// let server = Server::builder()
///     .name("weather")
///     .instructions("Use metric units.")
///     .call_timeout(Duration::from_secs(30))
///     .build()?;
/// # Ok::<(), onetool_server::RegisterError>(())
/// ```
pub struct ServerBuilder {
    options: Options,
    reserved: Vec<&'static str>,
    finish: Vec<Finish>,
    tools: Vec<Arc<dyn Tool>>,
    resources: Vec<Arc<dyn Resource>>,
    prompts: Vec<Arc<dyn Prompt>>,
    packs: Vec<Pack>,
    observer: Option<Box<dyn Observer>>,
    overflow: Option<Arc<dyn OverflowStore>>,
    wait: Option<Wait>,
    sessions: Option<Arc<dyn SessionStore>>,
}

impl Default for ServerBuilder {
    fn default() -> Self {
        let options = Options {
            name: "onetool".into(),
            version: env!("CARGO_PKG_VERSION").into(),
            instructions: None,
            logging: false,
            completions: false,
            page_size: DEFAULT_PAGE_SIZE,
            call_timeout: DEFAULT_CALL_TIMEOUT,
            newest_protocol: None,
        };
        Self {
            options,
            reserved: Vec::new(),
            finish: Vec::new(),
            tools: Vec::new(),
            resources: Vec::new(),
            prompts: Vec::new(),
            packs: Vec::new(),
            observer: None,
            overflow: None,
            wait: None,
            sessions: None,
        }
    }
}

impl ServerBuilder {
    /// Sets the name that clients see.
    #[must_use]
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.options.name = name.into();
        self
    }

    /// Sets the version that clients see. Default: the version of this crate.
    #[must_use]
    pub fn version(mut self, version: impl Into<String>) -> Self {
        self.options.version = version.into();
        self
    }

    /// Sets the instructions that clients pass to their model.
    #[must_use]
    pub fn instructions(mut self, instructions: impl Into<String>) -> Self {
        self.options.instructions = Some(instructions.into());
        self
    }

    /// Allows handlers to send log messages to clients.
    #[must_use]
    pub fn logging(mut self) -> Self {
        self.options.logging = true;
        self
    }

    /// Allows clients to request suggestions while the user types an argument.
    #[must_use]
    pub fn completions(mut self) -> Self {
        self.options.completions = true;
        self
    }

    /// Sets the maximum number of items on a page of a list.
    #[must_use]
    pub fn page_size(mut self, items: usize) -> Self {
        self.options.page_size = items.max(1);
        self
    }

    /// Sets the time limit of handlers.
    #[must_use]
    pub fn call_timeout(mut self, timeout: Duration) -> Self {
        self.options.call_timeout = timeout;
        self
    }

    /// Sets the newest protocol revision that the server supports, such as `2025-11-25`.
    #[must_use]
    pub fn newest_protocol(mut self, revision: impl Into<String>) -> Self {
        self.options.newest_protocol = Some(revision.into());
        self
    }

    /// Adds tools.
    ///
    /// ```
    /// use onetool_server::{CallContext, Json, JsonObject, Server, tool_fn};
    ///
    /// let server = Server::builder()
    ///     .extra_tools([
    ///         tool_fn("demo.ping", "Returns pong.", |(): (), _: CallContext| async { "pong" }),
    ///         tool_fn("demo.echo", "Echoes its arguments.", |args: JsonObject, _: CallContext| async { Json(args) }),
    ///     ])
    ///     .build()?;
    /// assert_eq!(server.catalog().tools().count(), 2);
    /// # Ok::<(), onetool_server::RegisterError>(())
    /// ```
    #[must_use]
    pub fn extra_tools<T: Tool>(mut self, tools: impl IntoIterator<Item = T>) -> Self {
        self.tools.extend(tools.into_iter().map(|tool| Arc::new(tool) as Arc<dyn Tool>));
        self
    }

    /// Adds resources.
    #[must_use]
    pub fn extra_resources<R: Resource>(mut self, resources: impl IntoIterator<Item = R>) -> Self {
        self.resources.extend(resources.into_iter().map(|resource| Arc::new(resource) as Arc<dyn Resource>));
        self
    }

    /// Adds prompts.
    #[must_use]
    pub fn extra_prompts<P: Prompt>(mut self, prompts: impl IntoIterator<Item = P>) -> Self {
        self.prompts.extend(prompts.into_iter().map(|prompt| Arc::new(prompt) as Arc<dyn Prompt>));
        self
    }

    /// Adds a pack, such as an API loaded with `onetool::openapi::load`; its tools are on the clients' lists.
    ///
    /// ```
    /// use onetool_server::{CallContext, JsonObject, Pack, Server, tool_fn};
    ///
    /// let hello = tool_fn("demo.hello", "Says hello.", |_: JsonObject, _: CallContext| async { "hello" });
    /// let server = Server::builder().pack(Pack::new("demo").with_tool(hello)).build()?;
    /// assert_eq!(server.catalog().listed().next().map(|it| it.flat_name()), Some("demo_hello"));
    /// # Ok::<(), onetool_server::RegisterError>(())
    /// ```
    #[must_use]
    pub fn pack(mut self, pack: impl Into<Pack>) -> Self {
        self.packs.push(pack.into());
        self
    }

    /// Sets the store that sessions share. Default: one in the memory of this process.
    ///
    /// ```
    /// use std::sync::Arc;
    ///
    /// use onetool_server::Server;
    /// use onetool_server::state::LocalSessions;
    ///
    /// let sessions = Arc::new(LocalSessions::default());
    /// let server = Server::builder().sessions(sessions).build()?;
    /// # Ok::<(), onetool_server::RegisterError>(())
    /// ```
    #[must_use]
    pub fn sessions(mut self, sessions: Arc<dyn SessionStore>) -> Self {
        self.sessions = Some(sessions);
        self
    }

    /// Sets the store for results that are too large for memory. Default: none, and such results are errors.
    #[must_use]
    pub fn overflow(mut self, store: Arc<dyn OverflowStore>) -> Self {
        self.overflow = Some(store);
        self
    }

    /// Sets the observer, which is notified of every finished call.
    #[must_use]
    pub fn observer(mut self, observer: impl Observer + 'static) -> Self {
        self.observer = Some(Box::new(observer));
        self
    }

    /// Sets the future that requests wait for before they use the whole catalog.
    #[must_use]
    pub fn wait(mut self, wait: Wait) -> Self {
        self.wait = Some(wait);
        self
    }

    /// Adds a step to run once the server is built.
    pub(crate) fn finish(mut self, finish: Finish) -> Self {
        self.finish.push(finish);
        self
    }

    /// Reserves names of tools and packs for the gateway.
    #[must_use]
    #[doc(hidden)]
    pub fn reserved(mut self, names: &[&'static str]) -> Self {
        self.reserved.extend(names);
        self
    }

    /// Builds the server.
    ///
    /// # Errors
    /// If two tools, resources or prompts have the same name, or one of them is invalid.
    pub fn build(self) -> Result<Server, RegisterError> {
        let mut catalog = Catalog::default();
        catalog.reserve(&self.reserved);
        for pack in self.packs {
            catalog.list_remote();
            let source = if pack.is_external { Source::OpenApi(pack.name.clone()) } else { Source::Code };
            let offer = Offer { tools: pack.tools, description: pack.description, ..Offer::default() };
            if let Some(refused) = catalog.set_source(&source, &pack.name, &offer).into_iter().next() {
                return Err(refused);
            }
        }
        for tool in self.tools {
            catalog.add_tool(tool, Source::Code)?;
        }
        for resource in self.resources {
            catalog.add_resource(resource, Source::Code)?;
        }
        for prompt in self.prompts {
            catalog.add_prompt(prompt, Source::Code)?;
        }
        let dispatch = Dispatch::new(self.options.call_timeout, MAX_CALLS_IN_FLIGHT);
        let sessions = self.sessions.unwrap_or_else(|| Arc::new(LocalSessions::default()));
        let inner = Inner {
            options: Current::new(self.options),
            catalog: SharedCatalog::new(catalog, ActiveSets::new(sessions.clone())),
            dispatch,
            observer: self.observer,
            overflow: self.overflow,
            wait: self.wait,
            sessions,
            resource_updates: broadcast::Sender::new(UPDATE_BACKLOG),
            wire: OnceLock::new(),
            pending_responses: TaskTracker::new(),
            subscriptions_left: Arc::new(Semaphore::new(MAX_SUBSCRIPTIONS)),
            greeted: CancellationToken::new(),
            shutdown: CancellationToken::new(),
        };
        let server = Server { inner: Arc::new(inner) };
        self.finish.into_iter().try_for_each(|finish| finish(&server))?;
        Ok(server)
    }
}
