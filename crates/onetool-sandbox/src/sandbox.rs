//! The door of the crate: a sandbox that runs programs.

use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use crate::link::Link;
use crate::session;
use crate::{CageReport, Host, Limits, Outcome, Program, RunError};

/// How to start the process that children are forked from.
///
/// The command must end up in [`zygote_main`](crate::zygote_main) before it starts any thread.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WorkerCommand {
    /// The program.
    pub program: PathBuf,
    /// Its arguments.
    pub args: Vec<OsString>,
}

/// What a [`Sandbox`] is made of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SandboxOptions {
    /// How to start the process that children are forked from.
    pub worker: WorkerCommand,
}

/// Runs Python programs, each in a caged process of its own.
///
/// Nothing is started until [`warm`](Self::warm) or the first [`run`](Self::run). Dropping the sandbox ends every
/// process that it started.
pub struct Sandbox {
    options: SandboxOptions,
    link: Mutex<Option<Arc<Link>>>,
}

impl Sandbox {
    /// Makes a sandbox; starts nothing.
    pub fn new(options: SandboxOptions) -> Self {
        Self { options, link: Mutex::new(None) }
    }

    /// Starts the worker process if there is none, and waits until it is ready.
    ///
    /// # Errors
    /// [`RunError::Unavailable`] if it cannot be started.
    pub async fn warm(&self) -> Result<(), RunError> {
        self.link().await.map(drop)
    }

    /// Tells which walls of the cage this system has; starts the worker process if there is none.
    ///
    /// # Errors
    /// [`RunError::Unavailable`] if it cannot be started.
    pub async fn cage_report(&self) -> Result<CageReport, RunError> {
        self.link().await?.ready().await
    }

    /// Runs a program. Dropping the future kills it and drops its calls.
    ///
    /// # Errors
    /// Every way in which a run can fail to come to its end, see [`RunError`].
    pub async fn run(
        &self,
        program: Program,
        limits: &Limits,
        host: Arc<dyn Host>,
    ) -> Result<Outcome, RunError> {
        let link = self.link().await?;
        match session::start(&link, limits).await {
            Ok(session) => session.run(program, host.as_ref()).await,
            // The zygote died a moment ago and nothing was sent: another one gets the run.
            Err(_) => {
                self.forget(&link);
                let session = session::start(self.link().await?.as_ref(), limits).await?;
                session.run(program, host.as_ref()).await
            }
        }
    }

    /// Gives the zygote that is running, or starts one, and waits until it is ready.
    async fn link(&self) -> Result<Arc<Link>, RunError> {
        let link = self.start_if_needed()?;
        match link.ready().await {
            Ok(_) => Ok(link),
            Err(error) => {
                self.forget(&link);
                Err(error)
            }
        }
    }

    fn start_if_needed(&self) -> Result<Arc<Link>, RunError> {
        let mut current = self.link.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(link) = current.as_ref().filter(|link| !link.has_ended()) {
            return Ok(link.clone());
        }
        let link = Arc::new(Link::start(&self.options.worker)?);
        *current = Some(link.clone());
        Ok(link)
    }

    fn forget(&self, dead: &Arc<Link>) {
        let mut current = self.link.lock().unwrap_or_else(PoisonError::into_inner);
        if current.as_ref().is_some_and(|link| Arc::ptr_eq(link, dead)) {
            *current = None;
        }
    }
}
