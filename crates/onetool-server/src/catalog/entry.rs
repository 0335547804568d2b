//! One tool in the catalog, with values derived from its description.

use std::fmt;
use std::sync::{Arc, OnceLock};

use onetool_core::validate::ArgumentError;
use onetool_core::{JsonObject, Tool, ToolName, ToolSpec};
use serde_json::Value;

use super::RegisterError;
use super::check::Check;
use super::listed::{descriptive_output, listed_output, listed_schema};

/// The source of a tool, resource or prompt.
///
/// ```
/// use onetool_server::Source;
///
/// assert!(Source::Proxy("github".into()).is_remote());
/// assert_eq!(Source::Code.to_string(), "local");
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Source {
    /// The gateway itself, for the few tools that every client sees, such as `run`.
    Surface,
    /// The gateway itself, for tools that are found by search like any other.
    Builtin,
    /// Code that registered it.
    Code,
    /// The configuration.
    Config,
    /// A pack that the configuration names.
    Pack,
    /// A pack that is bundled with onetool; any other pack of the same name replaces it.
    Bundled,
    /// Another MCP server.
    Proxy(Arc<str>),
    /// An API with an OpenAPI description.
    OpenApi(Arc<str>),
}

impl Source {
    /// Returns whether to reject an invalid schema at registration, because it is the operator's own mistake.
    ///
    /// The schemas of bundled packs are checked by onetool's tests instead, so that a start does not compile them.
    fn is_checked_at_registration(&self) -> bool {
        matches!(self, Self::Surface | Self::Builtin | Self::Code | Self::Config | Self::Pack)
    }

    /// Returns whether it is outside this process, so that its tools may change at any time.
    pub fn is_remote(&self) -> bool {
        matches!(self, Self::Proxy(_) | Self::OpenApi(_))
    }

    /// Returns whether it is the gateway itself, which may use reserved names.
    pub(super) fn is_gateway(&self) -> bool {
        matches!(self, Self::Surface | Self::Builtin)
    }

    /// Returns whether its tools are registered one by one, in code or in the configuration.
    ///
    /// The operator chooses these names, so a duplicate is an error. Names from packs, servers and APIs cannot be chosen.
    pub(super) fn is_registration(&self) -> bool {
        matches!(self, Self::Surface | Self::Builtin | Self::Code | Self::Config)
    }

    /// Returns whether its tools take precedence over tools of servers and APIs with the same name, even if they are
    /// added later. Code that registers a tool gets an error instead.
    pub(super) fn wins_over_remote(&self) -> bool {
        matches!(self, Self::Config | Self::Pack | Self::Bundled)
    }

    /// Returns whether its tools are on every client's list. Other tools are found by search, and can be called, too.
    ///
    /// Remote tools are listed only by a server without the gateway's surface, where there is no search.
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

/// A tool in the catalog.
///
/// ```
/// # use onetool_server::{CallContext, JsonObject, Server, tool_fn};
/// # let hello = tool_fn("demo.hello", "Says hello.", |(): (), _: CallContext| async { "hello" });
/// let server = Server::builder().extra_tools([hello]).build()?;
/// let catalog = server.catalog();
/// let entry = catalog.get("demo.hello").expect("it was added");
/// assert_eq!((entry.flat_name(), entry.spec().description.as_str()), ("demo_hello", "Says hello."));
/// # Ok::<(), onetool_server::RegisterError>(())
/// ```
pub struct Entry {
    tool: Arc<dyn Tool>,
    flat_name: Arc<str>,
    source: Source,
    is_untrusted: bool,
    listed_schema: OnceLock<Arc<JsonObject>>,
    listed_output: OnceLock<Option<Arc<JsonObject>>>,
    arguments: Arc<Check>,
    /// `None` for remote tools, whose output is not validated.
    output: Option<Arc<Check>>,
}

impl Entry {
    pub(super) fn new(
        tool: Arc<dyn Tool>,
        flat_name: Arc<str>,
        source: Source,
    ) -> Result<Self, RegisterError> {
        let spec = tool.spec();
        let arguments = Check::for_arguments(spec.input_schema.clone());
        let output = spec.output_schema.clone().filter(|_| !source.is_remote()).map(Check::for_output);
        if source.is_checked_at_registration() {
            if let Some(reason) = arguments.schema_error() {
                let (name, reason) = (spec.name.clone(), reason.to_owned());
                return Err(RegisterError::InvalidSchema { name, reason });
            }
            if let Some(reason) = output.as_ref().and_then(Check::schema_error) {
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

    /// Sets whether its output is marked as external content.
    pub(super) fn with_untrusted(self, is_untrusted: bool) -> Self {
        Self { is_untrusted, ..self }
    }

    /// Returns the tool. Call it with [`Server::call`](crate::Server::call), which validates the arguments.
    pub fn tool(&self) -> &Arc<dyn Tool> {
        &self.tool
    }

    /// Returns the tool's description for clients.
    pub fn spec(&self) -> &ToolSpec {
        self.tool.spec()
    }

    /// Returns the canonical name.
    pub fn name(&self) -> &ToolName {
        &self.spec().name
    }

    /// Returns the name that MCP clients see; it is unique in the catalog.
    pub fn flat_name(&self) -> &str {
        &self.flat_name
    }

    pub(super) fn shared_flat_name(&self) -> &Arc<str> {
        &self.flat_name
    }

    /// Creates an entry for the same tool with another flat name.
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

    /// Returns the source of the tool.
    pub fn source(&self) -> &Source {
        &self.source
    }

    /// Returns whether its output is marked as external content, because the operator does not trust the source.
    pub fn is_untrusted(&self) -> bool {
        self.is_untrusted
    }

    /// Returns the input schema in a form that every client accepts.
    pub fn listed_schema(&self) -> &Arc<JsonObject> {
        self.listed_schema.get_or_init(|| listed_schema(self.spec().input_schema.shared()))
    }

    /// Returns the output schema in a form that every client accepts, if it describes an object.
    pub fn listed_output(&self) -> Option<&Arc<JsonObject>> {
        let listed = || {
            let schema = self.spec().output_schema.as_ref()?;
            // Clients of older revisions reject the whole list if one schema does not describe an object.
            let is_object = schema.get("type").is_some_and(|kind| kind == "object");
            is_object.then(|| match self.source {
                Source::OpenApi(_) => descriptive_output(schema.shared()),
                _ => listed_output(schema.shared()),
            })
        };
        self.listed_output.get_or_init(listed).as_ref()
    }

    /// Validates arguments as a call does, without calling the tool, and returns their errors.
    pub async fn check_arguments(&self, args: JsonObject) -> Vec<ArgumentError> {
        self.arguments.check(Value::Object(args), None).await.1
    }

    /// Returns the check of the arguments.
    pub(crate) fn arguments(&self) -> &Check {
        &self.arguments
    }

    /// Returns the check of the output; remote tools have none.
    pub(crate) fn output(&self) -> Option<&Check> {
        self.output.as_deref()
    }
}
