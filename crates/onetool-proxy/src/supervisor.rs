//! Keeps one upstream connected: follows its lists, reconnects after a failure, and gives up after repeated ones.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use onetool_core::Resource;
use rmcp::model::SubscriptionFilter;
use serde_json::Value;
use tokio::sync::watch;
use tokio::time::Instant;
use tokio_util::task::TaskTracker;

use crate::config::Transport;
use crate::connect::{ConnectError, Connection, Connector, FailureKind, Handshake};
use crate::intercept::{ChangedList, ChangedLists};
use crate::link::{Link, Phase, UpstreamHandle};
use crate::lists::{self, List};
use crate::scrub::truncate;
use crate::snapshot::{Snapshot, State};
use crate::{prompt, resource, tool};

/// Maximum length of a remembered version, which the server chooses.
const MAX_VERSION: usize = 200;

/// How long to wait for what is remembered about a server. Without it, `server/discover` is merely sent once more.
const RECALL_TIMEOUT: Duration = Duration::from_millis(500);

/// How long to wait before a closed stream of change notifications is opened again.
const LISTEN_PAUSE: Duration = Duration::from_secs(5);

/// Keeps one upstream connected.
pub(crate) struct Supervisor {
    pub(crate) connector: Arc<Connector>,
    pub(crate) upstream: Arc<UpstreamHandle>,
    pub(crate) snapshot: watch::Sender<Arc<Snapshot>>,
    /// Connections that were replaced and still have in-flight calls.
    pub(crate) retired: TaskTracker,
}

/// Why a connection ended.
enum End {
    /// The connection was lost, for this reason.
    Lost(Arc<str>),
    /// A new connection replaces it immediately.
    Replaced,
    /// The upstream is shutting down.
    Shutdown,
}

impl Supervisor {
    /// Runs until shutdown.
    pub(crate) async fn run(self) {
        let shutdown = self.connector.shutdown.clone();
        let mut failures = Failures::default();
        let (mut generation, mut handshake) = (0, HandshakeChoice::recall(&self.connector).await);
        loop {
            generation += 1;
            let failure = match Box::pin(self.connect(generation, handshake.current)).await {
                Ok(connection) => {
                    handshake.succeeded(&connection, &self.connector);
                    failures.is_last_chance = false;
                    match self.serve(connection).await {
                        End::Lost(reason) => {
                            ConnectError { reason: reason.to_string(), kind: FailureKind::Transient }
                        }
                        End::Replaced => {
                            self.publish(Phase::Connecting, |snapshot| snapshot.state = State::Connecting);
                            failures = Failures::default();
                            continue;
                        }
                        End::Shutdown => break,
                    }
                }
                Err(error) if handshake.failed(&error) && !shutdown.is_cancelled() => {
                    tracing::info!(server = %self.connector.name, "restarting with `initialize`: {}", error.reason);
                    continue;
                }
                Err(error) => error,
            };
            if shutdown.is_cancelled() {
                break;
            }
            let was_requested = self.wait_after_failure(failure, &mut failures).await;
            if shutdown.is_cancelled() {
                break;
            }
            if was_requested {
                self.publish(Phase::Connecting, |snapshot| snapshot.state = State::Connecting);
            }
        }
        self.retired.close();
        self.retired.wait().await;
        self.publish(Phase::Down("it was shut down".into()), |snapshot| {
            *snapshot = Snapshot::new(State::Disabled);
        });
    }

    /// Connects and fetches all lists.
    async fn connect(&self, generation: u64, handshake: Handshake) -> Result<Connection, ConnectError> {
        let connection = self.connector.connect(generation, handshake).await?;
        let shutdown = self.connector.shutdown.clone();
        let lists = tokio::select! {
            lists = self.fetch_all(&connection.link) => lists,
            () = shutdown.cancelled() => Err("onetool is shutting down".to_owned()),
        };
        match lists {
            Ok(lists) => {
                self.upstream.breaker.reset();
                let info = connection.link.info.clone();
                let server = info.server_info.clone();
                self.publish(Phase::Up(connection.link.clone()), |snapshot| {
                    *snapshot = Snapshot {
                        state: State::Connected,
                        instructions: info.instructions.clone(),
                        server_name: server.as_ref().map(|server| server.name.clone()),
                        server_version: server.map(|server| server.version).filter(|it| !it.is_empty()),
                        protocol_version: Some(info.protocol_version.as_str().to_owned()),
                        ..lists
                    };
                });
                Ok(connection)
            }
            Err(reason) => {
                let reason = connection.close(&self.connector, &reason).await;
                Err(ConnectError { reason: reason.to_string(), kind: FailureKind::Transient })
            }
        }
    }

