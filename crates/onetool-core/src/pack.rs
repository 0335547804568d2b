//! Packs: tools under one name, which a server takes as a whole.

use std::sync::Arc;

use crate::Tool;

/// Tools under one name.
///
/// ```
/// use onetool_core::{CallContext, JsonObject, Pack, tool_fn};
///
/// let hello = tool_fn("demo.hello", "Says hello.", |_: JsonObject, _: CallContext| async { "hello" });
/// let pack = Pack::new("demo").with_tool(hello);
/// assert_eq!(pack.tools.len(), 1);
/// ```
#[derive(Clone)]
#[non_exhaustive]
pub struct Pack {
    /// The name, with which the names of its tools begin.
    pub name: Arc<str>,
    /// What its tools are for.
    pub description: Option<String>,
    /// The tools.
    pub tools: Vec<Arc<dyn Tool>>,
    /// Whether the tools belong to another program, such as an API. Then defaults are not filled in, and output schemas
    /// only describe: it is up to that program to keep its promises.
    pub is_foreign: bool,
}

impl Pack {
    /// Makes an empty pack.
    pub fn new(name: impl Into<Arc<str>>) -> Self {
        Self { name: name.into(), description: None, tools: Vec::new(), is_foreign: false }
    }

    /// Adds a tool.
    #[must_use]
    pub fn with_tool(mut self, tool: impl Tool) -> Self {
        self.tools.push(Arc::new(tool));
        self
    }
}
