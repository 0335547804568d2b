//! Keeps one upstream connected: connects, follows its lists, comes back after a loss, and gives up when that is wise.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use rmcp::model::SubscriptionFilter;
use tokio::sync::watch;
use tokio::time::Instant;
use tokio_util::task::TaskTracker;

use crate::connect::{Cause, ConnectError, Connection, Connector, Opening};
use crate::link::{Access, Link, Phase};
use crate::lists::{Listing, list};
use crate::scrub::cut;
use crate::tap::{Changes, List};
use crate::{Snapshot, State, Transport, prompt, resource, tool};

/// The longest version that is remembered; the server chooses it.
const MAX_VERSION: usize = 200;

/// How long to wait for what is remembered of a server; the worst is that it is asked once more.
const RECALL_PATIENCE: Duration = Duration::from_millis(500);

/// How long to wait before a stream of news that ended is opened again.
const LISTEN_PAUSE: Duration = Duration::from_secs(5);

/// Keeps one upstream connected.
pub(crate) struct Supervisor {
    pub(crate) connector: Arc<Connector>,
    pub(crate) access: Arc<Access>,
    pub(crate) snapshot: watch::Sender<Arc<Snapshot>>,
    /// Connections that were replaced and still carry calls.
    pub(crate) retired: TaskTracker,
}

/// Why a connection is over.
enum End {
    /// It was lost, for this reason.
    Lost(Arc<str>),
    /// It is to be replaced by a new one at once.
    Replaced,
    /// Nobody needs it any more.
    Shutdown,
}

impl Supervisor {
    /// Runs until it is told to shut down.
    pub(crate) async fn run(self) {
        let shutdown = self.connector.shutdown.clone();
        let mut failures = Failures::default();
        let (mut generation, mut era) = (0, Era::recalled(&self.connector).await);
        loop {
            generation += 1;
            let failure = match Box::pin(self.attempt(generation, era.opening)).await {
                Ok(connection) => {
                    era.found(&connection, &self.connector);
                    failures.is_last_chance = false;
                    match self.attend(connection).await {
                        End::Lost(reason) => {
                            ConnectError { reason: reason.to_string(), cause: Cause::Passing }
                        }
                        End::Replaced => {
                            self.publish(Phase::Connecting, |snapshot| snapshot.state = State::Connecting);
                            failures = Failures::default();
                            continue;
                        }
                        End::Shutdown => break,
                    }
                }
                Err(error) if era.blames_the_question(&error) && !shutdown.is_cancelled() => {
                    tracing::info!(server = %self.connector.name, "started again with `initialize`: {}", error.reason);
                    continue;
                }
                Err(error) => error,
            };
            if shutdown.is_cancelled() {
                break;
            }
            let is_asked_for = self.after_failure(failure, &mut failures).await;
            if shutdown.is_cancelled() {
                break;
            }
            if is_asked_for {
                self.publish(Phase::Connecting, |snapshot| snapshot.state = State::Connecting);
            }
        }
        self.retired.close();
        self.retired.wait().await;
        self.publish(Phase::Down("it was shut down".into()), |snapshot| {
            *snapshot = Snapshot::new(State::Disabled);
        });
    }

    /// Connects and reads the first lists.
    async fn attempt(&self, generation: u64, opening: Opening) -> Result<Connection, ConnectError> {
        let connection = self.connector.connect(generation, opening).await?;
        let shutdown = self.connector.shutdown.clone();
        let listed = tokio::select! {
            listed = self.lists(&connection.link) => listed,
            () = shutdown.cancelled() => Err("onetool shuts down".to_owned()),
        };
        match listed {
            Ok(lists) => {
                self.access.breaker.reset();
                let info = connection.link.info.clone();
                let server = info.server_info.clone();
                self.publish(Phase::Up(connection.link.clone()), |snapshot| {
                    *snapshot = Snapshot {
                        state: State::Connected,
                        instructions: info.instructions.clone(),
                        server_name: server.as_ref().map(|it| it.name.clone()),
                        server_version: server.map(|it| it.version).filter(|version| !version.is_empty()),
                        protocol_version: Some(info.protocol_version.as_str().to_owned()),
                        ..lists
                    };
                });
                Ok(connection)
            }
            Err(seen) => {
                let reason = connection.close(&self.connector, &seen).await;
                Err(ConnectError { reason: reason.to_string(), cause: Cause::Passing })
            }
        }
    }

    /// Reads all lists. Without its tools an upstream is of no use; the others may be missing.
    async fn lists(&self, link: &Link) -> Result<Snapshot, String> {
        let (tools, resources, prompts) = tokio::join!(
            self.list(link, Listing::Tools),
            self.resources(link),
            self.list(link, Listing::Prompts)
        );
        let mut lists = Snapshot::new(State::Connected);
        lists.tools = tool::tools(tools?, &self.access);
        lists.resources = resources.unwrap_or_else(|reason| self.missing(&reason));
        lists.prompts = prompt::prompts(prompts.unwrap_or_else(|reason| self.missing(&reason)), &self.access);
        Ok(lists)
    }

