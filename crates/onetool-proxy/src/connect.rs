//! Establishes a connection: starts the child or opens the HTTP session, and negotiates a protocol revision.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use indexmap::IndexMap;
use onetool_core::Redactor;
use rmcp::RoleClient;
use rmcp::model::ProtocolVersion;
use rmcp::service::{
    ClientInitializeError, ClientLifecycleMode, RunningService, serve_client_with_lifecycle_and_ct,
};
use rmcp::transport::Transport as RmcpTransport;
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio_util::sync::{CancellationToken, DropGuard};
use url::Url;

use crate::child::{self, ChildCommand, SpawnError};
use crate::client::Client;
use crate::config::{Transport, UpstreamConfig};
use crate::context::ChildContext;
use crate::exchange::{Failure, http_failure};
use crate::in_flight::InFlightCalls;
use crate::intercept::{ChangedLists, Interceptor};
use crate::lines::{LineTransport, StdoutProblem};
use crate::link::Link;
use crate::process::{ProcessTree, describe_exit};
use crate::scrub;
use crate::start_slots::START_SLOTS;
use crate::stderr::{LastLines, StderrHistory, StderrSinks, drain};
use crate::{http, sse};

/// How long the SDK may take to close a connection, which over HTTP also ends the session on the server.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(2);

/// How long a server that mentions `server/discover` on standard error may still take to respond to it.
const DISCOVER_GRACE: Duration = Duration::from_secs(1);

/// An open connection.
pub(crate) struct Connection {
    pub(crate) link: Arc<Link>,
    pub(crate) changed_lists: Arc<ChangedLists>,
    lost: watch::Sender<Option<Arc<str>>>,
    service: Service,
    child: Option<Child>,
}

/// The SDK's task for a connection. Dropping this stops the task.
struct Service {
    task: JoinHandle<()>,
    stop: CancellationToken,
    _stop_on_drop: DropGuard,
}

/// The child process behind a connection.
struct Child {
    process: ProcessTree,
    last_lines: LastLines,
    stdout_problem: StdoutProblem,
    stderr: JoinHandle<()>,
    /// Canceled when the child mentions `server/discover` on standard error.
    discover_mentioned: CancellationToken,
}

/// A failed connection attempt.
pub(crate) struct ConnectError {
    pub(crate) reason: String,
    pub(crate) kind: FailureKind,
}

/// What a failed attempt means for the next one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FailureKind {
    /// Retrying would not help.
    Permanent,
    /// The program exited, failed, or printed only invalid lines before it responded.
    Exited,
    /// There was no response in time.
    Timeout,
    /// The server returned an error.
    Rejected,
    /// The server's response is invalid.
    Invalid,
    /// A web server that does not understand the request.
    NotMcp,
    /// Anything else; it may work next time.
    Transient,
}

/// The first message to send, which differs between protocol revisions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Handshake {
    /// `server/discover` of the newest revision, then `initialize` if the server rejects that.
    Auto,
    /// `initialize`, for a server that is known to be older or that failed on `server/discover`.
    Initialize,
}

impl Handshake {
    /// Returns the handshake to use after a failed attempt.
    pub(crate) fn after(self, kind: FailureKind) -> Self {
        use FailureKind::{Exited, Invalid, Rejected, Timeout};
        match (self, kind) {
            (Self::Auto, Exited | Timeout | Rejected | Invalid) => Self::Initialize,
            (Self::Initialize, Timeout | Rejected | Invalid) => Self::Auto,
            (same, _) => same,
        }
    }

    fn mode(self) -> ClientLifecycleMode {
        match self {
            Self::Initialize => ClientLifecycleMode::Initialize,
            Self::Auto => ClientLifecycleMode::Auto {
                preferred_versions: vec![ProtocolVersion::V_2026_07_28],
                legacy_version: Some(ProtocolVersion::LATEST_WITH_INITIALIZE),
            },
        }
    }
}

/// What all connections of one upstream share.
pub(crate) struct Connector {
    pub(crate) name: Arc<str>,
    pub(crate) config: UpstreamConfig,
    pub(crate) context: ChildContext,
    pub(crate) redactor: Redactor,
    pub(crate) stderr_history: StderrHistory,
    pub(crate) shutdown: CancellationToken,
    /// Whether the server supports only the HTTP+SSE transport of 2024-11-05.
    pub(crate) uses_sse: AtomicBool,
}

impl Connector {
    /// Establishes a connection.
    pub(crate) async fn connect(
        &self,
        generation: u64,
        handshake: Handshake,
    ) -> Result<Connection, ConnectError> {
        match &self.config.transport {
            Transport::Stdio { command, args, env, directory } => {
                let command = ChildCommand { command, args, env, directory: directory.as_deref() };
                self.connect_child(&command, generation, handshake).await
            }
            Transport::Http { url, headers } => self.connect_http(url, headers, generation, handshake).await,
        }
    }