    /// Fetches all lists. Only the list of tools is required; the others are empty if they cannot be fetched.
    async fn fetch_all(&self, link: &Link) -> Result<Snapshot, String> {
        let (tools, resources, prompts) = tokio::join!(
            self.fetch(link, List::Tools),
            self.fetch_resources(link),
            self.fetch(link, List::Prompts)
        );
        let mut lists = Snapshot::new(State::Connected);
        lists.tools = tool::tools(tools?, &self.upstream);
        lists.resources = self.or_empty(resources);
        lists.prompts = prompt::prompts(self.or_empty(prompts), &self.upstream);
        Ok(lists)
    }

    async fn fetch_resources(&self, link: &Link) -> Result<Vec<Arc<dyn Resource>>, String> {
        let (resources, templates) =
            tokio::join!(self.fetch(link, List::Resources), self.fetch(link, List::Templates));
        // Many servers have resources but reject the request for templates.
        let templates = self.or_empty(templates);
        Ok(resource::resources(resources?, templates, &self.upstream))
    }

    async fn fetch(&self, link: &Link, list: List) -> Result<Vec<Value>, String> {
        let config = &self.connector.config;
        lists::fetch(link, list, &config.limits, config.connect_timeout).await
    }

    /// Returns a list; an empty one, with a warning, if it could not be fetched.
    fn or_empty<T>(&self, list: Result<Vec<T>, String>) -> Vec<T> {
        list.unwrap_or_else(|reason| {
            tracing::warn!(server = %self.connector.name, "{reason}");
            Vec::new()
        })
    }

    /// Follows a connection until it ends, and cleans up after it.
    async fn serve(&self, mut connection: Connection) -> End {
        tracing::info!(server = %self.connector.name, "connected");
        let (link, changed_lists) = (connection.link.clone(), connection.changed_lists.clone());
        let mut stale = self.upstream.stale.subscribe();
        let is_stale = async {
            let _ = stale.wait_for(|stale| stale.is_some_and(|stale| stale >= link.generation)).await;
        };
        let (reason, end) = tokio::select! {
            () = connection.ended() => ("the connection was closed", None),
            () = is_stale => {
                self.upstream.phase.send_replace(Phase::Connecting);
                self.retire(connection);
                return End::Replaced;
            }
            () = self.upstream.reconnect.notified() => ("reconnecting", Some(End::Replaced)),
            () = self.connector.shutdown.cancelled() => ("onetool is shutting down", Some(End::Shutdown)),
            () = self.follow(&link, &changed_lists) => ("the connection was closed", None),
        };
        if matches!(end, Some(End::Replaced)) {
            self.upstream.phase.send_replace(Phase::Connecting);
        }
        let reason = connection.close(&self.connector, reason).await;
        end.unwrap_or(End::Lost(reason))
    }

    /// Lets in-flight calls finish on a connection that gets no new ones.
    fn retire(&self, connection: Connection) {
        let (connector, timeout) = (self.connector.clone(), self.connector.config.timeout);
        self.retired.spawn(async move {
            tokio::select! {
                () = connection.link.calls.idle() => {}
                () = tokio::time::sleep(timeout) => {}
                () = connector.shutdown.cancelled() => {}
            }
            connection.close(&connector, "its session expired").await;
        });
    }

    /// Fetches lists again when they change. Never returns.
    async fn follow(&self, link: &Link, changed_lists: &ChangedLists) {
        let refresh_changed = async {
            loop {
                changed_lists.wait().await;
                tokio::time::sleep(self.connector.config.timing.debounce).await;
                for list in changed_lists.take() {
                    if let Err(reason) = self.refresh(link, list).await {
                        tracing::warn!(server = %self.connector.name, "cannot refresh a changed list: {reason}");
                    }
                }
            }
        };
        tokio::join!(refresh_changed, listen(link));
    }

