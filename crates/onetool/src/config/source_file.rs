//! Other MCP servers and OpenAPI descriptions as written; the comments on the fields are the texts of the JSON Schema.

use indexmap::IndexMap;
use onetool_core::ToolAnnotations;
use schemars::JsonSchema;
use serde::Deserialize;

/// Another MCP server: exactly one of `command` and `url`.
#[derive(Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default, expecting = "a map")]
pub(super) struct UpstreamFile {
    /// The program to start; MCP is spoken over its standard input and output. A path is relative to this file.
    pub(super) command: Option<String>,
    /// Its arguments.
    pub(super) args: Option<Vec<String>>,
    /// Its own environment variables; beside them it gets only `PATH`, `HOME` and the locale.
    pub(super) env: Option<IndexMap<String, String>>,
    /// Where it runs; the directory that onetool runs in if missing.
    pub(super) cwd: Option<String>,
    /// The address of a server that speaks streamable HTTP, instead of `command`.
    pub(super) url: Option<String>,
    /// Headers of every request to it, such as `Authorization`.
    pub(super) headers: Option<IndexMap<String, String>>,
    /// Whether it is used; true if missing.
    pub(super) enabled: Option<bool>,
    /// After how many seconds a call is given up; 60 if missing.
    #[schemars(extend("exclusiveMinimum" = 0, "maximum" = 86400))]
    pub(super) timeout: Option<f64>,
    /// After how many seconds an attempt to connect is given up; 30 if missing.
    #[schemars(extend("exclusiveMinimum" = 0, "maximum" = 86400))]
    pub(super) connect_timeout: Option<f64>,
    /// Whether its answers are marked as foreign, so that a model does not take them for instructions; false if
    /// missing.
    pub(super) untrusted: Option<bool>,
}

/// An API with an OpenAPI description.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "a map")]
pub(super) struct ApiFile {
    /// The description, OpenAPI 3.0 or 3.1 or Swagger 2.0: a file, relative to this one, or a URL.
    pub(super) spec: String,
    /// Where the API is; what the description says if missing.
    pub(super) base_url: Option<String>,
    /// Who calls.
    pub(super) auth: Option<AuthFile>,
    /// Headers of every request.
    pub(super) headers: Option<IndexMap<String, String>>,
    /// Only these operations.
    pub(super) include: Option<FilterFile>,
    /// Not these operations.
    pub(super) exclude: Option<FilterFile>,
    /// Whether only operations are taken that change nothing; false if missing.
    pub(super) read_only: Option<bool>,
    /// Whether calls may reach private and loopback addresses that `base_url` does not name; false if missing.
    pub(super) allow_private: Option<bool>,
    /// Changes to single operations, by operationId, or by `GET /path` where there is none.
    pub(super) operations: Option<IndexMap<String, OperationFile>>,
    /// Whether it is used; true if missing.
    pub(super) enabled: Option<bool>,
    /// After how many seconds a call is given up; 60 if missing.
    #[schemars(extend("exclusiveMinimum" = 0, "maximum" = 86400))]
    pub(super) timeout: Option<f64>,
    /// Whether its answers are marked as foreign; false if missing.
    pub(super) untrusted: Option<bool>,
}

/// Credentials: one for every security scheme that it fits, or one for each by its name.
#[derive(Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default, expecting = "a map")]
pub(super) struct AuthFile {
    /// A token.
    pub(super) bearer: Option<String>,
    /// A user and a password.
    pub(super) basic: Option<BasicFile>,
    /// A key, sent where the security scheme says.
    pub(super) api_key: Option<String>,
    /// An OAuth2 client that gets its own tokens.
    pub(super) client_credentials: Option<ClientFile>,
    /// Credentials by the name of the security scheme in the description.
    pub(super) schemes: Option<IndexMap<String, SchemeFile>>,
}

/// The credential of one security scheme: exactly one of these.
#[derive(Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default, expecting = "a map")]
pub(super) struct SchemeFile {
    /// A token.
    pub(super) bearer: Option<String>,
    /// A user and a password.
    pub(super) basic: Option<BasicFile>,
    /// A key, sent where the security scheme says.
    pub(super) api_key: Option<String>,
    /// An OAuth2 client that gets its own tokens.
    pub(super) client_credentials: Option<ClientFile>,
}

/// A user and a password.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "a map")]
pub(super) struct BasicFile {
    /// The user.
    pub(super) username: String,
    /// The password.
    pub(super) password: String,
}

/// An OAuth2 client.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "a map")]
pub(super) struct ClientFile {
    /// Its identifier.
    pub(super) client_id: String,
    /// Its secret.
    pub(super) client_secret: String,
    /// Scopes to ask for; those that the operation needs if missing.
    pub(super) scopes: Option<Vec<String>>,
    /// Where tokens are; what the description says if missing.
    pub(super) token_url: Option<String>,
}

/// A choice of operations.
#[derive(Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default, expecting = "a map")]
pub(super) struct FilterFile {
    /// Globs over operationIds and names of tools.
    pub(super) operations: Option<Vec<String>>,
    /// Tags.
    pub(super) tags: Option<Vec<String>>,
    /// Globs over paths.
    pub(super) paths: Option<Vec<String>>,
    /// HTTP methods.
    pub(super) methods: Option<Vec<String>>,
}

/// Changes to one operation.
#[derive(Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default, expecting = "a map")]
pub(super) struct OperationFile {
    /// Its name inside the pack.
    pub(super) name: Option<String>,
    /// Its description.
    pub(super) description: Option<String>,
    /// Hints about its effects, beside those that its method gives.
    pub(super) annotations: Option<ToolAnnotations>,
    /// Whether it is there; true if missing.
    pub(super) enabled: Option<bool>,
}
