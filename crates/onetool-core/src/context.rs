//! The context of a call: what a handler knows about it, and how it reports progress and requests input.

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::sync::Unpoisoned as _;
use crate::{
    BoxFuture, Caller, InputError, InputRequest, InputRequired, InputState, JsonObject, Overflow,
    OverflowStore, ToolError, random,
};

/// The id of an MCP session, unique among all servers that share their state.
///
/// Over HTTP it is the id that the client sends with every request, so it identifies the session on every server.
///
/// ```
/// use onetool_core::SessionId;
///
/// assert_eq!(SessionId::new("one").as_str(), "one");
/// assert_ne!(SessionId::random(), SessionId::random());
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct SessionId(Arc<str>);

impl SessionId {
    /// Creates an id from its text.
    pub fn new(id: impl Into<Arc<str>>) -> Self {
        Self(id.into())
    }

    /// Creates an id that no other session has.
    pub fn random() -> Self {
        Self(format!("{:032x}", u128::from_ne_bytes(random::bytes())).into())
    }

    /// Returns the text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// Information about the client program.
///
/// ```
/// use onetool_core::CallContext;
///
/// // A context without a client has no information.
/// let client = CallContext::detached().client();
/// assert_eq!((client.name, client.capabilities.len()), (None, 0));
/// ```
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ClientInfo {
    /// The name that the client reports.
    pub name: Option<String>,
    /// The capabilities it declared, as MCP defines them.
    pub capabilities: JsonObject,
    /// The protocol revision in use.
    pub protocol_version: Option<String>,
}

/// The progress of a call.
///
/// ```
/// use onetool_core::Progress;
///
/// let half = Progress { done: 5.0, total: Some(10.0), message: None };
/// assert_eq!(half.total.map(|total| half.done / total), Some(0.5));
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Progress {
    /// Completed steps; must increase with each report.
    pub done: f64,
    /// Total number of steps, if known.
    pub total: Option<f64>,
    /// What the handler is doing.
    pub message: Option<String>,
}

/// The severity of a log message to the client, in ascending order.
///
/// ```
/// use onetool_core::LogLevel;
///
/// assert!(LogLevel::Debug < LogLevel::Emergency);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[expect(missing_docs, reason = "the eight syslog severities, named as MCP names them")]
pub enum LogLevel {
    Debug,
    Info,
    Notice,
    Warning,
    Error,
    Critical,
    Alert,
    Emergency,
}

/// The surface that a call came in through; it forwards the handler's reports and requests to the client.
///
/// The default methods do nothing, for calls without a client.
///
/// ```
/// use std::sync::Arc;
///
/// use onetool_core::{BoxFuture, CallContext, CallHost, Caller, Progress};
///
/// /// Prints the progress of calls.
/// struct Terminal;
///
/// impl CallHost for Terminal {
///     fn progress(&self, progress: Progress) -> BoxFuture<'_, ()> {
///         println!("{} steps", progress.done);
///         Box::pin(std::future::ready(()))
///     }
/// }
///
/// let cx = CallContext::new(Caller::default(), Arc::new(Terminal));
/// assert!(!cx.is_cancelled());
/// ```
pub trait CallHost: Send + Sync + 'static {
    /// Returns information about the client.
    fn client(&self) -> ClientInfo {
        ClientInfo::default()
    }

    /// Returns whether the caller canceled the call.
    fn is_cancelled(&self) -> bool {
        false
    }

    /// Waits until the caller cancels the call.
    fn cancelled(&self) -> BoxFuture<'_, ()> {
        Box::pin(std::future::pending())
    }

    /// Forwards a progress report.
    fn progress(&self, progress: Progress) -> BoxFuture<'_, ()> {
        let _ = progress;
        Box::pin(std::future::ready(()))
    }

    /// Forwards a log message.
    fn log(&self, level: LogLevel, logger: Option<&str>, data: Value) -> BoxFuture<'_, ()> {
        let _ = (level, logger, data);
        Box::pin(std::future::ready(()))
    }

    /// Sends a request to the client and waits for its response. Returns `None` if the protocol revision has no
    /// requests from the server, so that the client has to send the call again.
    fn ask(&self, request: InputRequest) -> BoxFuture<'_, Option<Result<Value, InputError>>> {
        let capability = request.kind.capability();
        Box::pin(std::future::ready(Some(Err(InputError::Unsupported { capability }))))
    }

    /// Sends a request to the client for a handler that cannot be run again.
    fn ask_in_place(&self, request: InputRequest) -> BoxFuture<'_, Result<Value, InputError>> {
        Box::pin(async move {
            let failed = || InputError::Refused { reason: "requests during a call are not supported".into() };
            self.ask(request).await.unwrap_or_else(|| Err(failed()))
        })
    }
}

