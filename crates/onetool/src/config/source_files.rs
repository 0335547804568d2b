//! The keys `servers` and `openapi` as written. Doc comments on the fields become descriptions in the JSON Schema.

use indexmap::IndexMap;
use onetool_config::{FilePath, HttpUrl, NonEmpty, Seconds, Secret};
use onetool_core::ToolAnnotations;
use schemars::JsonSchema;
use serde::Deserialize;

/// Another MCP server: exactly one of `command` and `url`.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(super) struct UpstreamFile {
    /// Program that speaks MCP over its standard input and output. A program with a `/` is a path relative to the
    /// configuration file; others are looked up in `PATH`.
    pub(super) command: Option<NonEmpty>,
    /// Arguments of the program.
    pub(super) args: Option<Vec<String>>,
    /// Environment variables of the program. It inherits only `PATH`, `HOME` and the locale.
    pub(super) env: Option<IndexMap<String, String>>,
    /// Working directory of the program. Default: the working directory of onetool.
    pub(super) cwd: Option<FilePath>,
    /// URL of a server that speaks streamable HTTP or the older HTTP+SSE, instead of `command`.
    pub(super) url: Option<HttpUrl>,
    /// Headers to send with every request, such as `Authorization`. Credentials over plain http to another host are
    /// refused.
    pub(super) headers: Option<IndexMap<String, String>>,
    /// Whether the server is enabled.
    pub(super) enabled: bool,
    /// Time limit of a call in seconds.
    pub(super) timeout: Seconds,
    /// Time limit of a connection attempt in seconds.
    pub(super) connect_timeout: Seconds,
    /// Whether to mark its results, resources and prompts as untrusted, so that a model does not take them for
    /// instructions.
    pub(super) untrusted: bool,
}

impl Default for UpstreamFile {
    fn default() -> Self {
        Self {
            command: None,
            args: None,
            env: None,
            cwd: None,
            url: None,
            headers: None,
            enabled: true,
            timeout: Seconds::new(60),
            connect_timeout: Seconds::new(60),
            untrusted: false,
        }
    }
}

/// An API with an OpenAPI description.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ApiFile {
    /// The description (OpenAPI 3.0 or 3.1, or Swagger 2.0): a path relative to the configuration file, or a URL.
    pub(super) spec: NonEmpty,
    /// URL of the API. Required with credentials if `spec` is a URL and names a server on another origin. Default: the
    /// first server in the description.
    pub(super) base_url: Option<HttpUrl>,
    /// Credentials.
    #[serde(default)]
    pub(super) auth: AuthFile,
    /// Headers to send with every request.
    #[serde(default)]
    pub(super) headers: IndexMap<String, Secret>,
    /// Operations to use: those that match every list that is set.
    #[serde(default)]
    pub(super) include: FilterFile,
    /// Operations to skip: those that match any list. It has the keys of `include`.
    #[serde(default)]
    pub(super) exclude: FilterFile,
    /// Whether to use only operations that change nothing.
    #[serde(default)]
    pub(super) read_only: bool,
    /// Whether calls may reach private and loopback addresses other than those in `base_url` and the `spec` URL.
    #[serde(default)]
    pub(super) allow_private: bool,
    /// Changes to operations, by `operationId`, or by `GET /path` if it has none.
    #[serde(default)]
    pub(super) operations: IndexMap<String, OperationFile>,
    /// Whether the API is enabled.
    #[serde(default = "yes")]
    pub(super) enabled: bool,
    /// Time limit of a call in seconds.
    #[serde(default = "default_timeout")]
    pub(super) timeout: Seconds,
    /// Whether to mark its results as untrusted, so that a model does not take them for instructions.
    #[serde(default)]
    pub(super) untrusted: bool,
}

fn yes() -> bool {
    true
}

fn default_timeout() -> Seconds {
    Seconds::new(60)
}

/// Credentials: one for all security schemes, or one per scheme, by name.
#[derive(Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(super) struct AuthFile {
    /// Bearer token.
    pub(super) bearer: Option<Secret>,
    /// User name and password.
    pub(super) basic: Option<BasicFile>,
    /// API key, sent where the security scheme says.
    pub(super) api_key: Option<Secret>,
    /// OAuth 2.0 client that requests its own tokens.
    pub(super) client_credentials: Option<ClientFile>,
    /// Credentials per security scheme, by its name in the description. Each has one of the keys above.
    pub(super) schemes: IndexMap<String, SchemeFile>,
}

/// The credentials of one security scheme: exactly one of these.
#[derive(Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(super) struct SchemeFile {
    /// Bearer token.
    pub(super) bearer: Option<Secret>,
    /// User name and password.
    pub(super) basic: Option<BasicFile>,
    /// API key, sent where the security scheme says.
    pub(super) api_key: Option<Secret>,
    /// OAuth 2.0 client that requests its own tokens.
    pub(super) client_credentials: Option<ClientFile>,
}

/// User name and password.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct BasicFile {
    /// User name.
    pub(super) username: String,
    /// Password.
    pub(super) password: Secret,
}

/// An OAuth 2.0 client.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ClientFile {
    /// Client identifier.
    pub(super) client_id: String,
    /// Client secret.
    pub(super) client_secret: Secret,
    /// Scopes to request. Default: those that the operation requires.
    #[serde(default)]
    pub(super) scopes: Vec<String>,
    /// URL of the token endpoint. Default: the one in the description.
    pub(super) token_url: Option<HttpUrl>,
}

/// A filter for operations.
#[derive(Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(super) struct FilterFile {
    /// Globs that match an `operationId` or the name of a tool.
    pub(super) operations: Vec<String>,
    /// Tags.
    pub(super) tags: Vec<String>,
    /// Globs that match a path.
    pub(super) paths: Vec<String>,
    /// HTTP methods.
    pub(super) methods: Vec<String>,
}

/// Changes to one operation.
#[derive(Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(super) struct OperationFile {
    /// Name in the pack.
    pub(super) name: Option<String>,
    /// Description.
    pub(super) description: Option<String>,
    /// Hints about its effects, in addition to those that its method implies.
    pub(super) annotations: ToolAnnotations,
    /// Whether the operation is a tool. Default: true.
    pub(super) enabled: Option<bool>,
}
