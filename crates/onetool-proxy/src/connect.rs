//! Makes a connection: starts the child or opens the session, and agrees on a revision.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use indexmap::IndexMap;
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

use crate::calls::Calls;
use crate::child::{self, ChildCommand, SpawnError};
use crate::client::Client;
use crate::exchange::{Failure, http_failure};
use crate::lines::{Findings, LineTransport};
use crate::link::Link;
use crate::process::{ProcessTree, ending};
use crate::scrub::Scrubber;
use crate::starts::STARTS;
use crate::stderr::{ErrorOutput, LastWords, Readers, drain};
use crate::tap::{Changes, Tap};
use crate::{Surroundings, Transport, UpstreamConfig, http, sse};

/// How long the SDK may take to close a connection, which for HTTP ends the session on the other side.
const CLOSE_GRACE: Duration = Duration::from_secs(2);

/// How long a server that names `server/discover` on its standard error may take to answer it.
const COMPLAINT_GRACE: Duration = Duration::from_secs(1);

/// An open connection.
pub(crate) struct Connection {
    pub(crate) link: Arc<Link>,
    pub(crate) changes: Arc<Changes>,
    lost: watch::Sender<Option<Arc<str>>>,
    service: Service,
    child: Option<ChildPart>,
}

/// The SDK's side of a connection: a task that ends when it does, and is ended with it.
struct Service {
    task: JoinHandle<()>,
    stop: CancellationToken,
    _stop_on_drop: DropGuard,
}

/// What a child adds to a connection.
struct ChildPart {
    process: ProcessTree,
    last_words: LastWords,
    findings: Findings,
    stderr: JoinHandle<()>,
    /// Cancelled when the child complains about the question for the newest revision.
    complaint: CancellationToken,
}

/// A connection that could not be made.
pub(crate) struct ConnectError {
    pub(crate) reason: String,
    pub(crate) cause: Cause,
}

/// What a failure to connect means for the next attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Cause {
    /// Trying again would not help.
    Permanent,
    /// The program exited, or printed only garbage, before it answered.
    Ended,
    /// It did not answer in time.
    Silent,
    /// It answered, and refused.
    Refused,
    /// It answered with something else than what it was asked for.
    Odd,
    /// It is a web server, and does not know what we sent.
    NotUnderstood,
    /// Anything else, which may be gone the next time.
    Passing,
}

/// How to begin, since the two eras of the protocol begin differently.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Opening {
    /// Ask for the newest revision, fall back to `initialize`.
    Auto,
    /// Begin with `initialize`, for a server that is known to be older, or that choked on the question.
    Initialize,
}