struct Detached;

impl CallHost for Detached {}

/// The context of a call, passed to its handler. Cheap to clone.
///
/// ```
/// use onetool_core::{CallContext, LogLevel, tool_fn};
///
/// let tool = tool_fn("notes.index", "Indexes the notes.", |(): (), cx: CallContext| async move {
///     for step in 1..=3 {
///         if cx.is_cancelled() {
///             return "canceled";
///         }
///         cx.progress(f64::from(step), Some(3.0), Some("indexing")).await;
///     }
///     cx.log(LogLevel::Info, None, "indexed all notes").await;
///     "done"
/// });
/// ```
#[derive(Clone)]
pub struct CallContext {
    caller: Caller,
    session: Option<SessionId>,
    deadline: Option<Instant>,
    input: Arc<InputState>,
    run: Option<i64>,
    has_full_response: bool,
    depth: u8,
    overflow: Option<Arc<dyn OverflowStore>>,
    client_wait: Arc<ClientWait>,
    host: Arc<dyn CallHost>,
}

impl CallContext {
    /// Creates the context of a call that came in through `host`.
    pub fn new(caller: Caller, host: Arc<dyn CallHost>) -> Self {
        Self {
            caller,
            session: None,
            deadline: None,
            input: Arc::default(),
            run: None,
            has_full_response: false,
            depth: 0,
            overflow: None,
            client_wait: Arc::default(),
            host,
        }
    }

    /// Creates a context without a client: reports are discarded, requests fail, and the call is never canceled.
    pub fn detached() -> Self {
        Self::new(Caller::default(), Arc::new(Detached))
    }

    /// Sets the deadline of the call, unless an earlier one is already set.
    #[must_use]
    pub fn with_deadline(mut self, deadline: Instant) -> Self {
        // Only the time spent waiting from now on extends the new deadline.
        let deadline = deadline.checked_sub(self.wait_time()).unwrap_or(deadline);
        self.deadline = Some(self.deadline.map_or(deadline, |earlier| earlier.min(deadline)));
        self
    }

    /// Sets the MCP session that the call belongs to.
    #[must_use]
    pub fn with_session(mut self, session: SessionId) -> Self {
        self.session = Some(session);
        self
    }

    /// Returns the MCP session that the call belongs to, if the protocol revision has sessions.
    pub fn session(&self) -> Option<&SessionId> {
        self.session.as_ref()
    }

    /// Sets the input that the client included from an earlier round.
    #[must_use]
    pub fn with_input(mut self, input: InputState) -> Self {
        self.input = Arc::new(input);
        self
    }

    /// Sets the run whose code makes the call.
    #[must_use]
    pub fn with_run(mut self, run: i64) -> Self {
        self.run = Some(run);
        self
    }

    /// Returns the run that makes the call, if it is made by code.
    pub fn run(&self) -> Option<i64> {
        self.run
    }

    /// Requests the whole response of an API, with its status and headers, instead of only its data.
    ///
    /// ```
    /// use onetool_core::CallContext;
    ///
    /// assert!(CallContext::detached().with_full_response().wants_full_response());
    /// ```
    #[must_use]
    pub fn with_full_response(mut self) -> Self {
        self.has_full_response = true;
        self
    }

    /// Returns whether the result has the form `{status, headers, data}`. An error status then is a result as well.
    ///
    /// ```
    /// assert!(!onetool_core::CallContext::detached().wants_full_response());
    /// ```
    pub fn wants_full_response(&self) -> bool {
        self.has_full_response
    }

    /// Returns the context of a call made by this call's tool, one level deeper.
    #[must_use]
    pub fn nested(mut self) -> Self {
        self.depth = self.depth.saturating_add(1);
        self
    }

    /// Returns how many tools are between the client and this call.
    pub fn depth(&self) -> u8 {
        self.depth
    }

    /// Sets the storage for results that are too large for memory.
    #[must_use]
    pub fn with_overflow(mut self, store: Arc<dyn OverflowStore>) -> Self {
        self.overflow = Some(store);
        self
    }

    /// Starts storing a result that is too large for memory, if the server has storage for it.
    pub fn overflow(&self, is_json: bool) -> Option<Box<dyn Overflow>> {
        Some(self.overflow.as_ref()?.begin(&self.caller, is_json))
    }

    /// Returns the caller.
    pub fn caller(&self) -> &Caller {
        &self.caller
    }

    /// Returns information about the client program.
    pub fn client(&self) -> ClientInfo {
        self.host.client()
    }

