//! Packs: tools under one name, added to a server together.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::docs::ToolDocs;
use crate::tool::Tool;

/// A named group of tools.
///
/// ```
/// use onetool_core::{CallContext, JsonObject, Pack, tool_fn};
///
/// let hello = tool_fn("demo.hello", "Says hello.", |_: JsonObject, _: CallContext| async { "hello" });
/// let pack = Pack::new("demo").with_description("Greetings.").with_tool(hello);
/// assert_eq!(pack.tools.len(), 1);
/// ```
#[derive(Clone)]
#[non_exhaustive]
pub struct Pack {
    /// The name, which is also the first part of its tools' names.
    pub name: Arc<str>,
    /// What the tools are for.
    pub description: Option<String>,
    /// The tools.
    pub tools: Vec<Arc<dyn Tool>>,
    /// More about the tools, by canonical name.
    pub docs: Vec<(String, ToolDocs)>,
    /// Whether the tools belong to another program, such as an API. The server then does not fill in defaults, and
    /// output schemas describe results without rejecting any.
    pub is_external: bool,
}

impl Pack {
    /// Creates an empty pack.
    pub fn new(name: impl Into<Arc<str>>) -> Self {
        Self { name: name.into(), description: None, tools: Vec::new(), docs: Vec::new(), is_external: false }
    }

    /// Sets what the tools are for.
    #[must_use]
    pub fn with_description(mut self, description: impl Into<String>) -> Self {
        self.description = Some(description.into());
        self
    }

    /// Adds a tool.
    #[must_use]
    pub fn with_tool(mut self, tool: impl Tool) -> Self {
        self.tools.push(Arc::new(tool));
        self
    }

    /// Adds a tool with more about it.
    #[must_use]
    pub fn with_documented_tool(mut self, tool: Arc<dyn Tool>, docs: ToolDocs) -> Self {
        self.docs.push((tool.spec().name.to_string(), docs));
        self.tools.push(tool);
        self
    }
}

/// A pack that could not be loaded.
///
/// ```
/// use onetool_core::PackError;
///
/// let error = PackError::new("demo", "packs/demo.py", Some(3), "invalid syntax");
/// assert_eq!(error.to_string(), "packs/demo.py:3: invalid syntax");
/// ```
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub struct PackError {
    /// The pack.
    pub name: String,
    /// The file that defines it, or the pattern that should match one.
    pub path: PathBuf,
    /// The line, counted from 1, if the problem is on one.
    pub line: Option<u32>,
    /// What is wrong.
    pub reason: String,
}

impl PackError {
    /// Makes the error for the pack `name`, defined in the file `path`.
    pub fn new(
        name: impl Into<String>,
        path: impl Into<PathBuf>,
        line: Option<u32>,
        reason: impl Into<String>,
    ) -> Self {
        Self { name: name.into(), path: path.into(), line, reason: reason.into() }
    }

    /// Makes the error for a file that is a pack named after it.
    pub fn from_file(path: &Path, line: Option<u32>, reason: impl Into<String>) -> Self {
        let name = path.file_stem().map_or_else(String::new, |stem| stem.to_string_lossy().into_owned());
        Self::new(name, path, line, reason)
    }
}

impl fmt::Display for PackError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.path.display())?;
        if let Some(line) = self.line {
            write!(f, ":{line}")?;
        }
        write!(f, ": {}", self.reason)
    }
}