    /// Connects over streamable HTTP, or over HTTP+SSE if the server supports only that.
    async fn connect_http(
        &self,
        url: &Url,
        headers: &IndexMap<String, String>,
        generation: u64,
        handshake: Handshake,
    ) -> Result<Connection, ConnectError> {
        let max_message = self.config.limits.message;
        let (client, headers) = http::client(headers, self.config.connect_timeout)
            .map_err(|reason| ConnectError { reason, kind: FailureKind::Permanent })?;
        let open_sse = || sse::open(self.name.clone(), url, client.clone(), headers.clone(), max_message);
        if !self.uses_sse.load(Ordering::Relaxed) {
            let transport = http::transport(
                self.name.clone(),
                url,
                client.clone(),
                headers.clone(),
                max_message,
                self.config.timeout,
            );
            let opened = self.open(transport, None, generation, handshake).await;
            match opened {
                Err(error) if error.kind == FailureKind::NotMcp => {
                    let Some(transport) = open_sse().await else { return Err(error) };
                    self.uses_sse.store(true, Ordering::Relaxed);
                    tracing::info!(server = %self.name, "using the HTTP+SSE transport of 2024-11-05");
                    return self.open(transport, None, generation, Handshake::Initialize).await;
                }
                opened => return opened,
            }
        }
        let Some(transport) = open_sse().await else {
            // The server may have been upgraded.
            self.uses_sse.store(false, Ordering::Relaxed);
            let reason = "cannot open its event stream".into();
            return Err(ConnectError { reason, kind: FailureKind::Transient });
        };
        self.open(transport, None, generation, Handshake::Initialize).await
    }

    async fn connect_child(
        &self,
        command: &ChildCommand<'_>,
        generation: u64,
        handshake: Handshake,
    ) -> Result<Connection, ConnectError> {
        let _slot = tokio::select! {
            slot = START_SLOTS.acquire() => Some(slot),
            () = self.shutdown.cancelled() => None,
        };
        let (process, streams) = child::spawn(command, &self.context).map_err(|error| match error {
            SpawnError::Missing(reason) => ConnectError { reason, kind: FailureKind::Permanent },
            SpawnError::System(error) => ConnectError {
                reason: format!("cannot start '{}': {error}", command.command),
                kind: FailureKind::Transient,
            },
        })?;
        let (last_lines, stdout_problem) = (LastLines::default(), StdoutProblem::default());
        let discover_mentioned = CancellationToken::new();
        let sinks = StderrSinks {
            last_lines: last_lines.clone(),
            history: self.stderr_history.clone(),
            discover_mentioned: discover_mentioned.clone(),
        };
        let stderr = tokio::spawn(drain(streams.stderr, self.name.clone(), self.redactor.clone(), sinks));
        let transport = LineTransport::new(
            self.name.clone(),
            streams.stdout,
            streams.stdin,
            self.config.limits.clone(),
            stdout_problem.clone(),
        );
        let child = Child { process, last_lines, stdout_problem, stderr, discover_mentioned };
        self.open(transport, Some(child), generation, handshake).await
    }

    /// Performs the handshake over a transport; stops the child if that fails.
    async fn open<T>(
        &self,
        transport: T,
        child: Option<Child>,
        generation: u64,
        handshake: Handshake,
    ) -> Result<Connection, ConnectError>
    where
        T: RmcpTransport<RoleClient> + 'static,
    {
        let (calls, changed_lists) = (Arc::<InFlightCalls>::default(), Arc::<ChangedLists>::default());
        let client = Client { name: self.name.clone(), calls: calls.clone() };
        let transport = Interceptor::new(transport, self.name.clone(), calls.clone(), changed_lists.clone());
        let stop = CancellationToken::new();
        let opened = serve_client_with_lifecycle_and_ct(client, transport, handshake.mode(), stop.clone());
        let timeout = self.config.connect_timeout;
        let discover_mentioned = child
            .as_ref()
            .filter(|_| handshake == Handshake::Auto)
            .map(|child| child.discover_mentioned.clone());
        let discover_failed = async {
            match discover_mentioned {
                Some(mentioned) => mentioned.cancelled().await,
                None => std::future::pending().await,
            }
            // A server that merely logs its requests responds within this time.
            tokio::time::sleep(DISCOVER_GRACE).await;
        };
        let opened: Result<RunningService<_, _>, (String, FailureKind)> = tokio::select! {
            opened = opened => opened.map_err(|error| explain(&error)),
            () = discover_failed => Err(("it failed on `server/discover`".to_owned(), FailureKind::Exited)),
            () = tokio::time::sleep(timeout) => {
                let seconds = timeout.as_secs_f64();
                Err((format!("no response to `initialize` within {seconds} s"), FailureKind::Timeout))
            }
            () = self.shutdown.cancelled() => {
                Err(("onetool is shutting down".to_owned(), FailureKind::Transient))
            }
        };
        let opened = opened.and_then(|running| match running.peer().peer_info() {
            Some(info) => Ok((running, info)),
            None => Err(("it did not identify itself".to_owned(), FailureKind::Transient)),
        });
        match opened {
            Ok((running, info)) => {
                let (lost, lost_seen) = watch::channel(None);
                let link = Link { generation, peer: running.peer().clone(), calls, info, lost: lost_seen };
                let task = tokio::spawn(async move { drop(running.waiting().await) });
                let service = Service { task, _stop_on_drop: stop.clone().drop_guard(), stop };
                Ok(Connection { link: Arc::new(link), changed_lists, lost, service, child })
            }
            Err((reason, kind)) => {
                let reason = match child {
                    Some(child) => child.stop(reason, self.config.timing.stop_grace).await,
                    None => reason,
                };
                Err(ConnectError { reason: scrub::clean(&self.redactor, &reason), kind })
            }
        }
    }
}