    async fn refresh(&self, link: &Link, list: ChangedList) -> Result<(), String> {
        match list {
            ChangedList::Tools => {
                let tools = tool::tools(self.fetch(link, List::Tools).await?, &self.upstream);
                self.update(|snapshot| snapshot.tools = tools);
            }
            ChangedList::Resources => {
                let resources = self.fetch_resources(link).await?;
                self.update(|snapshot| snapshot.resources = resources);
            }
            ChangedList::Prompts => {
                let prompts = prompt::prompts(self.fetch(link, List::Prompts).await?, &self.upstream);
                self.update(|snapshot| snapshot.prompts = prompts);
            }
        }
        Ok(())
    }

    /// Publishes a failure and waits until the next attempt is due.
    ///
    /// Returns true if a call or the operator requested that attempt, false if the delay has passed.
    async fn wait_after_failure(&self, failure: ConnectError, failures: &mut Failures) -> bool {
        let timing = &self.connector.config.timing;
        let count = failures.add(timing.crash_window);
        // A program that keeps crashing will continue to. A URL may become reachable at any time.
        let is_child = matches!(self.connector.config.transport, Transport::Stdio { .. });
        let is_crash_loop = is_child && (count >= timing.crash_limit || failures.is_last_chance);
        let is_permanent = failure.kind == FailureKind::Permanent;
        if is_permanent || is_crash_loop {
            let mut reason = failure.reason;
            if is_crash_loop && !is_permanent && !failures.is_last_chance {
                let seconds = timing.crash_window.as_secs_f64();
                reason = format!("it failed {count} times within {seconds} s, giving up: {reason}");
            }
            return self.wait_for_request(reason, failures).await;
        }
        let attempt = u32::try_from(count).unwrap_or(u32::MAX);
        let pause = jitter(backoff(timing.backoff_first, timing.backoff_max, attempt));
        let reason: Arc<str> = failure.reason.into();
        tracing::warn!(server = %self.connector.name, attempt, ?pause, "not connected: {reason}");
        let until = Instant::now() + pause;
        let state = State::BackingOff { reason: reason.clone(), attempt, until: until.into_std() };
        self.publish(Phase::Down(reason), |snapshot| snapshot.state = state);
        tokio::select! {
            () = tokio::time::sleep_until(until) => false,
            () = self.upstream.reconnect.notified() => {
                *failures = Failures::default();
                true
            }
            () = self.connector.shutdown.cancelled() => false,
        }
    }

    /// Gives up until a call or the operator requests another attempt; returns false on shutdown.
    async fn wait_for_request(&self, reason: String, failures: &mut Failures) -> bool {
        tracing::error!(server = %self.connector.name, "not connected: {reason}");
        let reason: Arc<str> = reason.into();
        let retry_at = Instant::now() + self.connector.config.timing.retry_pause;
        // Keep the lists, because calling one of the tools is what triggers another attempt.
        self.publish(Phase::GivenUp { reason: reason.clone(), retry_at }, |snapshot| {
            snapshot.state = State::Failed { reason };
        });
        let called = async {
            loop {
                self.upstream.retry.notified().await;
                // An earlier notification may come from a call that the last attempt already served.
                if retry_at <= Instant::now() {
                    return;
                }
            }
        };
        tokio::select! {
            () = self.upstream.reconnect.notified() => *failures = Failures::default(),
            () = called => *failures = Failures { is_last_chance: true, ..Failures::default() },
            () = self.connector.shutdown.cancelled() => return false,
        }
        true
    }

    /// Publishes a new phase: first to calls, then to watchers of the snapshot.
    fn publish(&self, phase: Phase, update: impl FnOnce(&mut Snapshot)) {
        self.upstream.phase.send_replace(phase);
        self.update(update);
    }

    fn update(&self, update: impl FnOnce(&mut Snapshot)) {
        self.snapshot.send_modify(|snapshot| update(Arc::make_mut(snapshot)));
    }
}

/// Keeps open the stream of change notifications that a stateless revision needs; older ones need none.
async fn listen(link: &Link) {
    if !link.is_stateless() {
        return std::future::pending().await;
    }
    let all_lists = SubscriptionFilter::builder()
        .tools_list_changed()
        .resources_list_changed()
        .prompts_list_changed()
        .build();
    loop {
        if let Ok(mut notifications) = link.peer.listen(all_lists.clone()).await {
            // The interceptor has already recorded them.
            while let Ok(Some(_)) = notifications.next().await {}
        }
        tokio::time::sleep(LISTEN_PAUSE).await;
    }
}

