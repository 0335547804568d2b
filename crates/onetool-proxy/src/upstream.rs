//! The handle of an upstream: starts it, watches it, shuts it down.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use tokio::sync::{Notify, watch};
use tokio::task::JoinHandle;
use tokio_util::sync::{CancellationToken, DropGuard};
use tokio_util::task::TaskTracker;

use crate::breaker::Breaker;
use crate::config::UpstreamConfig;
use crate::connect::Connector;
use crate::context::ChildContext;
use crate::link::{Phase, UpstreamHandle};
use crate::scrub;
use crate::snapshot::{Snapshot, State};
use crate::stderr::StderrHistory;
use crate::supervisor::Supervisor;

/// An upstream server that is kept connected in the background.
///
/// Dropping it closes the connection and ends the child with its process group.
pub struct Upstream {
    name: Arc<str>,
    snapshot: watch::Receiver<Arc<Snapshot>>,
    reconnect: Arc<Notify>,
    stderr_history: StderrHistory,
    task: Option<JoinHandle<()>>,
    shutdown: DropGuard,
}

impl Upstream {
    /// Starts to connect in the background, on the current tokio runtime, and returns immediately.
    ///
    /// If [`UpstreamConfig::check`] rejects the configuration, nothing is connected and the state has the reason.
    pub fn start(config: UpstreamConfig, context: ChildContext) -> Self {
        let name: Arc<str> = config.name.as_str().into();
        let state = match config.check() {
            Err(error) => State::Failed { reason: error.to_string().into() },
            Ok(()) if !config.enabled => State::Disabled,
            Ok(()) => State::Connecting,
        };
        let should_connect = state == State::Connecting;
        let (snapshot, watched) = watch::channel(Arc::new(Snapshot::new(state)));
        let (reconnect, shutdown) = (Arc::new(Notify::new()), CancellationToken::new());
        let redactor = scrub::redactor(&config.transport);
        let upstream = Arc::new(UpstreamHandle {
            name: name.clone(),
            timeout: config.timeout,
            redactor: redactor.clone(),
            breaker: Breaker::new(config.timing.breaker_failures, config.timing.breaker_pause),
            phase: watch::channel(Phase::Connecting).0,
            reconnect: reconnect.clone(),
            retry: Notify::new(),
            stale: watch::channel(None).0,
        });
        let stderr_history = StderrHistory::default();
        let task = should_connect.then(|| {
            let connector = Arc::new(Connector {
                name: name.clone(),
                config,
                context,
                redactor,
                stderr_history: stderr_history.clone(),
                shutdown: shutdown.clone(),
                uses_sse: AtomicBool::new(false),
            });
            let retired = TaskTracker::new();
            let supervisor = Supervisor { connector, upstream, snapshot, retired };
            tokio::spawn(supervisor.run())
        });
        Self { name, snapshot: watched, reconnect, stderr_history, task, shutdown: shutdown.drop_guard() }
    }

    /// Returns the name of the server, which is also the name of its pack.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns what the upstream currently offers.
    pub fn snapshot(&self) -> Arc<Snapshot> {
        self.snapshot.borrow().clone()
    }

    /// Returns a receiver of every change to the state and the lists, starting with the current value.
    pub fn watch(&self) -> watch::Receiver<Arc<Snapshot>> {
        self.snapshot.clone()
    }

    /// Returns the last lines that its children wrote to standard error, the oldest first, with secrets redacted.
    pub fn stderr_lines(&self) -> Vec<String> {
        self.stderr_history.lines()
    }

    /// Reconnects immediately, whether the upstream is connected, waiting to retry or failed.
    pub fn reconnect(&self) {
        self.reconnect.notify_one();
    }

    /// Closes the connection, ends the child with its process group, and waits until that is done.
    pub async fn shut_down(self) {
        let Self { task, shutdown, .. } = self;
        drop(shutdown);
        if let Some(task) = task {
            // After a panic there is nothing left to shut down.
            let _ = task.await;
        }
    }
}

impl fmt::Debug for Upstream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Upstream")
            .field("name", &self.name)
            .field("snapshot", &self.snapshot())
            .finish_non_exhaustive()
    }
}
