//! The gateway's own resources and prompts: the tools as resources, and two prompts that show how to use `run`.

mod prompts;
mod python;
mod resources;

use std::sync::Arc;

use crate::catalog::{RegisterError, Source};
use crate::server::{Server, ServerBuilder};

/// Registers the gateway's own resources and prompts.
pub(crate) fn register(server: &Server) -> Result<(), RegisterError> {
    let weak = server.downgrade();
    server.add_resource(Arc::new(resources::all_tools(weak.clone())), Source::Builtin)?;
    server.add_resource(Arc::new(resources::one_tool(weak.clone())), Source::Builtin)?;
    server.add_prompt(Arc::new(prompts::batch_search(weak)), Source::Builtin)?;
    server.add_prompt(Arc::new(prompts::transform_data()), Source::Builtin)
}

impl ServerBuilder {
    /// Adds the resources `onetool://tools` and `onetool://tool/{name}`, which describe the tools, and the prompts
    /// `batch_search` and `transform_data`.
    #[must_use]
    pub fn discovery(self) -> Self {
        self.finish(register)
    }
}
