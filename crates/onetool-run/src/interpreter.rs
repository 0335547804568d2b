//! The entry point to Python: the `run` tool, and tools and packs written in Python.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use onetool_cage::{Slots, WorkerCommand};
use onetool_core::current::Current;
use onetool_core::{PackError, Tool, ToolSpec};
use onetool_sandbox::Sandbox;
use onetool_server::Server;
use onetool_store::results::ResultStore;
use onetool_store::stats::Stats;

use crate::options::RunOptions;
use crate::python_pack::PythonPack;
use crate::run::{self, NamesCache, PythonBody, PythonTool, Runner};
use crate::{python_packs, syntax};

/// The version of Python that programs run on.
pub const LANGUAGE_VERSION: &str = "3.14 (RustPython 0.6.0)";

/// Runs Python in sandboxed worker processes.
pub struct Interpreter {
    runner: Option<Arc<Runner>>,
    options: Current<RunOptions>,
}

impl Interpreter {
    /// Creates an interpreter without starting it. `worker` is the command that starts its process; without one,
    /// nothing can be run.
    pub fn new(
        worker: Option<WorkerCommand>,
        options: RunOptions,
        server: &Server,
        results: &ResultStore,
        stats: &Stats,
        slots: &Arc<Slots>,
    ) -> Self {
        let options = Current::new(options);
        let runner = worker.map(|worker| {
            Arc::new(Runner {
                server: server.downgrade(),
                sandbox: Sandbox::new(worker, slots.clone()),
                results: results.clone(),
                stats: stats.clone(),
                names: NamesCache::default(),
                options: options.clone(),
            })
        });
        Self { runner, options }
    }

    /// Replaces the limits of programs that start from now on.
    pub fn set_options(&self, options: RunOptions) {
        self.options.set(options);
    }

    /// Returns the `run` tool, if Python can be run.
    pub fn run_tool(&self) -> Option<Arc<dyn Tool>> {
        self.runner.as_ref().map(|runner| -> Arc<dyn Tool> { Arc::new(run::run_tool(runner.clone())) })
    }

    /// Creates a tool from code that reads its arguments from variables of the same names.
    ///
    /// # Errors
    /// When the code is not valid Python.
    pub fn tool(
        &self,
        spec: ToolSpec,
        code: &str,
        timeout: Option<Duration>,
    ) -> Result<Arc<dyn Tool>, String> {
        syntax::check(code)?;
        let body = PythonBody::Code { file_name: spec.name.as_str().into(), source: code.into() };
        Ok(Arc::new(PythonTool::new(spec, body, timeout, self.runner.clone())))
    }

    /// Returns the code that a command expands to, without running it.
    ///
    /// # Errors
    /// When the command calls a snippet that does not exist or cannot be expanded.
    pub fn code(&self, server: &Server, command: &str) -> Result<String, String> {
        run::code(server, command)
    }

    /// Loads the packs from the files that match the patterns.
    pub fn packs(&self, patterns: &[PathBuf]) -> Vec<Result<PythonPack, PackError>> {
        python_packs::load(patterns, self.runner.as_ref())
    }

    /// Starts the worker process now, so that the first `run` does not have to wait for it.
    pub async fn warm(&self) {
        if let Some(runner) = &self.runner
            && let Err(error) = runner.sandbox.warm().await
        {
            tracing::warn!(%error, "cannot start the Python sandbox");
        }
    }

    /// Returns a message about the isolation layers that this system lacks, if any.
    pub async fn gaps(&self) -> Option<String> {
        match self.runner.as_ref()?.sandbox.cage_report().await {
            Ok(report) => {
                let gaps = report.gaps();
                (!gaps.is_empty()).then(|| format!("this system does not have {}", gaps.join(", ")))
            }
            Err(error) => Some(error.to_string()),
        }
    }
}
