//! The door of the crate: a sandbox that runs programs.

use std::sync::{Arc, Mutex};

use onetool_cage::{SlotError, Slots, Work, WorkerCommand};

use crate::session;
use crate::worker::Worker;
use crate::{CageReport, Host, Limits, Outcome, Program, RunError};
use onetool_core::sync::Unpoisoned as _;

/// Runs Python programs, each in a caged process of its own.
///
/// Nothing is started until [`warm`](Self::warm) or the first [`run`](Self::run). From then on one child waits in its
/// cage for the next program. Dropping the sandbox ends every process that it started.
pub struct Sandbox {
    command: WorkerCommand,
    slots: Arc<Slots>,
    worker: Mutex<Option<Arc<Worker>>>,
}

impl Sandbox {
    /// Creates a sandbox; starts nothing. `command` starts the process that children are forked from: it must end up
    /// in [`zygote_main`](crate::zygote_main) before it starts any thread.
    pub fn new(command: WorkerCommand, slots: Arc<Slots>) -> Self {
        Self { command, slots, worker: Mutex::new(None) }
    }

    /// Starts the worker process if there is none, and waits until it is ready.
    ///
    /// # Errors
    /// [`RunError::Unavailable`] if it cannot be started.
    pub async fn warm(&self) -> Result<(), RunError> {
        self.worker().await.map(drop)
    }

    /// Tells which walls of the cage this system has; starts the worker process if there is none.
    ///
    /// # Errors
    /// [`RunError::Unavailable`] if it cannot be started.
    pub async fn cage_report(&self) -> Result<CageReport, RunError> {
        self.worker().await?.ready().await
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
        let _slot = self.slot(&program, limits).await?;
        let mut worker = self.worker().await?;
        if limits.require_complete_cage {
            require_complete(worker.ready().await?)?;
        }
        let child = match worker.child(limits.memory_bytes).await {
            Ok(child) => child,
            // The zygote died a moment ago and nothing was sent: another one gets the run.
            Err(_) => {
                self.forget(&worker);
                worker = self.worker().await?;
                worker.child(limits.memory_bytes).await?
            }
        };
        // The program goes out first; while it runs, the zygote forks the child of the next run.
        let keep_spare = async { worker.keep_spare(limits.memory_bytes) };
        let (outcome, ()) = tokio::join!(session::run(child, program, limits, host.as_ref()), keep_spare);
        outcome
    }

    /// Waits for the program's turn, but no longer than the program itself may take.
    async fn slot(&self, program: &Program, limits: &Limits) -> Result<onetool_cage::Slot, RunError> {
        let work = Work::Program { depth: program.depth };
        let slot = tokio::time::timeout(limits.time, self.slots.take(work, limits.memory_bytes)).await;
        Ok(slot.map_err(|_| SlotError { waiting: self.slots.waiting() })??)
    }

    /// Gives the worker that is running, or starts one, and waits until it is ready.
    async fn worker(&self) -> Result<Arc<Worker>, RunError> {
        let worker = self.start_if_needed()?;
        match worker.ready().await {
            Ok(_) => Ok(worker),
            Err(error) => {
                self.forget(&worker);
                Err(error)
            }
        }
    }

    fn start_if_needed(&self) -> Result<Arc<Worker>, RunError> {
        let mut current = self.worker.lock().unpoisoned();
        if let Some(worker) = current.as_ref().filter(|worker| worker.is_usable()) {
            return Ok(worker.clone());
        }
        let worker = Arc::new(Worker::start(&self.command)?);
        *current = Some(worker.clone());
        Ok(worker)
    }

    fn forget(&self, dead: &Arc<Worker>) {
        let mut current = self.worker.lock().unpoisoned();
        if current.as_ref().is_some_and(|worker| Arc::ptr_eq(worker, dead)) {
            *current = None;
        }
    }
}

fn require_complete(report: CageReport) -> Result<(), RunError> {
    match report.gaps().as_slice() {
        [] => Ok(()),
        gaps => Err(RunError::Unavailable {
            reason: format!("run.require_cage is set, and this system does not have {}", gaps.join(", ")),
        }),
    }
}