    async fn resources(&self, link: &Link) -> Result<Vec<Arc<dyn onetool_core::Resource>>, String> {
        let (listed, templates) =
            tokio::join!(self.list(link, Listing::Resources), self.list(link, Listing::Templates));
        // Many servers have the one and refuse the other.
        let templates = templates.unwrap_or_else(|reason| self.missing(&reason));
        Ok(resource::resources(listed?, templates, &self.access))
    }

    async fn list(&self, link: &Link, listing: Listing) -> Result<Vec<serde_json::Value>, String> {
        let config = &self.connector.config;
        list(link, listing, &config.limits, config.connect_timeout).await
    }

    fn missing<T: Default>(&self, reason: &str) -> T {
        tracing::warn!(server = %self.connector.name, "{reason}");
        T::default()
    }

    /// Stays with a connection until it is over, and cleans up after it.
    async fn attend(&self, mut connection: Connection) -> End {
        tracing::info!(server = %self.connector.name, "connected");
        let (link, changes) = (connection.link.clone(), connection.changes.clone());
        let mut stale = self.access.stale.subscribe();
        let is_stale = async {
            let _ = stale.wait_for(|stale| stale.is_some_and(|stale| stale >= link.generation)).await;
        };
        let seen = tokio::select! {
            () = connection.ended() => None,
            () = is_stale => {
                self.access.phase.send_replace(Phase::Connecting);
                self.retire(connection);
                return End::Replaced;
            }
            () = self.access.reconnect.notified() => Some(("it is connected again", End::Replaced)),
            () = self.connector.shutdown.cancelled() => Some(("onetool shuts down", End::Shutdown)),
            () = self.follow(&link, &changes) => None,
        };
        let (seen, end) = match seen {
            Some((seen, end)) => (seen, Some(end)),
            None => ("the connection was closed", None),
        };
        if matches!(end, Some(End::Replaced)) {
            self.access.phase.send_replace(Phase::Connecting);
        }
        let reason = connection.close(&self.connector, seen).await;
        end.unwrap_or(End::Lost(reason))
    }

    /// Lets the calls in flight finish on a connection that takes no new ones.
    fn retire(&self, connection: Connection) {
        let (connector, timeout) = (self.connector.clone(), self.connector.config.timeout);
        self.retired.spawn(async move {
            tokio::select! {
                () = connection.link.calls.idle() => {}
                () = tokio::time::sleep(timeout) => {}
                () = connector.shutdown.cancelled() => {}
            }
            connection.close(&connector, "its session was lost").await;
        });
    }

    /// Reads lists again when they change. Does not end by itself.
    async fn follow(&self, link: &Link, changes: &Changes) {
        let read_again = async {
            loop {
                changes.wait().await;
                tokio::time::sleep(self.connector.config.timing.debounce).await;
                for changed in changes.take() {
                    if let Err(reason) = self.read_again(link, changed).await {
                        tracing::warn!(server = %self.connector.name, "a changed list stays as it was: {reason}");
                    }
                }
            }
        };
        tokio::join!(read_again, listen(link));
    }

    async fn read_again(&self, link: &Link, changed: List) -> Result<(), String> {
        match changed {
            List::Tools => {
                let tools = tool::tools(self.list(link, Listing::Tools).await?, &self.access);
                self.change(|snapshot| snapshot.tools = tools);
            }
            List::Resources => {
                let resources = self.resources(link).await?;
                self.change(|snapshot| snapshot.resources = resources);
            }
            List::Prompts => {
                let prompts = prompt::prompts(self.list(link, Listing::Prompts).await?, &self.access);
                self.change(|snapshot| snapshot.prompts = prompts);
            }
        }
        Ok(())
    }

    /// Says what is wrong and waits; true if somebody asked for a new attempt, false if it is simply time for one.
    async fn after_failure(&self, failure: ConnectError, failures: &mut Failures) -> bool {
        let timing = &self.connector.config.timing;
        let count = failures.add(timing.crash_window);
        // A program that ends again and again will go on to; an address may come back at any time.
        let is_child = matches!(self.connector.config.transport, Transport::Stdio { .. });
        let is_loop = is_child && (count >= timing.crash_limit || failures.is_last_chance);
        let is_permanent = failure.cause == Cause::Permanent;
        if is_permanent || is_loop {
            let mut reason = failure.reason;
            if is_loop && !is_permanent && !failures.is_last_chance {
                let seconds = timing.crash_window.as_secs_f64();
                reason =
                    format!("it failed {count} times within {seconds} s and is not started again: {reason}");
            }
            tracing::error!(server = %self.connector.name, "not connected: {reason}");
            let reason: Arc<str> = reason.into();
            let again = Instant::now() + timing.retry_pause;
            // What it offered stays known: a call of it is what makes for another attempt.
            self.publish(Phase::GivenUp { reason: reason.clone(), again }, |snapshot| {
                snapshot.state = State::Failed { reason };
            });
            let called = async {
                loop {
                    self.access.called.notified().await;
                    // A call that asked during the last attempt got its answer from that one.
                    if again <= Instant::now() {
                        return;
                    }
                }
            };
            tokio::select! {
                () = self.access.reconnect.notified() => *failures = Failures::default(),
                () = called => *failures = Failures { is_last_chance: true, ..Failures::default() },
                () = self.connector.shutdown.cancelled() => return false,
            }
            return true;
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
            () = self.access.reconnect.notified() => {
                *failures = Failures::default();
                true
            }
            () = self.connector.shutdown.cancelled() => false,
        }
    }

