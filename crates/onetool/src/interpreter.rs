//! What the gateway does with Python: the `run` tool, and tools and packs that are written in it.

use std::sync::Arc;
use std::time::Duration;

use onetool_cage::Slots;
use onetool_core::{Tool, ToolSpec};
use onetool_sandbox::Sandbox;

use crate::Server;
use crate::config::{Config, PackFilesConfig};
use crate::current::Current;
use crate::gateway::GatewayOptions;
use crate::packs::{Pack, PackError, python};
use crate::results::ResultStore;
use crate::run::{self, NamesCache, PythonBody, PythonTool, Runner, check_syntax};
use crate::stats::Stats;
use crate::worker;

/// The version of the language that `run` speaks.
pub(crate) const VERSION: &str = "3.14 (RustPython 0.6.0)";

/// The interpreter, if the program around the gateway says how to start it.
pub(crate) struct Interpreter(Option<Arc<Runner>>);

impl Interpreter {
    /// Makes it; nothing is started.
    pub(crate) fn new(
        options: &GatewayOptions,
        config: &Current<Config>,
        server: &Server,
        results: &ResultStore,
        stats: &Stats,
        slots: &Arc<Slots>,
    ) -> Self {
        Self(options.worker.as_ref().map(|command| {
            Arc::new(Runner {
                server: server.downgrade(),
                sandbox: Sandbox::new(worker::python(command), slots.clone()),
                results: results.clone(),
                stats: stats.clone(),
                names: NamesCache::default(),
                config: config.clone(),
            })
        }))
    }

    /// Makes the `run` tool.
    pub(crate) fn run_tool(&self) -> Option<Arc<dyn Tool>> {
        self.0.as_ref().map(|runner| -> Arc<dyn Tool> { Arc::new(run::run_tool(runner.clone())) })
    }

    /// Makes a tool of code in which the arguments are names.
    pub(crate) fn tool(
        &self,
        spec: ToolSpec,
        code: &str,
        timeout: Option<Duration>,
    ) -> Result<Arc<dyn Tool>, String> {
        check_syntax(code)?;
        let body = PythonBody::Code { file_name: spec.name.as_str().into(), source: code.into() };
        Ok(Arc::new(PythonTool::new(spec, body, timeout, self.0.clone())))
    }

    /// Returns the code that a command stands for, without running it.
    #[cfg(feature = "web")]
    #[expect(clippy::unused_self, reason = "everything that needs Python is behind this one door")]
    pub(crate) fn code(&self, server: &Server, command: &str) -> Result<String, String> {
        run::code(server, command)
    }

    /// Reads the packs that the configuration names.
    pub(crate) fn packs(&self, files: &[PackFilesConfig]) -> Vec<Result<Pack, PackError>> {
        python::load(files, self.0.as_ref())
    }

    /// Starts what the first `run` would otherwise wait for.
    pub(crate) async fn warm(&self) {
        if let Some(runner) = &self.0
            && let Err(error) = runner.sandbox.warm().await
        {
            tracing::warn!(%error, "code cannot be run");
        }
    }

    /// Tells what the sandbox cannot do on this system, if there is anything.
    pub(crate) async fn gaps(&self) -> Option<String> {
        match self.0.as_ref()?.sandbox.cage_report().await {
            Ok(report) => {
                let gaps = report.gaps();
                (!gaps.is_empty()).then(|| format!("this system does not have {}", gaps.join(", ")))
            }
            Err(error) => Some(error.to_string()),
        }
    }
}
