//! Replaces the interpreter in a build without Python, and reports that it is missing.

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

/// There is no Python.
pub const LANGUAGE_VERSION: &str = "none";
const NO_PYTHON: &str = "this onetool was built without Python; build it with the feature 'python'";

/// Replaces the interpreter.
pub struct Interpreter;

#[expect(clippy::unused_self, reason = "the interpreter's methods need it")]
impl Interpreter {
    /// Makes the replacement.
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

    /// Returns no tool.
    pub fn run_tool(&self) -> Option<Arc<dyn Tool>> {
        None
    }

    /// Reports that there is no Python.
    ///
    /// # Errors
    /// Always.
    pub fn tool(&self, _: ToolSpec, _: &str, _: Option<Duration>) -> Result<Arc<dyn Tool>, String> {
        Err(NO_PYTHON.into())
    }

    /// Reports that there is no Python.
    ///
    /// # Errors
    /// Always.
    pub fn code(&self, _: &Server, _: &str) -> Result<String, String> {
        Err(NO_PYTHON.into())
    }

    /// Reports for every matching file that there is no Python.
    pub fn packs(&self, patterns: &[PathBuf]) -> Vec<Result<PythonPack, PackError>> {
        let refused = |path: PathBuf| Err(PackError::from_file(&path, None, NO_PYTHON));
        matching_files(patterns).into_iter().map(|path| path.and_then(refused)).collect()
    }

    /// Does nothing.
    pub async fn warm(&self) {
        std::future::ready(()).await;
    }

    /// Reports that there is no Python.
    pub async fn gaps(&self) -> Option<String> {
        std::future::ready(Some(NO_PYTHON.into())).await
    }
}
