//! Creates the tools of packs, with their documentation and errors.

use std::sync::Arc;

use onetool_core::{
    BoxError, CallContext, IntoToolOutput, Pack, Tool, ToolAnnotations, ToolDocs, ToolError, error_chain,
    tool_fn,
};
use schemars::JsonSchema;
use serde::de::DeserializeOwned;

/// The effect of a tool.
#[derive(Clone, Copy)]
pub(crate) enum Effect {
    /// Reads local data.
    Reads,
    /// Reads from another service.
    ReadsRemote,
    /// May overwrite or delete data.
    Destroys,
}

impl Effect {
    fn annotations(self) -> ToolAnnotations {
        let (read_only, destructive, open_world) = match self {
            Self::Reads => (true, None, false),
            Self::ReadsRemote => (true, None, true),
            Self::Destroys => (false, Some(true), false),
        };
        ToolAnnotations {
            read_only_hint: Some(read_only),
            destructive_hint: destructive,
            idempotent_hint: None,
            open_world_hint: Some(open_world),
        }
    }
}

/// The documentation of a tool, apart from its schema.
pub(crate) struct About {
    pub(crate) name: &'static str,
    pub(crate) description: &'static str,
    pub(crate) effect: Effect,
    pub(crate) example: &'static str,
    pub(crate) keywords: &'static [&'static str],
    pub(crate) category: &'static str,
}

/// A tool with its documentation.
pub(crate) struct DocumentedTool {
    tool: Arc<dyn Tool>,
    docs: ToolDocs,
}

/// Creates a pack.
pub(crate) fn pack(name: &str, description: &str, tools: Vec<DocumentedTool>) -> Pack {
    let pack = Pack::new(name).with_description(description);
    tools.into_iter().fold(pack, |pack, it| pack.with_documented_tool(it.tool, it.docs))
}

/// Creates a tool from a closure. Its errors include all their causes, because the outermost one rarely says why.
pub(crate) fn tool<A, F, Fut, T, E>(about: About, handler: F) -> DocumentedTool
where
    A: DeserializeOwned + JsonSchema + Send + 'static,
    F: Fn(A, CallContext) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = Result<T, E>> + Send + 'static,
    T: IntoToolOutput + 'static,
    E: Into<BoxError> + 'static,
{
    let handler = move |args: A, cx: CallContext| {
        let result = handler(args, cx);
        async move { result.await.map_err(|error| tool_error(error.into())) }
    };
    let mut docs = ToolDocs::default();
    docs.examples = vec![about.example.to_owned()];
    docs.keywords = about.keywords.iter().map(|it| (*it).to_owned()).collect();
    docs.category = Some(about.category.to_owned());
    let tool = tool_fn(about.name, about.description, handler).annotations(about.effect.annotations());
    DocumentedTool { tool: Arc::new(tool), docs }
}

/// Turns an error into a tool error whose message includes all causes. A [`ToolError`] is unchanged, so that a request
/// to the client reaches the client.
pub(crate) fn tool_error(error: BoxError) -> ToolError {
    let error = match error.downcast::<ToolError>() {
        Ok(error) => return *error,
        Err(error) => error,
    };
    ToolError::failed(error_chain(&*error))
}
