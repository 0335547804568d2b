//! What the gateway does without Python: it says so where somebody asks for it.

use std::sync::Arc;
use std::time::Duration;

use onetool_cage::Slots;
use onetool_core::{Tool, ToolSpec};

use crate::Server;
use crate::config::{Config, PackFilesConfig};
use crate::current::Current;
use crate::gateway::GatewayOptions;
use crate::packs::{self, Pack, PackError};
use crate::results::ResultStore;
use crate::stats::Stats;

pub(crate) const VERSION: &str = "none";
const NO_PYTHON: &str = "this onetool was built without Python; build it with the feature 'python'";

/// Stands where the interpreter would be.
pub(crate) struct Interpreter;

impl Interpreter {
    pub(crate) fn new(
        _: &GatewayOptions,
        _: &Current<Config>,
        _: &Server,
        _: &ResultStore,
        _: &Stats,
        _: &Arc<Slots>,
    ) -> Self {
        Self
    }

    #[expect(clippy::unused_self, reason = "the other one needs it")]
    pub(crate) fn run_tool(&self) -> Option<Arc<dyn Tool>> {
        None
    }

    #[expect(clippy::unused_self, reason = "the other one needs it")]
    pub(crate) fn tool(&self, _: ToolSpec, _: &str, _: Option<Duration>) -> Result<Arc<dyn Tool>, String> {
        Err(NO_PYTHON.into())
    }

    #[cfg(feature = "web")]
    #[expect(clippy::unused_self, reason = "the other one needs it")]
    pub(crate) fn code(&self, _: &Server, _: &str) -> Result<String, String> {
        Err(NO_PYTHON.into())
    }

    /// Every file that is there is a pack that is not.
    #[expect(clippy::unused_self, reason = "the other one needs it")]
    pub(crate) fn packs(&self, files: &[PackFilesConfig]) -> Vec<Result<Pack, PackError>> {
        let refused = |path| Err(PackError::new(path, None, NO_PYTHON.into()));
        packs::files(files).into_iter().map(|path| path.and_then(refused)).collect()
    }

    pub(crate) async fn warm(&self) {
        std::future::ready(()).await;
    }

    pub(crate) async fn gaps(&self) -> Option<String> {
        std::future::ready(Some(NO_PYTHON.into())).await
    }
}
