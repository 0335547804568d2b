//! The keys `servers` and `openapi` as written; the comments on the fields are the texts of the JSON Schema.

use indexmap::IndexMap;
use onetool_config::{FilePath, HttpUrl, NonEmpty, Seconds, Secret};
use onetool_core::ToolAnnotations;
use schemars::JsonSchema;
use serde::Deserialize;

/// Another MCP server: exactly one of `command` and `url`.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(super) struct UpstreamFile {
    /// The program to start; it speaks MCP over its standard input and output. A path is relative to this file.
    pub(super) command: Option<NonEmpty>,
    /// Its arguments.
    pub(super) args: Option<Vec<String>>,
    /// Its environment variables. It also gets `PATH`, `HOME` and the locale, and nothing else.
    pub(super) env: Option<IndexMap<String, String>>,
    /// Directory that it runs in. Default: the directory that onetool runs in.
    pub(super) cwd: Option<FilePath>,
    /// The address of a server that speaks streamable HTTP, instead of `command`.
    pub(super) url: Option<HttpUrl>,
    /// Headers of every request to it, such as `Authorization`.
    pub(super) headers: Option<IndexMap<String, String>>,
    /// Whether it is enabled.
    pub(super) enabled: bool,
    /// Time limit of a call in seconds.
    pub(super) timeout: Seconds,
    /// Time limit of an attempt to connect in seconds.
    pub(super) connect_timeout: Seconds,
    /// Whether to mark its results as foreign, so that a model does not take them for instructions.
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
    /// The description, OpenAPI 3.0 or 3.1 or Swagger 2.0: a file, relative to this one, or a URL.
    pub(super) spec: NonEmpty,
    /// Address of the API. Default: what the description says.
    pub(super) base_url: Option<HttpUrl>,
    /// Credentials.
    #[serde(default)]
    pub(super) auth: AuthFile,
    /// Headers of every request.
    #[serde(default)]
    pub(super) headers: IndexMap<String, Secret>,
    /// Only these operations.
    #[serde(default)]
    pub(super) include: FilterFile,
    /// Not these operations.
    #[serde(default)]
    pub(super) exclude: FilterFile,
    /// Whether to offer only operations that change nothing.
    #[serde(default)]
    pub(super) read_only: bool,
    /// Whether calls may reach private and loopback addresses other than that of `base_url`.
    #[serde(default)]
    pub(super) allow_private: bool,
    /// Changes to single operations, by operationId, or by `GET /path` for one without.
    #[serde(default)]
    pub(super) operations: IndexMap<String, OperationFile>,
    /// Whether it is enabled.
    #[serde(default = "yes")]
    pub(super) enabled: bool,
    /// Time limit of a call in seconds.
    #[serde(default = "default_timeout")]
    pub(super) timeout: Seconds,
    /// Whether to mark its results as foreign, so that a model does not take them for instructions.
    #[serde(default)]
    pub(super) untrusted: bool,
}

fn yes() -> bool {
    true
}

fn default_timeout() -> Seconds {
    Seconds::new(60)
}

/// Credentials: one for every security scheme that accepts it, or one for each scheme by name.
#[derive(Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(super) struct AuthFile {
    /// A token.
    pub(super) bearer: Option<Secret>,
    /// A user name and a password.
    pub(super) basic: Option<BasicFile>,
    /// A key, sent where the security scheme says.
    pub(super) api_key: Option<Secret>,
    /// An OAuth 2.0 client that gets its own tokens.
    pub(super) client_credentials: Option<ClientFile>,
    /// Credentials by the name of the security scheme in the description.
    pub(super) schemes: IndexMap<String, SchemeFile>,
}

/// The credential of one security scheme: exactly one of these.
#[derive(Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(super) struct SchemeFile {
    /// A token.
    pub(super) bearer: Option<Secret>,
    /// A user name and a password.
    pub(super) basic: Option<BasicFile>,
    /// A key, sent where the security scheme says.
    pub(super) api_key: Option<Secret>,
    /// An OAuth 2.0 client that gets its own tokens.
    pub(super) client_credentials: Option<ClientFile>,
}

/// A user name and a password.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct BasicFile {
    /// The user name.
    pub(super) username: String,
    /// The password.
    pub(super) password: Secret,
}

/// An OAuth 2.0 client.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ClientFile {
    /// Its identifier.
    pub(super) client_id: String,
    /// Its secret.
    pub(super) client_secret: Secret,
    /// Scopes to request. Default: those that the operation requires.
    #[serde(default)]
    pub(super) scopes: Vec<String>,
    /// Address that issues tokens. Default: what the description says.
    pub(super) token_url: Option<HttpUrl>,
}

/// A choice of operations.
#[derive(Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(super) struct FilterFile {
    /// Globs over operationIds and names of tools.
    pub(super) operations: Vec<String>,
    /// Tags.
    pub(super) tags: Vec<String>,
    /// Globs over paths.
    pub(super) paths: Vec<String>,
    /// HTTP methods.
    pub(super) methods: Vec<String>,
}

/// Changes to one operation.
#[derive(Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(super) struct OperationFile {
    /// Its name inside the pack.
    pub(super) name: Option<String>,
    /// Its description.
    pub(super) description: Option<String>,
    /// Hints about its effects, in addition to those that its method implies.
    pub(super) annotations: ToolAnnotations,
    /// Whether it is enabled.
    pub(super) enabled: Option<bool>,
}
