//! What the tests have in common: upstreams with little patience, callers that remember, and a captured log.

use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use onetool_core::{
    BoxFuture, CallContext, CallHost, Caller, ClientInfo, InputError, InputKind, InputRequest, JsonObject,
    LogLevel, Progress, Tool, ToolError, ToolOutput,
};
use onetool_proxy::{
    Guard, ServerMemory, Snapshot, State, Surroundings, Timing, Transport, Upstream, UpstreamConfig,
};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

pub(crate) const FIXTURE: &str = env!("CARGO_BIN_EXE_onetool-proxy-fixture");

/// Longest that any step of a test may take before it counts as hanging.
pub(crate) const PATIENCE: Duration = Duration::from_secs(30);

/// Makes the configuration of the scripted server.
pub(crate) fn scripted(script: &[&str]) -> UpstreamConfig {
    let args = ["server"].iter().chain(script).map(|&arg| arg.to_owned()).collect();
    let transport =
        Transport::Stdio { command: FIXTURE.into(), args, env: indexmap::IndexMap::new(), directory: None };
    impatient(UpstreamConfig::new("up", transport))
}

/// Makes every pause short.
pub(crate) fn impatient(mut config: UpstreamConfig) -> UpstreamConfig {
    config.timing = Timing {
        backoff_first: Duration::from_millis(5),
        backoff_max: Duration::from_millis(20),
        crash_limit: 4,
        debounce: Duration::from_millis(5),
        stop_grace: Duration::from_millis(200),
        ..Timing::default()
    };
    config
}

pub(crate) fn unguarded() -> Surroundings {
    Surroundings { environment: inherited(), ..Surroundings::default() }
}

pub(crate) fn guarded() -> Surroundings {
    Surroundings { guard: Some(Guard { program: FIXTURE.into(), args: vec!["guard".into()] }), ..unguarded() }
}

/// The whole environment of the test: what a child must not have is left out by the crate, not by us.
fn inherited() -> Vec<(std::ffi::OsString, std::ffi::OsString)> {
    std::env::vars_os().collect()
}

/// What one run of the gateway leaves for the next.
#[derive(Debug, Default)]
pub(crate) struct Memory(pub(crate) Mutex<Option<String>>);

impl ServerMemory for Memory {
    fn needs_initialize<'a>(&'a self, _: &'a str, _: &'a [String]) -> BoxFuture<'a, Option<String>> {
        Box::pin(async { self.0.lock().unwrap().clone() })
    }

    fn remember_initialize(&self, _: &str, _: &[String], version: Option<&str>) {
        *self.0.lock().unwrap() = version.map(str::to_owned);
    }
}

/// Starts an upstream under a guard and waits until it is connected.
pub(crate) async fn connected(config: UpstreamConfig) -> Upstream {
    let upstream = Upstream::start(config, guarded());
    state(&upstream, State::is_connected).await;
    upstream
}

/// Waits for a snapshot.
pub(crate) async fn snapshot(upstream: &Upstream, mut is_it: impl FnMut(&Snapshot) -> bool) -> Arc<Snapshot> {
    let mut watch = upstream.watch();
    let found = tokio::time::timeout(PATIENCE, watch.wait_for(|it| is_it(it))).await;
    let Ok(found) = found else { panic!("still {:?}", upstream.snapshot()) };
    found.unwrap().clone()
}

/// Waits for a state.
pub(crate) async fn state(upstream: &Upstream, mut is_it: impl FnMut(&State) -> bool) -> State {
    snapshot(upstream, |it| is_it(&it.state)).await.state.clone()
}

/// Waits for the state in which nothing is tried any more.
pub(crate) async fn failed(upstream: &Upstream) -> String {
    state(upstream, |it| matches!(it, State::Failed { .. })).await.reason().unwrap().to_owned()
}

pub(crate) fn tool(upstream: &Upstream, name: &str) -> Arc<dyn Tool> {
    let snapshot = upstream.snapshot();
    let found = snapshot.tools.iter().find(|it| it.spec().name.as_str() == format!("up.{name}"));
    found.unwrap_or_else(|| panic!("no tool {name} in {snapshot:?}")).clone()
}

/// Calls a tool without a client.
pub(crate) async fn call(upstream: &Upstream, name: &str) -> Result<ToolOutput, ToolError> {
    call_with(upstream, name, &CallContext::detached()).await
}

pub(crate) async fn call_with(
    upstream: &Upstream,
    name: &str,
    cx: &CallContext,
) -> Result<ToolOutput, ToolError> {
    let tool = tool(upstream, name);
    tokio::time::timeout(PATIENCE, tool.call(JsonObject::new(), cx)).await.unwrap()
}

