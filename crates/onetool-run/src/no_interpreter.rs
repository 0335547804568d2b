//! The interpreter of a build without Python: every method reports that Python is missing.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use onetool_cage::{Slots, WorkerCommand};
use onetool_config::matching_files;
use onetool_core::{PackError, Tool, ToolSpec};
use onetool_server::Server;
use onetool_store::results::ResultStore;
use onetool_store::stats::Stats;

use crate::options::RunOptions;
use crate::python_pack::PythonPack;

/// The version of Python that programs run on: none.
pub const LANGUAGE_VERSION: &str = "none";
const NO_PYTHON: &str = "built without Python; enable the cargo feature 'python'";

/// Has the methods of the real interpreter, but cannot run anything.
pub struct Interpreter;

impl Interpreter {
    /// Creates it; the arguments are not used.
    pub fn new(
        _: Option<WorkerCommand>,
        _: RunOptions,
        _: &Server,
        _: &ResultStore,
        _: &Stats,
        _: &Arc<Slots>,
    ) -> Self {
        Self
    }

    /// Does nothing.
    pub fn set_options(&self, _: RunOptions) {}

    /// Returns `None`.
    pub fn run_tool(&self) -> Option<Arc<dyn Tool>> {
        None
    }

    /// Fails.
    ///
    /// # Errors
    /// Always.
    pub fn tool(&self, _: ToolSpec, _: &str, _: Option<Duration>) -> Result<Arc<dyn Tool>, String> {
        Err(NO_PYTHON.into())
    }

    /// Fails.
    ///
    /// # Errors
    /// Always.
    pub fn code(&self, _: &Server, _: &str) -> Result<String, String> {
        Err(NO_PYTHON.into())
    }

    /// Returns an error for every matching file.
    pub fn packs(&self, patterns: &[PathBuf]) -> Vec<Result<PythonPack, PackError>> {
        let no_python = |path: PathBuf| Err(PackError::from_file(&path, None, NO_PYTHON));
        matching_files(patterns).into_iter().map(|path| path.and_then(no_python)).collect()
    }

    /// Does nothing.
    pub async fn warm(&self) {
        std::future::ready(()).await;
    }

    /// Returns a message that Python is missing.
    pub async fn gaps(&self) -> Option<String> {
        std::future::ready(Some(NO_PYTHON.into())).await
    }
}