    /// Returns the deadline of the call, if it has one. Time spent waiting for the client's responses does not count:
    /// the user may take a while to fill in a form.
    pub fn deadline(&self) -> Option<Instant> {
        self.deadline.map(|deadline| deadline + self.wait_time())
    }

    /// Returns how long the call has waited for responses from the client so far.
    pub fn wait_time(&self) -> Duration {
        self.client_wait.total()
    }

    /// Returns whether the caller canceled the call.
    pub fn is_cancelled(&self) -> bool {
        self.host.is_cancelled()
    }

    /// Waits until the caller cancels the call.
    pub async fn cancelled(&self) {
        self.host.cancelled().await;
    }

    /// Reports progress to the client, if it requested reports.
    pub async fn progress(&self, done: f64, total: Option<f64>, message: Option<&str>) {
        let message = message.map(str::to_owned);
        self.host.progress(Progress { done, total, message }).await;
    }

    /// Sends a log message to the client, if its log level includes it.
    pub async fn log(&self, level: LogLevel, logger: Option<&str>, data: impl Into<Value>) {
        self.host.log(level, logger, data.into()).await;
    }

    /// Returns the responses and state that the client included from an earlier round.
    pub fn input(&self) -> &InputState {
        &self.input
    }

    /// Sends one request to the client and returns its response, in every protocol revision.
    ///
    /// If the revision has requests from the server, this waits for the response. If not, it fails with
    /// [`ToolError::InputRequired`], which the handler returns (use `?`). The client sends the call again with the
    /// response, the handler runs again, and this returns the response for the same `key`.
    ///
    /// # Errors
    /// If the client does not support the request or refuses it, or another round is needed.
    pub async fn ask(&self, key: &str, request: InputRequest) -> Result<Value, ToolError> {
        if let Some(response) = self.input.responses.get(key) {
            return Ok(response.clone());
        }
        let capability = request.kind.capability();
        if !request.is_supported(&self.host.client().capabilities) {
            return Err(InputError::Unsupported { capability }.into());
        }
        // Running code again would repeat its side effects.
        if self.run.is_some() {
            return self.ask_in_place(request).await;
        }
        let _waiting = self.client_wait.begin();
        match self.host.ask(request.clone()).await {
            Some(response) => Ok(response?),
            None => Err(ToolError::InputRequired(Box::new(InputRequired {
                requests: [(key.to_owned(), request)].into(),
                state: self.input.state.clone(),
            }))),
        }
    }

    /// Sends one request to the client for a handler that cannot be run again, and returns its response, in every
    /// protocol revision. If the client has to send the call again, the handler waits for it.
    ///
    /// # Errors
    /// If the client does not support the request or refuses it.
    pub async fn ask_in_place(&self, request: InputRequest) -> Result<Value, ToolError> {
        let capability = request.kind.capability();
        if !request.is_supported(&self.host.client().capabilities) {
            return Err(InputError::Unsupported { capability }.into());
        }
        let _waiting = self.client_wait.begin();
        Ok(self.host.ask_in_place(request).await?)
    }
}

/// How long a call has waited for its client.
#[derive(Default)]
struct ClientWait(Mutex<WaitTimes>);

#[derive(Default)]
struct WaitTimes {
    finished: Duration,
    /// Number of pending requests.
    pending: usize,
    /// Start of the current wait, while requests are pending.
    since: Option<Instant>,
}

/// A pending request; dropping it ends the wait.
struct PendingRequest<'a>(&'a ClientWait);

/// Maximum time by which one wait extends a deadline.
const MAX_WAIT: Duration = Duration::from_mins(10);

impl ClientWait {
    fn begin(&self) -> PendingRequest<'_> {
        let mut times = self.lock();
        times.pending += 1;
        times.since.get_or_insert_with(Instant::now);
        PendingRequest(self)
    }

    fn total(&self) -> Duration {
        let times = self.lock();
        times.finished + times.current()
    }

    fn lock(&self) -> MutexGuard<'_, WaitTimes> {
        self.0.lock().unpoisoned()
    }
}

impl WaitTimes {
    fn current(&self) -> Duration {
        self.since.map_or(Duration::ZERO, |since| since.elapsed().min(MAX_WAIT))
    }
}

impl Drop for PendingRequest<'_> {
    fn drop(&mut self) {
        let mut times = self.0.lock();
        times.pending -= 1;
        if times.pending == 0 {
            let current = times.current();
            (times.finished, times.since) = (times.finished + current, None);
        }
    }
}

impl fmt::Debug for CallContext {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { caller, deadline, .. } = self;
        f.debug_struct("CallContext")
            .field("caller", caller)
            .field("deadline", deadline)
            .finish_non_exhaustive()
    }
}