/// The handshake to use with a server, and why.
struct HandshakeChoice {
    current: Handshake,
    /// The version of the server that was remembered to need `initialize`.
    remembered_version: Option<String>,
    /// Whether the server failed on `server/discover`.
    discover_failed: bool,
}

impl HandshakeChoice {
    /// Chooses the handshake that the server needed last time.
    async fn recall(connector: &Connector) -> Self {
        let remembered_version = match (&connector.context.memory, &connector.config.transport) {
            (Some(memory), Transport::Stdio { command, args, .. }) => {
                let version = memory.needs_initialize(command, args);
                tokio::time::timeout(RECALL_TIMEOUT, version).await.ok().flatten()
            }
            _ => None,
        };
        let current = if remembered_version.is_some() { Handshake::Initialize } else { Handshake::Auto };
        Self { current, remembered_version, discover_failed: false }
    }

    /// Learns from a failed attempt; returns whether `server/discover` is to blame, so that the next attempt should
    /// start immediately.
    fn failed(&mut self, error: &ConnectError) -> bool {
        let was_auto = self.current == Handshake::Auto;
        self.current = self.current.after(error.kind);
        let discover_failed = was_auto && self.current == Handshake::Initialize;
        self.discover_failed |= discover_failed;
        discover_failed && matches!(error.kind, FailureKind::Exited | FailureKind::Invalid)
    }

    /// Learns from a connection, and remembers the result for the next run of the gateway.
    fn succeeded(&mut self, connection: &Connection, connector: &Connector) {
        let link = &connection.link;
        let server = link.info.server_info.as_ref();
        let version = server.map(|it| truncate(&it.version, MAX_VERSION).to_owned()).unwrap_or_default();
        if let (Some(memory), Transport::Stdio { command, args, .. }) =
            (&connector.context.memory, &connector.config.transport)
        {
            let has_changed = self.remembered_version.as_ref().is_some_and(|it| *it != version);
            if self.discover_failed && self.current == Handshake::Initialize {
                memory.remember_initialize(command, args, Some(&version));
            } else if has_changed {
                // Another version may support a newer revision.
                memory.remember_initialize(command, args, None);
            }
        }
        self.current = if link.is_stateless() { Handshake::Auto } else { Handshake::Initialize };
        (self.remembered_version, self.discover_failed) = (None, false);
    }
}

/// The recent failures of an upstream.
#[derive(Default)]
struct Failures {
    at: VecDeque<Instant>,
    /// Whether the supervisor had given up, and a call requested this one attempt.
    is_last_chance: bool,
}

impl Failures {
    /// Adds a failure and returns how many there were within the window.
    fn add(&mut self, window: Duration) -> usize {
        let now = Instant::now();
        while self.at.front().is_some_and(|at| now.duration_since(*at) > window) {
            self.at.pop_front();
        }
        self.at.push_back(now);
        self.at.len()
    }
}

/// Returns the maximum delay before an attempt, which doubles with every attempt up to a limit.
fn backoff(first: Duration, max: Duration, attempt: u32) -> Duration {
    first.saturating_mul(2_u32.saturating_pow(attempt.saturating_sub(1).min(30))).min(max)
}

/// Returns a random part of a delay, so that many clients of one server do not reconnect at the same time.
fn jitter(pause: Duration) -> Duration {
    let mut bytes = [0; 4];
    match getrandom::fill(&mut bytes) {
        Ok(()) => pause.mul_f64(f64::from(u32::from_le_bytes(bytes)) / f64::from(u32::MAX)),
        Err(_) => pause,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn r2_the_pause_doubles_up_to_its_limit_and_is_random_below_it() {
        let (first, max) = (Duration::from_millis(500), Duration::from_secs(30));
        let pauses: Vec<u128> = [1, 2, 3, 7, 100].map(|it| backoff(first, max, it).as_millis()).to_vec();
        assert_eq!(pauses, [500, 1000, 2000, 30_000, 30_000]);
        let drawn: std::collections::HashSet<Duration> = (0..50).map(|_| jitter(max)).collect();
        assert!(drawn.len() > 1 && drawn.iter().all(|pause| *pause <= max));
    }
}
