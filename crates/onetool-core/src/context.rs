//! What a handler knows about the call it serves, and how it talks back while it works.

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, Instant};

use crate::sync::Unpoisoned as _;
use serde_json::Value;

use crate::{
    BoxFuture, InputError, InputRequest, InputRequired, InputState, JsonObject, Overflow, OverflowStore,
    ToolError,
};

/// Who calls: the owner of the access token, and the profile in the URL.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Caller {
    /// The owner of the access token; `local` where the transport itself is the proof (stdio, in process).
    pub principal: Arc<str>,
    /// The profile, `default` unless the URL names another.
    pub profile: Arc<str>,
}

impl Default for Caller {
    fn default() -> Self {
        Self { principal: "local".into(), profile: "default".into() }
    }
}

/// What is known of the client program.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ClientInfo {
    /// The name it gave itself.
    pub name: Option<String>,
    /// The capabilities it declared, as MCP writes them.
    pub capabilities: JsonObject,
    /// The protocol revision in use.
    pub protocol_version: Option<String>,
}

/// How far a call has come.
#[derive(Debug, Clone, PartialEq)]
pub struct Progress {
    /// Steps done; has to grow from one report to the next.
    pub done: f64,
    /// Steps in all, if known.
    pub total: Option<f64>,
    /// What is happening, in words.
    pub message: Option<String>,
}

/// How severe a log message to the client is, from least to most.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
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

/// The surface that carries a call; it hears what the handler reports and asks.
///
/// Every method has a default that does nothing, which is what a caller without a client gets.
pub trait CallHost: Send + Sync + 'static {
    /// Returns what is known of the client.
    fn client(&self) -> ClientInfo {
        ClientInfo::default()
    }

    /// Tells whether the caller has given up.
    fn is_cancelled(&self) -> bool {
        false
    }

    /// Waits until the caller gives up.
    fn cancelled(&self) -> BoxFuture<'_, ()> {
        Box::pin(std::future::pending())
    }

    /// Passes a progress report on.
    fn progress(&self, progress: Progress) -> BoxFuture<'_, ()> {
        let _ = progress;
        Box::pin(std::future::ready(()))
    }

    /// Passes a log message on.
    fn log(&self, level: LogLevel, logger: Option<&str>, data: Value) -> BoxFuture<'_, ()> {
        let _ = (level, logger, data);
        Box::pin(std::future::ready(()))
    }

    /// Asks the client and waits for its answer; `None` where only the round-trip way exists.
    fn ask(&self, request: InputRequest) -> BoxFuture<'_, Option<Result<Value, InputError>>> {
        let capability = request.kind.capability();
        Box::pin(std::future::ready(Some(Err(InputError::Unsupported { capability }))))
    }

    /// Asks the client for a handler that is in the middle of something and cannot be run again.
    fn ask_here(&self, request: InputRequest) -> BoxFuture<'_, Result<Value, InputError>> {
        Box::pin(async move {
            let refused = || InputError::Refused { reason: "it can only be asked between calls".into() };
            self.ask(request).await.unwrap_or_else(|| Err(refused()))
        })
    }
}

struct Detached;

impl CallHost for Detached {}

/// What a handler knows about the call it serves. Cheap to clone.
#[derive(Clone)]
pub struct CallContext {
    caller: Caller,
    session: Option<u64>,
    deadline: Option<Instant>,
    input: Arc<InputState>,
    run: Option<i64>,
    depth: u8,
    overflow: Option<Arc<dyn OverflowStore>>,
    waited: Arc<Waited>,
    host: Arc<dyn CallHost>,
}

impl CallContext {
    /// Makes the context of a call that `host` carries.
    pub fn new(caller: Caller, host: Arc<dyn CallHost>) -> Self {
        Self {
            caller,
            session: None,
            deadline: None,
            input: Arc::default(),
            run: None,
            depth: 0,
            overflow: None,
            waited: Arc::default(),
            host,
        }
    }

    /// Makes a context without a client: nobody hears progress, nobody can be asked, nobody cancels.
    pub fn detached() -> Self {
        Self::new(Caller::default(), Arc::new(Detached))
    }

    /// Sets the moment at which the call is over; an earlier one that is set already stays.
    #[must_use]
    pub fn with_deadline(mut self, deadline: Instant) -> Self {
        // Only what is waited from now on puts it off.
        let deadline = deadline.checked_sub(self.waited()).unwrap_or(deadline);
        self.deadline = Some(self.deadline.map_or(deadline, |earlier| earlier.min(deadline)));
        self
    }

    /// Says that the call belongs to a session of the protocol.
    #[must_use]
    pub fn with_session(mut self, session: u64) -> Self {
        self.session = Some(session);
        self
    }

    /// Returns the number of the session, unique in this process, where the protocol revision has sessions.
    pub fn session(&self) -> Option<u64> {
        self.session
    }

    /// Sets what the client brought along from an earlier round.
    #[must_use]
    pub fn with_input(mut self, input: InputState) -> Self {
        self.input = Arc::new(input);
        self
    }

    /// Says that the call is made by code, in the run of that number.
    #[must_use]
    pub fn with_run(mut self, run: i64) -> Self {
        self.run = Some(run);
        self
    }

    /// Returns the run that makes the call, if code does.
    pub fn run(&self) -> Option<i64> {
        self.run
    }

