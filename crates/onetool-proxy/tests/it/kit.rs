//! Shared by the tests: upstreams with short delays, a recording client, and a captured log.

use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use onetool_core::{
    BoxFuture, CallContext, CallHost, Caller, ClientInfo, InputError, InputKind, InputRequest, JsonObject,
    LogLevel, Progress, Tool, ToolError, ToolOutput,
};
use onetool_proxy::{
    ChildContext, Guard, ServerMemory, Snapshot, State, Timing, Transport, Upstream, UpstreamConfig,
};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

pub(crate) const FIXTURE: &str = env!("CARGO_BIN_EXE_onetool-proxy-fixture");

/// How long any step of a test may take before it counts as hanging.
pub(crate) const TIMEOUT: Duration = Duration::from_secs(30);

/// Longer than any test runs: a delay or timeout that does not end during a test.
pub(crate) const FOREVER: Duration = Duration::from_hours(1);

/// Returns the configuration of the scripted server.
pub(crate) fn scripted(script: &[&str]) -> UpstreamConfig {
    let args = ["server"].iter().chain(script).map(|&arg| arg.to_owned()).collect();
    let transport =
        Transport::Stdio { command: FIXTURE.into(), args, env: indexmap::IndexMap::new(), directory: None };
    with_short_delays(UpstreamConfig::new("up", transport))
}

pub(crate) fn with_short_delays(mut config: UpstreamConfig) -> UpstreamConfig {
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

/// Makes sure that a lost upstream is not retried automatically during the test.
pub(crate) fn without_retries(mut config: UpstreamConfig) -> UpstreamConfig {
    (config.timing.backoff_first, config.timing.backoff_max) = (FOREVER, FOREVER);
    config
}

pub(crate) fn unguarded() -> ChildContext {
    ChildContext { environment: std::env::vars_os().collect(), ..ChildContext::default() }
}

pub(crate) fn guarded() -> ChildContext {
    ChildContext { guard: Some(Guard { program: FIXTURE.into(), args: vec!["guard".into()] }), ..unguarded() }
}

/// Remembers what one run of the gateway leaves for the next.
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
    wait_for_state(&upstream, State::is_connected).await;
    upstream
}

pub(crate) async fn wait_for_snapshot(
    upstream: &Upstream,
    mut matches: impl FnMut(&Snapshot) -> bool,
) -> Arc<Snapshot> {
    let mut watch = upstream.watch();
    let found = tokio::time::timeout(TIMEOUT, watch.wait_for(|snapshot| matches(snapshot))).await;
    let Ok(found) = found else { panic!("still {:?}", upstream.snapshot()) };
    found.unwrap().clone()
}

pub(crate) async fn wait_for_state(upstream: &Upstream, mut matches: impl FnMut(&State) -> bool) -> State {
    wait_for_snapshot(upstream, |snapshot| matches(&snapshot.state)).await.state.clone()
}

/// Waits until the upstream gives up, and returns the reason.
pub(crate) async fn wait_for_failure(upstream: &Upstream) -> String {
    let state = wait_for_state(upstream, |state| matches!(state, State::Failed { .. })).await;
    state.reason().unwrap().to_owned()
}

pub(crate) fn tool(upstream: &Upstream, name: &str) -> Arc<dyn Tool> {
    let snapshot = upstream.snapshot();
    let found = snapshot.tools.iter().find(|tool| tool.spec().name.as_str() == format!("up.{name}"));
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
    tokio::time::timeout(TIMEOUT, tool.call(JsonObject::new(), cx)).await.unwrap()
}

pub(crate) fn text(output: &ToolOutput) -> &str {
    output.content[0].as_text().unwrap()
}

/// Parses the JSON that a tool returned as text.
pub(crate) fn data(output: &ToolOutput) -> Value {
    serde_json::from_str(text(output)).unwrap()
}

/// Polls until a condition holds, for what another process does and no channel reports.
pub(crate) async fn eventually<T>(what: &str, mut check: impl FnMut() -> Option<T>) -> T {
    let start = Instant::now();
    loop {
        if let Some(found) = check() {
            return found;
        }
        assert!(start.elapsed() < TIMEOUT, "timed out waiting for {what}");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

/// Waits for a process id that another process writes to a file.
pub(crate) async fn read_pid(path: &Path) -> i32 {
    eventually("a process id", || std::fs::read_to_string(path).ok()?.parse().ok()).await
}

/// Waits until a process has exited; it may still be a zombie.
pub(crate) async fn wait_until_gone(pid: i32) {
    eventually("the end of a process", || (!is_alive(pid)).then_some(())).await;
}

pub(crate) fn is_alive(pid: i32) -> bool {
    let status = std::fs::read_to_string(format!("/proc/{pid}/stat"));
    status.is_ok_and(|status| !status.rsplit(") ").next().unwrap().starts_with(['Z', 'X']))
}

/// Advances tokio's clock without waiting.
///
/// The clock is paused only for this: if it stayed paused, it would also skip ahead while a child process works.
pub(crate) async fn advance_time(duration: Duration) {
    tokio::time::pause();
    tokio::time::advance(duration).await;
    tokio::time::resume();
}

/// A client that records the events of its calls, and responds to input requests.
#[derive(Default)]
pub(crate) struct TestClient {
    pub(crate) events: Mutex<Vec<Value>>,
    pub(crate) input_requests: Mutex<Vec<Value>>,
    /// The response to every input request; null rejects it.
    pub(crate) response: Value,
    pub(crate) is_stateless: bool,
    pub(crate) cancel: CancellationToken,
    /// Notified of every event, so that a test can wait until its call has arrived.
    pub(crate) event_recorded: tokio::sync::Notify,
}

impl TestClient {
    pub(crate) fn context(self: &Arc<Self>) -> CallContext {
        CallContext::new(Caller::default(), self.clone())
    }

    fn record(&self, event: Value) {
        self.events.lock().unwrap().push(event);
        self.event_recorded.notify_one();
    }
}

impl CallHost for TestClient {
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

    fn progress(&self, progress: Progress) -> BoxFuture<'_, ()> {
        self.record(json!(["progress", progress.done, progress.total, progress.message]));
        Box::pin(std::future::ready(()))
    }

    fn log(&self, level: LogLevel, logger: Option<&str>, data: Value) -> BoxFuture<'_, ()> {
        self.record(json!(["log", format!("{level:?}"), logger, data]));
        Box::pin(std::future::ready(()))
    }

    fn ask(&self, request: InputRequest) -> BoxFuture<'_, Option<Result<Value, InputError>>> {
        self.input_requests.lock().unwrap().push(json!([request.kind.method(), request.params]));
        let response = (!self.is_stateless).then(|| match &self.response {
            Value::Null => Err(InputError::Refused { reason: "no".into() }),
            response => Ok(response.clone()),
        });
        Box::pin(std::future::ready(response))
    }
}

/// Captures the log of the current thread.
pub(crate) struct Log(
    Arc<Mutex<Vec<u8>>>,
    #[expect(dead_code, reason = "dropped at the end of the test")] tracing::subscriber::DefaultGuard,
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