    /// Makes a new phase known: first to calls, then to those who watch.
    fn publish(&self, phase: Phase, change: impl FnOnce(&mut Snapshot)) {
        self.access.phase.send_replace(phase);
        self.change(change);
    }

    fn change(&self, change: impl FnOnce(&mut Snapshot)) {
        self.snapshot.send_modify(|snapshot| change(Arc::make_mut(snapshot)));
    }
}

/// Keeps the stream of news open that a stateless revision needs; an older one sends its news by itself.
async fn listen(link: &Link) {
    if !link.is_stateless() {
        return std::future::pending().await;
    }
    let everything = SubscriptionFilter::builder()
        .tools_list_changed()
        .resources_list_changed()
        .prompts_list_changed()
        .build();
    loop {
        if let Ok(mut news) = link.peer.listen(everything.clone()).await {
            // The news themselves are noted where they come in.
            while let Ok(Some(_)) = news.next().await {}
        }
        tokio::time::sleep(LISTEN_PAUSE).await;
    }
}

/// How to begin with a server, and how that was found out.
struct Era {
    opening: Opening,
    /// The version of the server that was remembered to need `initialize`.
    remembered: Option<String>,
    /// Whether it did not take it well when it was asked for the newest revision.
    is_scared: bool,
}

impl Era {
    /// Begins as the server wanted it the last time.
    async fn recalled(connector: &Connector) -> Self {
        let recalled = match (&connector.around.memory, &connector.config.transport) {
            (Some(memory), Transport::Stdio { command, args, .. }) => {
                let recalled = memory.needs_initialize(command, args);
                tokio::time::timeout(RECALL_PATIENCE, recalled).await.ok().flatten()
            }
            _ => None,
        };
        let opening = if recalled.is_some() { Opening::Initialize } else { Opening::Auto };
        Self { opening, remembered: recalled, is_scared: false }
    }

    /// Learns from an attempt that failed; true if the next one is to begin immediately.
    fn blames_the_question(&mut self, error: &ConnectError) -> bool {
        let was_asked = self.opening == Opening::Auto;
        self.opening = self.opening.after(error.cause);
        let is_scared = was_asked && self.opening == Opening::Initialize;
        self.is_scared |= is_scared;
        is_scared && matches!(error.cause, Cause::Ended | Cause::Odd)
    }

    /// Learns from a connection, and remembers what the next run of the gateway should know.
    fn found(&mut self, connection: &Connection, connector: &Connector) {
        let link = &connection.link;
        let version = link.info.server_info.as_ref().map(|it| cut(&it.version, MAX_VERSION).to_owned());
        let version = version.unwrap_or_default();
        if let (Some(memory), Transport::Stdio { command, args, .. }) =
            (&connector.around.memory, &connector.config.transport)
        {
            let is_other = self.remembered.as_ref().is_some_and(|remembered| *remembered != version);
            if self.is_scared && self.opening == Opening::Initialize {
                memory.remember_initialize(command, args, Some(&version));
            } else if is_other {
                // The next version may speak a newer revision.
                memory.remember_initialize(command, args, None);
            }
        }
        self.opening = if link.is_stateless() { Opening::Auto } else { Opening::Initialize };
        (self.remembered, self.is_scared) = (None, false);
    }
}

/// When an upstream failed lately.
#[derive(Default)]
struct Failures {
    at: VecDeque<Instant>,
    /// Whether it was given up before, and is tried again because of a call.
    is_last_chance: bool,
}

impl Failures {
    /// Adds one and returns how many there were within the window.
    fn add(&mut self, window: Duration) -> usize {
        let now = Instant::now();
        while self.at.front().is_some_and(|at| now.duration_since(*at) > window) {
            self.at.pop_front();
        }
        self.at.push_back(now);
        self.at.len()
    }
}

/// Returns the longest pause before an attempt: it doubles from one to the next, up to a limit.
fn backoff(first: Duration, max: Duration, attempt: u32) -> Duration {
    first.saturating_mul(2_u32.saturating_pow(attempt.saturating_sub(1).min(30))).min(max)
}

/// Takes a random part of a pause, so that many who lost the same server do not come back at once.
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