impl Opening {
    /// Returns how to begin after an attempt that failed.
    pub(crate) fn after(self, cause: Cause) -> Self {
        match (self, cause) {
            (Self::Auto, Cause::Ended | Cause::Silent | Cause::Refused | Cause::Odd) => Self::Initialize,
            (Self::Initialize, Cause::Silent | Cause::Refused | Cause::Odd) => Self::Auto,
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

/// What connections of one upstream have in common.
pub(crate) struct Connector {
    pub(crate) name: Arc<str>,
    pub(crate) config: UpstreamConfig,
    pub(crate) around: Surroundings,
    pub(crate) scrubber: Arc<Scrubber>,
    pub(crate) output: ErrorOutput,
    pub(crate) shutdown: CancellationToken,
    /// Whether the server was found to have only the HTTP transport of 2024-11-05.
    pub(crate) has_old_transport: AtomicBool,
}

impl Connector {
    /// Makes a connection.
    pub(crate) async fn connect(
        &self,
        generation: u64,
        opening: Opening,
    ) -> Result<Connection, ConnectError> {
        match &self.config.transport {
            Transport::Stdio { command, args, env, directory } => {
                let what = ChildCommand { command, args, env, directory: directory.as_deref() };
                self.connect_child(&what, generation, opening).await
            }
            Transport::Http { url, headers } => self.connect_web(url, headers, generation, opening).await,
        }
    }

    /// Connects over HTTP, also to a server that has only the transport before the present one.
    async fn connect_web(
        &self,
        url: &Url,
        headers: &IndexMap<String, String>,
        generation: u64,
        opening: Opening,
    ) -> Result<Connection, ConnectError> {
        let max = self.config.limits.message;
        let (client, headers) = http::client(headers, self.config.connect_timeout)
            .map_err(|reason| ConnectError { reason, cause: Cause::Permanent })?;
        let old = || sse::open(self.name.clone(), url, client.clone(), headers.clone(), max);
        if !self.has_old_transport.load(Ordering::Relaxed) {
            let patience = self.config.timeout;
            let transport =
                http::transport(self.name.clone(), url, client.clone(), headers.clone(), max, patience);
            let opened = self.open(transport, None, generation, opening).await;
            match opened {
                Err(error) if error.cause == Cause::NotUnderstood => {
                    let Some(transport) = old().await else { return Err(error) };
                    self.has_old_transport.store(true, Ordering::Relaxed);
                    tracing::info!(server = %self.name, "it has only the HTTP+SSE transport of 2024-11-05");
                    return self.open(transport, None, generation, Opening::Initialize).await;
                }
                opened => return opened,
            }
        }
        let Some(transport) = old().await else {
            // It may have been replaced by a newer one.
            self.has_old_transport.store(false, Ordering::Relaxed);
            return Err(ConnectError { reason: "its stream cannot be opened".into(), cause: Cause::Passing });
        };
        self.open(transport, None, generation, Opening::Initialize).await
    }

    async fn connect_child(
        &self,
        what: &ChildCommand<'_>,
        generation: u64,
        opening: Opening,
    ) -> Result<Connection, ConnectError> {
        let _turn = tokio::select! {
            turn = STARTS.turn() => Some(turn),
            () = self.shutdown.cancelled() => None,
        };
        let (process, streams) = child::spawn(what, &self.around).map_err(|error| match error {
            SpawnError::Missing(reason) => ConnectError { reason, cause: Cause::Permanent },
            SpawnError::System(error) => ConnectError {
                reason: format!("cannot start '{}': {error}", what.command),
                cause: Cause::Passing,
            },
        })?;
        let (last_words, findings) = (LastWords::default(), Findings::default());
        let complaint = CancellationToken::new();
        let (words, output) = (last_words.clone(), self.output.clone());
        let readers = Readers { last_words: words, output, complaint: complaint.clone() };
        let draining = drain(streams.stderr, self.name.clone(), self.scrubber.clone(), readers);
        let stderr = tokio::spawn(draining);
        let limits = self.config.limits.clone();
        let transport =
            LineTransport::new(self.name.clone(), streams.stdout, streams.stdin, limits, findings.clone());
        let child = ChildPart { process, last_words, findings, stderr, complaint };
        self.open(transport, Some(child), generation, opening).await
    }

    /// Agrees on a revision over a transport; ends the child if that fails.
    async fn open<T>(
        &self,
        transport: T,
        child: Option<ChildPart>,
        generation: u64,
        opening: Opening,
    ) -> Result<Connection, ConnectError>
    where
        T: RmcpTransport<RoleClient> + 'static,
    {
        let (calls, changes) = (Arc::<Calls>::default(), Arc::<Changes>::default());
        let client = Client { name: self.name.clone(), calls: calls.clone() };
        let tap = Tap::new(transport, self.name.clone(), calls.clone(), changes.clone());
        let stop = CancellationToken::new();
        let opened = serve_client_with_lifecycle_and_ct(client, tap, opening.mode(), stop.clone());
        let patience = self.config.connect_timeout;
        let complaint =
            child.as_ref().filter(|_| opening == Opening::Auto).map(|child| child.complaint.clone());
        let complained = async {
            match complaint {
                Some(complaint) => complaint.cancelled().await,
                None => std::future::pending().await,
            }
            // A server that merely logs what it receives answers now.
            tokio::time::sleep(COMPLAINT_GRACE).await;
        };
        let opened: Result<RunningService<_, _>, (String, Cause)> = tokio::select! {
            opened = opened => opened.map_err(|error| explain(&error)),
            () = complained => Err(("it failed on `server/discover`".to_owned(), Cause::Ended)),
            () = tokio::time::sleep(patience) => {
                let seconds = patience.as_secs_f64();
                Err((format!("it did not answer `initialize` within {seconds} s"), Cause::Silent))
            }
            () = self.shutdown.cancelled() => Err(("onetool shuts down".to_owned(), Cause::Passing)),
        };
        let opened = opened.and_then(|running| match running.peer().peer_info() {
            Some(info) => Ok((running, info)),
            None => Err(("it did not say what it is".to_owned(), Cause::Passing)),
        });
        match opened {
            Ok((running, info)) => {
                let (lost, lost_seen) = watch::channel(None);
                let link = Link { generation, peer: running.peer().clone(), calls, info, lost: lost_seen };
                let task = tokio::spawn(async move { drop(running.waiting().await) });
                let service = Service { task, _stop_on_drop: stop.clone().drop_guard(), stop };
                Ok(Connection { link: Arc::new(link), changes, lost, service, child })
            }
            Err((reason, cause)) => {
                let reason = match child {
                    Some(child) => child.stop(reason, self.config.timing.stop_grace).await,
                    None => reason,
                };
                Err(ConnectError { reason: self.scrubber.tidy(&reason), cause })
            }
        }
    }
}

impl ChildPart {
    /// Ends the child and says what is known of its end; `reason` is what we saw of it.
    async fn stop(self, reason: String, grace: Duration) -> String {
        let status = self.process.stop(grace).await;
        // All that it wrote has arrived once the streams are closed, which they are unless somebody else holds them.
        let _ = tokio::time::timeout(grace, self.stderr).await;
        let mut parts = vec![self.findings.get().unwrap_or(reason)];
        parts.extend(status.map(|status| format!("the program {}", ending(status))));
        parts.extend(self.last_words.get().map(|words| format!("last on its standard error: {words}")));
        parts.join("; ")
    }
}

impl Connection {
    /// Waits until the connection ends by itself.
    pub(crate) async fn ended(&mut self) {
        let Some(child) = &mut self.child else { return drop((&mut self.service.task).await) };
        tokio::select! {
            _ = &mut self.service.task => return,
            // What cannot be waited for is not there any more.
            _ = child.process.wait() => {}
        }
        // What it wrote before its end is still on its way, and so is the end of its output, unless something that
        // it started holds that open.
        child.process.kill();
        let _ = tokio::time::timeout(CLOSE_GRACE, &mut self.service.task).await;
    }

    /// Ends the connection and everything that belongs to it; returns the reason to be told.
    pub(crate) async fn close(mut self, connector: &Connector, seen: &str) -> Arc<str> {
        self.service.stop.cancel();
        if !self.service.task.is_finished() {
            let _ = tokio::time::timeout(CLOSE_GRACE, &mut self.service.task).await;
        }
        let reason = match self.child.take() {
            Some(child) => child.stop(seen.to_owned(), connector.config.timing.stop_grace).await,
            None => seen.to_owned(),
        };
        let reason: Arc<str> = connector.scrubber.tidy(&reason).into();
        self.lost.send_replace(Some(reason.clone()));
        reason
    }
}

/// Says why a handshake failed, and what that means for another.
fn explain(error: &ClientInitializeError) -> (String, Cause) {
    match error {
        ClientInitializeError::TransportError { error, .. } => match http_failure(error) {
            Some(Failure::Denied(reason)) => (reason, Cause::Permanent),
            Some(Failure::NotUnderstood(reason)) => (reason, Cause::NotUnderstood),
            Some(Failure::NotSent(reason) | Failure::Transport(reason)) => (reason, Cause::Passing),
            Some(Failure::Broken(reason)) => (format!("it {reason}"), Cause::Passing),
            _ => (format!("it cannot be spoken to: {}", error.error), Cause::Ended),
        },
        ClientInitializeError::LegacyFallbackFailed { fallback, .. } => explain(fallback),
        ClientInitializeError::ConnectionClosed(_) => {
            ("it closed the connection before it answered `initialize`".into(), Cause::Ended)
        }
        ClientInitializeError::JsonRpcError(error) => {
            (format!("it refuses `initialize`: {}", error.message), Cause::Refused)
        }
        ClientInitializeError::NoCompatibleProtocolVersion { server_supported, .. } => {
            let theirs: Vec<&str> = server_supported.iter().map(ProtocolVersion::as_str).collect();
            let reason = format!("it speaks only revisions of MCP that we do not: {}", theirs.join(", "));
            (reason, Cause::Permanent)
        }
        ClientInitializeError::ConflictInitResponseId(asked, answered)
        | ClientInitializeError::UncorrelatedErrorResponse { expected: asked, received: answered } => {
            let reason = format!("it answered a request {answered} that it was not sent, instead of {asked}");
            (reason, Cause::Passing)
        }
        _ => ("its answer to `initialize` is not what the protocol defines".into(), Cause::Odd),
    }
}
