//! One tool in the catalog, with what is derived from its spec once.

use std::fmt;
use std::sync::{Arc, OnceLock};

use onetool_core::validate::ArgumentError;
use onetool_core::{JsonObject, Tool, ToolName, ToolSpec};
use serde_json::Value;

use super::RegisterError;
use super::check::Check;
use super::listed::{listed_output, listed_schema};

/// Where a tool, resource or prompt comes from.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Source {
    /// It is one of the few tools that every client of the gateway sees, such as `run`.
    Surface,
    /// It belongs to the gateway itself, and is found like any other tool.
    Builtin,
    /// A program registered it.
    Code,
    /// The configuration declares it.
    Config,
    /// It belongs to a pack that the configuration names.
    Pack,
    /// It belongs to a pack that comes with onetool, and gives way to any other pack of that name.
    Bundled,
    /// Another MCP server offers it.
    Proxy(Arc<str>),
    /// An OpenAPI description offers it.
    OpenApi(Arc<str>),
}

impl Source {
    /// Tells whether a broken schema is the operator's own mistake, to be refused at once.
    ///
    /// Those of bundled packs are tested when onetool is, which keeps compiling them out of every start.
    fn is_checked_at_registration(&self) -> bool {
        matches!(self, Self::Surface | Self::Builtin | Self::Code | Self::Config | Self::Pack)
    }

    /// Tells whether it comes from outside this process, and may come and go.
    pub fn is_remote(&self) -> bool {
        matches!(self, Self::Proxy(_) | Self::OpenApi(_))
    }

    /// Tells whether the gateway itself registers it, and so may use the names that it keeps.
    pub(super) fn is_own(&self) -> bool {
        matches!(self, Self::Surface | Self::Builtin)
    }

    /// Returns whether a person registers its tools one by one, in code or in the configuration.
    ///
    /// Such a name is chosen, so one that is taken is an error; the names of packs, servers and APIs are as they are.
    pub(super) fn is_registration(&self) -> bool {
        matches!(self, Self::Surface | Self::Builtin | Self::Code | Self::Config)
    }

    /// Returns whether its tools take their names from those of servers and APIs.
    ///
    /// What the operator has here wins over what comes from outside, also if it comes later. A program that registers
    /// a tool is told that the name is taken.
    pub(super) fn wins_over_remote(&self) -> bool {
        matches!(self, Self::Config | Self::Pack | Self::Bundled)
    }

    /// Tells whether it stands on every client's list; what does not is found by search and called all the same.
    ///
    /// What is remote stands there only where nothing searches: in a server without the gateway's surface.
    pub(super) fn is_listed(&self) -> bool {
        matches!(self, Self::Surface | Self::Code | Self::Config)
    }
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Surface | Self::Builtin | Self::Code | Self::Config | Self::Pack | Self::Bundled => {
                f.write_str("local")
            }
            Self::Proxy(server) => write!(f, "proxy:{server}"),
            Self::OpenApi(api) => write!(f, "openapi:{api}"),
        }
    }
}

/// One tool in the catalog.
pub struct Entry {
    tool: Arc<dyn Tool>,
    flat_name: Arc<str>,
    source: Source,
    is_untrusted: bool,
    listed_schema: OnceLock<Arc<JsonObject>>,
    listed_output: OnceLock<Option<Arc<JsonObject>>>,
    arguments: Arc<Check>,
    /// Only our own tools are held to what they declare.
    output: Option<Arc<Check>>,
}

impl Entry {
    pub(super) fn new(
        tool: Arc<dyn Tool>,
        flat_name: Arc<str>,
        source: Source,
    ) -> Result<Self, RegisterError> {
        let spec = tool.spec();
        let arguments = Check::of_arguments(spec.input_schema.clone());
        let output = spec.output_schema.clone().filter(|_| !source.is_remote()).map(Check::of_output);
        if source.is_checked_at_registration() {
            if let Some(reason) = arguments.broken() {
                let (name, reason) = (spec.name.clone(), reason.to_owned());
                return Err(RegisterError::InvalidSchema { name, reason });
            }
            if let Some(reason) = output.as_ref().and_then(Check::broken) {
                let (name, reason) = (spec.name.clone(), reason.to_owned());
                return Err(RegisterError::InvalidOutputSchema { name, reason });
            }
        }
        Ok(Self {
            tool,
            flat_name,
            source,
            is_untrusted: false,
            listed_schema: OnceLock::new(),
            listed_output: OnceLock::new(),
            arguments: Arc::new(arguments),
            output: output.map(Arc::new),
        })
    }

    /// Notes that what it answers is to be marked as foreign.
    pub(super) fn untrusted(self, is_untrusted: bool) -> Self {
        Self { is_untrusted, ..self }
    }

    /// Returns the tool itself. Call it through [`Server::call`](crate::Server::call), which checks first.
    pub fn tool(&self) -> &Arc<dyn Tool> {
        &self.tool
    }

    /// Returns what the tool says of itself.
    pub fn spec(&self) -> &ToolSpec {
        self.tool.spec()
    }

    /// Returns the canonical name.
    pub fn name(&self) -> &ToolName {
        &self.spec().name
    }

    /// Returns the name under which MCP clients see it, unique in the catalog.
    pub fn flat_name(&self) -> &str {
        &self.flat_name
    }

    pub(super) fn shared_flat_name(&self) -> &Arc<str> {
        &self.flat_name
    }

    /// Makes the entry of the same tool under another flat name.
    pub(super) fn renamed(&self, flat_name: Arc<str>) -> Self {
        Self {
            tool: self.tool.clone(),
            flat_name,
            source: self.source.clone(),
            is_untrusted: self.is_untrusted,
            listed_schema: self.listed_schema.clone(),
            listed_output: self.listed_output.clone(),
            arguments: self.arguments.clone(),
            output: self.output.clone(),
        }
    }

    /// Returns where it comes from.
    pub fn source(&self) -> &Source {
        &self.source
    }

    /// Tells whether what it answers is marked as foreign, because the operator does not trust its source.
    pub fn is_untrusted(&self) -> bool {
        self.is_untrusted
    }

    /// Returns the input schema in the form that every client accepts.
    pub fn listed_schema(&self) -> &Arc<JsonObject> {
        self.listed_schema.get_or_init(|| listed_schema(self.spec().input_schema.shared()))
    }

    /// Returns the schema of its answers in the form that every client accepts, if it promises an object.
    pub fn listed_output(&self) -> Option<&Arc<JsonObject>> {
        let listed = || {
            let schema = self.spec().output_schema.as_ref()?;
            // Clients of older revisions reject the whole list for one schema that is no object's.
            let is_object = schema.get("type").is_some_and(|kind| kind == "object");
            is_object.then(|| listed_output(schema.shared(), &self.source))
        };
        self.listed_output.get_or_init(listed).as_ref()
    }

    /// Checks arguments as a call does, without calling the tool; returns what is wrong with them.
    pub async fn check_arguments(&self, args: JsonObject) -> Vec<ArgumentError> {
        self.arguments.check(Value::Object(args), None).await.1
    }

    /// Returns the check of its arguments.
    pub(crate) fn arguments(&self) -> &Check {
        &self.arguments
    }

    /// Returns the check of what it answers; only our own tools have one.
    pub(crate) fn output(&self) -> Option<&Check> {
        self.output.as_deref()
    }
}
