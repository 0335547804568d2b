//! How the tools of packs are made: what they say of themselves, and how they tell what went wrong.

use std::sync::Arc;

use onetool_core::{BoxError, CallContext, IntoToolOutput, ToolAnnotations, ToolError, tool_fn};
use schemars::JsonSchema;
use serde::de::DeserializeOwned;

use super::bundle::BundledTool;
use crate::catalog::ToolDocs;

/// What a tool does to the world.
#[derive(Clone, Copy)]
#[cfg_attr(not(feature = "packs"), expect(dead_code, reason = "every pack uses some of them"))]
pub(super) enum Effect {
    /// Changes nothing, and knows only what is here.
    Reads,
    /// Changes nothing, and asks somebody out there.
    Asks,
    /// May take away what was there.
    Destroys,
}

impl Effect {
    fn annotations(self) -> ToolAnnotations {
        let (read_only, destructive, open_world) = match self {
            Self::Reads => (true, None, false),
            Self::Asks => (true, None, true),
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

/// What a tool says of itself, beside its schema.
pub(super) struct About {
    pub(super) name: &'static str,
    pub(super) description: &'static str,
    pub(super) effect: Effect,
    pub(super) example: &'static str,
    pub(super) keywords: &'static [&'static str],
    pub(super) category: &'static str,
}

/// Makes a tool from a closure. What goes wrong in it is told with all its causes: the outermost seldom says why.
pub(super) fn tool<A, F, Fut, T, E>(about: About, handler: F) -> BundledTool
where
    A: DeserializeOwned + JsonSchema + Send + 'static,
    F: Fn(A, CallContext) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = Result<T, E>> + Send + 'static,
    T: IntoToolOutput + 'static,
    E: Into<BoxError> + 'static,
{
    let handler = move |args: A, cx: CallContext| {
        let answer = handler(args, cx);
        async move { answer.await.map_err(|error| told(error.into())) }
    };
    let docs = ToolDocs {
        description: None,
        examples: vec![about.example.to_owned()],
        keywords: about.keywords.iter().map(|it| (*it).to_owned()).collect(),
        category: Some(about.category.to_owned()),
        returns: None,
    };
    let tool = tool_fn(about.name, about.description, handler).annotations(about.effect.annotations());
    BundledTool { tool: Arc::new(tool), docs }
}

/// Puts an error and all its causes into words; one that is for the surface to see stays what it is.
pub(super) fn told(error: BoxError) -> ToolError {
    let error = match error.downcast::<ToolError>() {
        Ok(error) => return *error,
        Err(error) => error,
    };
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        text = format!("{text}: {error}");
        cause = error.source();
    }
    ToolError::failed(text)
}
