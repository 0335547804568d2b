//! The handle of an upstream: start it, watch it, end it.

use std::ffi::OsString;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use onetool_core::BoxFuture;
use tokio::sync::{Notify, watch};
use tokio::task::JoinHandle;
use tokio_util::sync::{CancellationToken, DropGuard};
use tokio_util::task::TaskTracker;

use crate::breaker::Breaker;
use crate::connect::Connector;
use crate::link::{Access, Phase};
use crate::scrub::Scrubber;
use crate::stderr::ErrorOutput;
use crate::supervisor::Supervisor;
use crate::{Guard, Snapshot, State, UpstreamConfig};

/// Variables of our own environment, handed in by the program that reads it.
///
/// A child gets only those of them that every program needs: `PATH`, `HOME` and the locale.
pub type ChildEnvironment = Vec<(OsString, OsString)>;

/// What an upstream gets from the process around it.
#[derive(Debug, Clone, Default)]
pub struct Surroundings {
    /// What a child may inherit.
    pub environment: ChildEnvironment,
    /// How to start the process that ends a child, with everything it started, when it ends and when we are killed;
    /// without it, only what stays in its process group ends, and nothing does when we are killed.
    pub guard: Option<Guard>,
    /// What is known of servers from earlier runs; without it, every run finds it out again.
    pub memory: Option<Arc<dyn ServerMemory>>,
}

/// What is remembered of servers that are started as children, from one run of the gateway to the next.
pub trait ServerMemory: fmt::Debug + Send + Sync + 'static {
    /// Returns the version of the server that this command line started last, if it has to be begun with
    /// `initialize` because it ends when it is asked for the newest revision.
    fn needs_initialize<'a>(&'a self, command: &'a str, args: &'a [String]) -> BoxFuture<'a, Option<String>>;

    /// Remembers that the server has to be begun with `initialize`, or forgets it.
    fn remember_initialize(&self, command: &str, args: &[String], version: Option<&str>);
}

/// An upstream that looks after itself. Dropping it ends the connection, the child and its process group.
pub struct Upstream {
    name: Arc<str>,
    snapshot: watch::Receiver<Arc<Snapshot>>,
    reconnect: Arc<Notify>,
    output: ErrorOutput,
    task: Option<JoinHandle<()>>,
    shutdown: DropGuard,
}

impl Upstream {
    /// Starts to connect in the background, on the tokio runtime that this is called in, and returns at once.
    ///
    /// A configuration that [`UpstreamConfig::check`] refuses is not connected: its state says why.
    pub fn start(config: UpstreamConfig, surroundings: Surroundings) -> Self {
        let name: Arc<str> = config.name.as_str().into();
        let refusal = config.check().err();
        let state = match &refusal {
            Some(error) => State::Failed { reason: error.to_string().into() },
            None if !config.enabled => State::Disabled,
            None => State::Connecting,
        };
        let is_wanted = state == State::Connecting;
        let (snapshot, watched) = watch::channel(Arc::new(Snapshot::new(state)));
        let (reconnect, shutdown) = (Arc::new(Notify::new()), CancellationToken::new());
        let scrubber = Arc::new(Scrubber::of(&config.transport));
        let access = Arc::new(Access {
            name: name.clone(),
            timeout: config.timeout,
            scrubber: scrubber.clone(),
            breaker: Breaker::new(config.timing.breaker_failures, config.timing.breaker_pause),
            phase: watch::channel(Phase::Connecting).0,
            reconnect: reconnect.clone(),
            called: Notify::new(),
            stale: watch::channel(None).0,
        });
        let output = ErrorOutput::default();
        let task = is_wanted.then(|| {
            let connector = Arc::new(Connector {
                name: name.clone(),
                config,
                around: surroundings,
                scrubber,
                output: output.clone(),
                shutdown: shutdown.clone(),
                has_old_transport: AtomicBool::new(false),
            });
            let retired = TaskTracker::new();
            let supervisor = Supervisor { connector, access, snapshot, retired };
            tokio::spawn(supervisor.run())
        });
        Self { name, snapshot: watched, reconnect, output, task, shutdown: shutdown.drop_guard() }
    }

    /// Returns the name, which is that of the pack.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns what the upstream offers now.
    pub fn snapshot(&self) -> Arc<Snapshot> {
        self.snapshot.borrow().clone()
    }

    /// Returns a receiver that sees every change of state and lists, beginning with what is now.
    pub fn watch(&self) -> watch::Receiver<Arc<Snapshot>> {
        self.snapshot.clone()
    }

    /// Returns the last lines that its children wrote to their standard error, the oldest first, without secrets.
    pub fn error_output(&self) -> Vec<String> {
        self.output.lines()
    }

    /// Connects again: immediately where it waits or has failed, and also where it is connected.
    pub fn reconnect(&self) {
        self.reconnect.notify_one();
    }

    /// Ends the connection, the child and everything in its process group, and waits until that is done.
    pub async fn shut_down(self) {
        let Self { task, shutdown, .. } = self;
        drop(shutdown);
        if let Some(task) = task {
            // A task that panicked has nothing left to end.
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
