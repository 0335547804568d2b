//! Options for an API: its URL, its credentials, and which operations become tools.

use std::time::Duration;

use indexmap::IndexMap;
use onetool_core::{Secret, ToolAnnotations, matches_wildcard};
use serde::{Deserialize, Serialize};
use url::Url;

/// Options for turning one API into a pack of tools.
///
/// ```
/// use onetool_openapi::{ApiOptions, Credential};
///
/// let mut options = ApiOptions::new("github");
/// options.auth = Credential::Bearer("ghp_…".into()).into();
/// options.include.tags = vec!["issues".into()];
/// ```
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct ApiOptions {
    /// The pack that the tools belong to.
    pub name: String,
    /// The URL of the API; default: the description's first server.
    ///
    /// It replaces every server in the description, including those of individual paths and operations. If the path of
    /// such a server extends the path of the first server, the extension is kept.
    pub base_url: Option<Url>,
    /// The credentials to send.
    pub auth: Auth,
    /// Headers to send with every request, such as a version. Their values are treated as secrets.
    pub headers: IndexMap<String, Secret>,
    /// Operations to include; an empty filter includes all.
    pub include: Filter,
    /// Operations to exclude, even if they are included.
    pub exclude: Filter,
    /// Includes only operations that change nothing: GET and HEAD, and those that [`OperationOverride::annotations`]
    /// marks as read-only.
    pub read_only: bool,
    /// Allows calls to loopback, private and link-local addresses. The addresses in `base_url` and in the URL of the
    /// description are always allowed.
    pub allow_private: bool,
    /// Overrides for individual operations, by operationId, or by `GET /path` for operations without one.
    pub operations: IndexMap<String, OperationOverride>,
    /// The timeout of a call.
    pub timeout: Duration,
    /// Size limits.
    pub limits: Limits,
}

impl ApiOptions {
    /// Creates options that turn every operation into a tool of the pack `name`.
    pub fn new(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            base_url: None,
            auth: Auth::default(),
            headers: IndexMap::new(),
            include: Filter::default(),
            exclude: Filter::default(),
            read_only: false,
            allow_private: false,
            operations: IndexMap::new(),
            timeout: Duration::from_mins(1),
            limits: Limits::default(),
        }
    }
}

/// The options that the plan of a description depends on. They contain no secrets.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct PlanOptions {
    pub(crate) name: String,
    pub(crate) include: Filter,
    pub(crate) exclude: Filter,
    pub(crate) read_only: bool,
    pub(crate) operations: IndexMap<String, OperationOverride>,
    /// Whether `base_url` is set, so that an invalid server in the description does not matter.
    pub(crate) has_base_url: bool,
}

impl From<&ApiOptions> for PlanOptions {
    fn from(options: &ApiOptions) -> Self {
        Self {
            name: options.name.clone(),
            include: options.include.clone(),
            exclude: options.exclude.clone(),
            read_only: options.read_only,
            operations: options.operations.clone(),
            has_base_url: options.base_url.is_some(),
        }
    }
}

/// Size limits for documents and responses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Limits {
    /// Maximum size of a description, and of each document it refers to.
    pub document_bytes: usize,
    /// Maximum number of documents that a description may refer to.
    pub documents: usize,
    /// Maximum size of a response, after decompression.
    pub response_bytes: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { document_bytes: 64 << 20, documents: 64, response_bytes: 100 << 20 }
    }
}

/// Selects operations.
///
/// In [`ApiOptions::include`], an operation must match every non-empty list. In [`ApiOptions::exclude`], it needs to
/// match only one list.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Filter {
    /// Globs (`*`, `?`) for operationIds and tool names.
    pub operations: Vec<String>,
    /// Exact tags.
    pub tags: Vec<String>,
    /// Globs for paths; `*` also matches slashes.
    pub paths: Vec<String>,
    /// Methods, ignoring case.
    pub methods: Vec<String>,
}

/// The properties of an operation that a filter can match.
pub(crate) struct Candidate<'a> {
    pub(crate) id: &'a str,
    pub(crate) name: &'a str,
    pub(crate) tags: &'a [String],
    pub(crate) path: &'a str,
    pub(crate) method: &'a str,
}

impl Filter {
    pub(crate) fn includes(&self, candidate: &Candidate<'_>) -> bool {
        self.matches(candidate).into_iter().all(|(is_empty, matches)| is_empty || matches)
    }

    pub(crate) fn excludes(&self, candidate: &Candidate<'_>) -> bool {
        self.matches(candidate).into_iter().any(|(_, matches)| matches)
    }

    /// Returns, for each list, whether it is empty and whether the operation matches it.
    fn matches(&self, candidate: &Candidate<'_>) -> [(bool, bool); 4] {
        let Candidate { id, name, tags, path, method } = candidate;
        let is_named = |glob: &String| matches_wildcard(glob, id, None) || matches_wildcard(glob, name, None);
        [
            (self.operations.is_empty(), self.operations.iter().any(is_named)),
            (self.tags.is_empty(), self.tags.iter().any(|tag| tags.contains(tag))),
            (self.paths.is_empty(), self.paths.iter().any(|glob| matches_wildcard(glob, path, None))),
            (self.methods.is_empty(), self.methods.iter().any(|it| it.eq_ignore_ascii_case(method))),
        ]
    }
}

/// Overrides for one operation. Fields that are `None` keep the description's value.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct OperationOverride {
    /// The name inside the pack.
    pub name: Option<String>,
    /// The description of the tool.
    pub description: Option<String>,
    /// Hints; those that are set replace the defaults for the method.
    pub annotations: ToolAnnotations,
    /// `false` disables the operation.
    pub enabled: Option<bool>,
}

/// The credentials of an API.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Auth {
    /// The credential for every security scheme that can use it, and for operations that name no scheme.
    pub default: Option<Credential>,
    /// Credentials by the name of the security scheme in the description; they take precedence over `default`.
    pub schemes: IndexMap<String, Credential>,
}

impl Auth {
    /// Returns whether there are no credentials.
    pub fn is_empty(&self) -> bool {
        self.default.is_none() && self.schemes.is_empty()
    }

    pub(crate) fn all(&self) -> impl Iterator<Item = &Credential> {
        self.default.iter().chain(self.schemes.values())
    }
}

impl From<Credential> for Auth {
    fn from(credential: Credential) -> Self {
        Self { default: Some(credential), schemes: IndexMap::new() }
    }
}

/// One credential.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Credential {
    /// A token, sent as `Authorization: Bearer`.
    Bearer(Secret),
    /// A username and a password, sent as `Authorization: Basic`.
    Basic {
        /// The username.
        username: String,
        /// The password.
        password: Secret,
    },
    /// A key, sent in the header, query or cookie that the security scheme names.
    ApiKey(Secret),
    /// An OAuth2 client, whose tokens are fetched with the client credentials grant.
    ClientCredentials {
        /// The client's identifier.
        client_id: String,
        /// The client's secret.
        client_secret: Secret,
        /// The scopes to request; if empty, those that the operation's security requirement lists.
        scopes: Vec<String>,
        /// The URL that issues tokens; default: the one in the security scheme.
        token_url: Option<Url>,
    },
}