    /// Says that the call is made by another tool, one level below it.
    #[must_use]
    pub fn deeper(mut self) -> Self {
        self.depth = self.depth.saturating_add(1);
        self
    }

    /// Returns how many tools stand between the call and the client.
    pub fn depth(&self) -> u8 {
        self.depth
    }

    /// Sets where answers go that are too large to be held in memory.
    #[must_use]
    pub fn with_overflow(mut self, store: Arc<dyn OverflowStore>) -> Self {
        self.overflow = Some(store);
        self
    }

    /// Begins to store an answer that is too large to be held in memory, if the server has a place for it.
    pub fn overflow(&self, is_json: bool) -> Option<Box<dyn Overflow>> {
        Some(self.overflow.as_ref()?.begin(&self.caller, is_json))
    }

    /// Returns who calls.
    pub fn caller(&self) -> &Caller {
        &self.caller
    }

    /// Returns what is known of the client program.
    pub fn client(&self) -> ClientInfo {
        self.host.client()
    }

    /// Returns the moment at which the call is over, if there is one. It moves while the client is asked something: the
    /// person who answers is not in a hurry.
    pub fn deadline(&self) -> Option<Instant> {
        self.deadline.map(|deadline| deadline + self.waited())
    }

    /// Returns how long the call has waited for answers of its client so far.
    pub fn waited(&self) -> Duration {
        self.waited.total()
    }

    /// Tells whether the caller has given up.
    pub fn is_cancelled(&self) -> bool {
        self.host.is_cancelled()
    }

    /// Waits until the caller gives up.
    pub async fn cancelled(&self) {
        self.host.cancelled().await;
    }

    /// Reports progress to the client, if it asked for reports.
    pub async fn progress(&self, done: f64, total: Option<f64>, message: Option<&str>) {
        let message = message.map(str::to_owned);
        self.host.progress(Progress { done, total, message }).await;
    }

    /// Sends a log message to the client, if it listens at that level.
    pub async fn log(&self, level: LogLevel, logger: Option<&str>, data: impl Into<Value>) {
        self.host.log(level, logger, data.into()).await;
    }

    /// Returns the answers and the state that the client brought along from an earlier round.
    pub fn input(&self) -> &InputState {
        &self.input
    }

    /// Asks the client one question and returns its answer, in every protocol revision.
    ///
    /// Where the revision has requests from the server, this waits for the answer. Where it has none, the handler
    /// ends with [`ToolError::InputRequired`] (let `?` pass it on); the client sends the call again with the answer,
    /// the handler runs again, and this returns it under the same `key`.
    ///
    /// # Errors
    /// When the client cannot be asked, refuses, or has to be asked by a further round.
    pub async fn ask(&self, key: &str, request: InputRequest) -> Result<Value, ToolError> {
        if let Some(answer) = self.input.answers.get(key) {
            return Ok(answer.clone());
        }
        let capability = request.kind.capability();
        if !request.is_possible(&self.host.client().capabilities) {
            return Err(InputError::Unsupported { capability }.into());
        }
        // Running code again would repeat its side effects.
        if self.run.is_some() {
            return self.ask_here(request).await;
        }
        let _waiting = self.waited.begin();
        match self.host.ask(request.clone()).await {
            Some(answer) => Ok(answer?),
            None => Err(ToolError::InputRequired(Box::new(InputRequired {
                requests: [(key.to_owned(), request)].into(),
                state: self.input.state.clone(),
            }))),
        }
    }

    /// Asks the client one question for a handler that cannot be run again, and returns its answer, in every protocol
    /// revision: where the client has to send its request again, the handler waits for that.
    ///
    /// # Errors
    /// When the client cannot be asked, or refuses.
    pub async fn ask_here(&self, request: InputRequest) -> Result<Value, ToolError> {
        let capability = request.kind.capability();
        if !request.is_possible(&self.host.client().capabilities) {
            return Err(InputError::Unsupported { capability }.into());
        }
        let _waiting = self.waited.begin();
        Ok(self.host.ask_here(request).await?)
    }
}

/// How long a call has waited for its client.
#[derive(Default)]
struct Waited(Mutex<Waits>);

#[derive(Default)]
struct Waits {
    over: Duration,
    /// How many questions are open, and since when there is one.
    open: usize,
    since: Option<Instant>,
}

/// The time of an open question; it is over when this is dropped.
struct Waiting<'a>(&'a Waited);

/// The most that one wait puts off the end of a call.
const LONGEST_WAIT: Duration = Duration::from_mins(10);

impl Waited {
    fn begin(&self) -> Waiting<'_> {
        let mut waits = self.lock();
        waits.open += 1;
        waits.since.get_or_insert_with(Instant::now);
        Waiting(self)
    }

    fn total(&self) -> Duration {
        let waits = self.lock();
        waits.over + waits.current()
    }

    fn lock(&self) -> MutexGuard<'_, Waits> {
        self.0.lock().unpoisoned()
    }
}

impl Waits {
    fn current(&self) -> Duration {
        self.since.map_or(Duration::ZERO, |since| since.elapsed().min(LONGEST_WAIT))
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        let mut waits = self.0.lock();
        waits.open -= 1;
        if waits.open == 0 {
            let current = waits.current();
            (waits.over, waits.since) = (waits.over + current, None);
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