pub(crate) fn text(output: &ToolOutput) -> &str {
    output.content[0].as_text().unwrap()
}

/// Reads the data that a tool answered as text.
pub(crate) fn data(output: &ToolOutput) -> Value {
    serde_json::from_str(text(output)).unwrap()
}

/// Waits for something that no channel tells: another process's doings.
pub(crate) async fn eventually<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let start = Instant::now();
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(start.elapsed() < PATIENCE, "never: {what}");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

/// Reads a process id that another process wrote.
pub(crate) async fn pid_in(path: &Path) -> i32 {
    eventually("a process id", || std::fs::read_to_string(path).ok()?.parse().ok()).await
}

/// Waits until a process is gone; a zombie is.
pub(crate) async fn gone(pid: i32) {
    eventually("the end of a process", || (!is_alive(pid)).then_some(())).await;
}

pub(crate) fn is_alive(pid: i32) -> bool {
    let status = std::fs::read_to_string(format!("/proc/{pid}/stat"));
    status.is_ok_and(|status| !status.rsplit(") ").next().unwrap().starts_with(['Z', 'X']))
}

/// A client that remembers what it heard and answers what it is asked.
#[derive(Default)]
pub(crate) struct Host {
    pub(crate) heard: Mutex<Vec<Value>>,
    pub(crate) asked: Mutex<Vec<Value>>,
    pub(crate) answer: Value,
    pub(crate) is_stateless: bool,
    pub(crate) cancel: CancellationToken,
    /// Waited on by tests that want to see a call arrive.
    pub(crate) news: tokio::sync::Notify,
}

impl Host {
    pub(crate) fn context(self: &Arc<Self>) -> CallContext {
        CallContext::new(Caller::default(), self.clone())
    }

    fn hear(&self, what: Value) {
        self.heard.lock().unwrap().push(what);
        self.news.notify_one();
    }
}

impl CallHost for Host {
    fn client(&self) -> ClientInfo {
        let capabilities =
            InputKind::ALL.map(|kind| (kind.capability().to_owned(), json!({}))).into_iter().collect();
        ClientInfo { capabilities, ..ClientInfo::default() }
    }

    fn is_cancelled(&self) -> bool {
        self.cancel.is_cancelled()
    }

    fn cancelled(&self) -> BoxFuture<'_, ()> {
        Box::pin(self.cancel.cancelled())
    }

    fn progress(&self, it: Progress) -> BoxFuture<'_, ()> {
        self.hear(json!(["progress", it.done, it.total, it.message]));
        Box::pin(std::future::ready(()))
    }

    fn log(&self, level: LogLevel, logger: Option<&str>, data: Value) -> BoxFuture<'_, ()> {
        self.hear(json!(["log", format!("{level:?}"), logger, data]));
        Box::pin(std::future::ready(()))
    }

    fn ask(&self, request: InputRequest) -> BoxFuture<'_, Option<Result<Value, InputError>>> {
        self.asked.lock().unwrap().push(json!([request.kind.method(), request.params]));
        let answer = (!self.is_stateless).then(|| match &self.answer {
            Value::Null => Err(InputError::Refused { reason: "no".into() }),
            answer => Ok(answer.clone()),
        });
        Box::pin(std::future::ready(answer))
    }
}

/// Captures the log of the current thread.
pub(crate) struct Log(
    Arc<Mutex<Vec<u8>>>,
    #[expect(dead_code, reason = "ends with the test")] tracing::subscriber::DefaultGuard,
);

impl Log {
    pub(crate) fn capture() -> Self {
        let lines = Arc::new(Mutex::new(Vec::new()));
        let writer = Writer(lines.clone());
        let subscriber = tracing_subscriber::fmt()
            .with_env_filter(tracing_subscriber::EnvFilter::new("onetool_proxy=trace,upstream=trace"))
            .with_ansi(false)
            .with_writer(move || writer.clone())
            .finish();
        Self(lines, tracing::subscriber::set_default(subscriber))
    }

    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.0.lock().unwrap()).into_owned()
    }
}

#[derive(Clone)]
struct Writer(Arc<Mutex<Vec<u8>>>);

impl std::io::Write for Writer {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// Tries until it works: for what becomes possible after a pause.
pub(crate) async fn eventually_ok<T, E: std::fmt::Debug, F: Future<Output = Result<T, E>>>(
    mut attempt: impl FnMut() -> F,
) -> T {
    let start = Instant::now();
    loop {
        match attempt().await {
            Ok(done) => return done,
            Err(error) => assert!(start.elapsed() < PATIENCE, "still {error:?}"),
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}
