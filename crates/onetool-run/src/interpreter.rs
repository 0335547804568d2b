//! Python in the gateway: the `run` tool, and tools and packs written in it.

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
use crate::python_packs;
use crate::run::{self, NamesCache, PythonBody, PythonTool, Runner, check_syntax};

/// The version of Python that programs are written in.
pub const LANGUAGE_VERSION: &str = "3.14 (RustPython 0.6.0)";

/// Runs Python, if there is a command that starts the interpreter.
pub struct Interpreter {
    runner: Option<Arc<Runner>>,
    options: Current<RunOptions>,
}

impl Interpreter {
    /// Makes an interpreter without starting it. `worker` is the command of its process.
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

    /// Replaces the limits, for programs that start from now on.
    pub fn set_options(&self, options: RunOptions) {
        self.options.set(options);
    }

    /// Makes the `run` tool.
    pub fn run_tool(&self) -> Option<Arc<dyn Tool>> {
        self.runner.as_ref().map(|runner| -> Arc<dyn Tool> { Arc::new(run::run_tool(runner.clone())) })
    }

    /// Makes a tool from code in which the arguments are names.
    ///
    /// # Errors
    /// Says what is wrong with the code.
    pub fn tool(
        &self,
        spec: ToolSpec,
        code: &str,
        timeout: Option<Duration>,
    ) -> Result<Arc<dyn Tool>, String> {
        check_syntax(code)?;
        let body = PythonBody::Code { file_name: spec.name.as_str().into(), source: code.into() };
        Ok(Arc::new(PythonTool::new(spec, body, timeout, self.runner.clone())))
    }

    /// Returns the code that a command expands to, without running it.
    ///
    /// # Errors
    /// Says what is wrong with the command.
    pub fn code(&self, server: &Server, command: &str) -> Result<String, String> {
        run::code(server, command)
    }

    /// Reads the packs in the files that match the patterns.
    pub fn packs(&self, patterns: &[PathBuf]) -> Vec<Result<PythonPack, PackError>> {
        python_packs::load(patterns, self.runner.as_ref())
    }

    /// Starts what the first `run` would otherwise wait for.
    pub async fn warm(&self) {
        if let Some(runner) = &self.runner
            && let Err(error) = runner.sandbox.warm().await
        {
            tracing::warn!(%error, "code cannot be run");
        }
    }

    /// Returns which isolation layers this system lacks, if any.
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