impl Child {
    /// Stops the child and returns why it failed. `reason` is used if the child's output does not say.
    async fn stop(self, reason: String, grace: Duration) -> String {
        let status = self.process.stop(grace).await;
        // Everything it wrote has arrived once the stream is closed, unless another process still holds it open.
        let _ = tokio::time::timeout(grace, self.stderr).await;
        let mut parts = vec![self.stdout_problem.get().unwrap_or(reason)];
        parts.extend(status.map(|status| format!("the program {}", describe_exit(status))));
        parts.extend(self.last_lines.get().map(|lines| format!("last lines on standard error: {lines}")));
        parts.join("; ")
    }
}

impl Connection {
    /// Waits until the server ends the connection.
    pub(crate) async fn ended(&mut self) {
        let Some(child) = &mut self.child else { return drop((&mut self.service.task).await) };
        tokio::select! {
            _ = &mut self.service.task => return,
            // An error means that the process no longer exists.
            _ = child.process.wait() => {}
        }
        // What it wrote before it exited is still in the pipe, and so is the end of its output, unless a process that
        // it started holds the pipe open.
        child.process.kill();
        let _ = tokio::time::timeout(CLOSE_TIMEOUT, &mut self.service.task).await;
    }

    /// Closes the connection with everything that belongs to it, and returns the reason for its end.
    ///
    /// `reason` is used if the child's output does not say more.
    pub(crate) async fn close(mut self, connector: &Connector, reason: &str) -> Arc<str> {
        self.service.stop.cancel();
        if !self.service.task.is_finished() {
            let _ = tokio::time::timeout(CLOSE_TIMEOUT, &mut self.service.task).await;
        }
        let reason = match self.child.take() {
            Some(child) => child.stop(reason.to_owned(), connector.config.timing.stop_grace).await,
            None => reason.to_owned(),
        };
        let reason: Arc<str> = scrub::clean(&connector.redactor, &reason).into();
        self.lost.send_replace(Some(reason.clone()));
        reason
    }
}

/// Returns why a handshake failed, and what that means for the next attempt.
fn explain(error: &ClientInitializeError) -> (String, FailureKind) {
    match error {
        ClientInitializeError::TransportError { error, .. } => match http_failure(error) {
            Some(Failure::Denied(reason)) => (reason, FailureKind::Permanent),
            Some(Failure::NotMcp(reason)) => (reason, FailureKind::NotMcp),
            Some(Failure::NotSent(reason) | Failure::Transport(reason)) => (reason, FailureKind::Transient),
            Some(Failure::Broken(reason)) => (format!("it {reason}"), FailureKind::Transient),
            _ => (format!("cannot communicate with it: {}", error.error), FailureKind::Exited),
        },
        ClientInitializeError::LegacyFallbackFailed { fallback, .. } => explain(fallback),
        ClientInitializeError::ConnectionClosed(_) => {
            ("it closed the connection before it responded to `initialize`".into(), FailureKind::Exited)
        }
        ClientInitializeError::JsonRpcError(error) => {
            (format!("it rejected `initialize`: {}", error.message), FailureKind::Rejected)
        }
        ClientInitializeError::NoCompatibleProtocolVersion { server_supported, .. } => {
            let theirs: Vec<&str> = server_supported.iter().map(ProtocolVersion::as_str).collect();
            let reason =
                format!("it supports only revisions of MCP that onetool does not: {}", theirs.join(", "));
            (reason, FailureKind::Permanent)
        }
        ClientInitializeError::ConflictInitResponseId(expected, received)
        | ClientInitializeError::UncorrelatedErrorResponse { expected, received } => {
            let reason =
                format!("it responded to request {received}, which does not exist, instead of {expected}");
            (reason, FailureKind::Transient)
        }
        _ => ("its response to `initialize` is invalid".into(), FailureKind::Invalid),
    }
}
