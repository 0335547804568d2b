//! The entry point of the crate: a sandbox that runs programs.

use std::sync::{Arc, Mutex};

use onetool_cage::{SlotError, SlotKind, Slots, WorkerCommand};

use crate::session;
use crate::worker::Worker;
use crate::{CageReport, Host, Limits, Outcome, Program, RunError};
use onetool_core::sync::Unpoisoned as _;

/// Runs Python programs, each in its own caged process.
///
/// Starts no process until [`warm`](Self::warm) or the first [`run`](Self::run). After that, one caged child waits for the
/// next program. Dropping the sandbox ends all its processes.
pub struct Sandbox {
    command: WorkerCommand,
    slots: Arc<Slots>,
    worker: Mutex<Option<Arc<Worker>>>,
}

impl Sandbox {
    /// Creates a sandbox; starts no process yet. `command` starts the process that children are forked from; it must call
    /// [`zygote_main`](crate::zygote_main) before it starts any thread.
    pub fn new(command: WorkerCommand, slots: Arc<Slots>) -> Self {
        Self { command, slots, worker: Mutex::new(None) }
    }

    /// Starts the worker process if it is not running, and waits until it is ready.
    ///
    /// # Errors
    /// [`RunError::Unavailable`] if it cannot be started.
    pub async fn warm(&self) -> Result<(), RunError> {
        self.worker().await.map(drop)
    }

    /// Returns the state of the cage's layers on this system. Starts the worker process if it is not running.
    ///
    /// # Errors
    /// [`RunError::Unavailable`] if it cannot be started.
    pub async fn cage_report(&self) -> Result<CageReport, RunError> {
        self.worker().await?.ready().await
    }

    /// Runs a program. Dropping the future kills the program and drops its calls.
    ///
    /// # Errors
    /// If the run does not complete, see [`RunError`].
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
            // The zygote just died. The program was not sent yet, so a new zygote can run it.
            Err(_) => {
                self.forget(&worker);
                worker = self.worker().await?;
                worker.child(limits.memory_bytes).await?
            }
        };
        // Sends the program first. While it runs, the zygote forks the child of the next run.
        let keep_spare = async { worker.keep_spare(limits.memory_bytes) };
        let (outcome, ()) = tokio::join!(session::run(child, program, limits, host.as_ref()), keep_spare);
        outcome
    }

    /// Waits for a slot, but no longer than the program's time limit.
    async fn slot(&self, program: &Program, limits: &Limits) -> Result<onetool_cage::Slot, RunError> {
        let kind = SlotKind::Program { depth: program.depth };
        let slot = tokio::time::timeout(limits.time, self.slots.acquire(kind, limits.memory_bytes)).await;
        Ok(slot.map_err(|_| SlotError { waiting: self.slots.waiting() })??)
    }

    /// Returns the running worker, or starts one, and waits until it is ready.
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
            reason: format!("run.require_cage is set, but this system does not support {}", gaps.join(", ")),
        }),
    }
}
