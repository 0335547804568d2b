//! What the operator decides about an API: where it is, who calls it, which operations become tools.

use std::fmt;
use std::time::Duration;

use indexmap::IndexMap;
use onetool_core::{ToolAnnotations, matches_wildcard};
use serde::{Deserialize, Serialize};
use url::Url;

/// How one API is turned into a pack of tools.
///
/// ```
/// use onetool_openapi::{ApiOptions, Auth, Credential};
///
/// let mut options = ApiOptions::new("github");
/// options.auth = Auth::of(Credential::Bearer("ghp_…".into()));
/// options.include.tags = vec!["issues".into()];
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct ApiOptions {
    /// The pack that the tools belong to.
    pub name: String,
    /// Where the API is; without it, what the description says under `servers`.
    ///
    /// It takes the place of every server that the description names, also of those of single paths and operations;
    /// what their paths add to that of the first server stays.
    pub base_url: Option<Url>,
    /// Who calls.
    pub auth: Auth,
    /// Headers of every request, such as a version; their values are treated as secrets.
    pub headers: IndexMap<String, Secret>,
    /// Only these operations; an empty filter stands for all.
    pub include: Filter,
    /// Not these operations, even if they are included.
    pub exclude: Filter,
    /// Only operations that change nothing: GET and HEAD, and what [`OperationOverride::annotations`] calls read-only.
    pub read_only: bool,
    /// Lets calls reach loopback, private and link-local addresses. One that `base_url` or the description's own URL
    /// names is reached without it.
    pub allow_private: bool,
    /// Changes to single operations, by operationId, or by `GET /path` where there is none.
    pub operations: IndexMap<String, OperationOverride>,
    /// How long a call may take.
    pub timeout: Duration,
    /// How large things may be.
    pub limits: Limits,
}

impl ApiOptions {
    /// Makes options that turn every operation into a tool of the pack `name`.
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

/// The options on which the plan of a description depends. There is no secret among them.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct PlanOptions {
    pub(crate) name: String,
    pub(crate) include: Filter,
    pub(crate) exclude: Filter,
    pub(crate) read_only: bool,
    pub(crate) operations: IndexMap<String, OperationOverride>,
    /// Whether servers that cannot be used do not matter.
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

/// How large documents and answers may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of a description, and of each document that it refers to.
    pub document_bytes: usize,
    /// Documents that a description may refer to.
    pub documents: usize,
    /// Bytes of an answer, after decompression.
    pub answer_bytes: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { document_bytes: 64 << 20, documents: 64, answer_bytes: 100 << 20 }
    }
}

/// A choice of operations.
///
/// For [`ApiOptions::include`] an operation has to match every list that is not empty; for [`ApiOptions::exclude`]
/// one list is enough.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Filter {
    /// Globs (`*`, `?`) over operationIds and the names of tools.
    pub operations: Vec<String>,
    /// Tags, exactly.
    pub tags: Vec<String>,
    /// Globs over paths; a `*` also stands for slashes.
    pub paths: Vec<String>,
    /// Methods, in any case.
    pub methods: Vec<String>,
}

/// What a filter looks at.
pub(crate) struct Candidate<'a> {
    pub(crate) id: &'a str,
    pub(crate) name: &'a str,
    pub(crate) tags: &'a [String],
    pub(crate) path: &'a str,
    pub(crate) method: &'a str,
}

impl Filter {
    pub(crate) fn includes(&self, it: &Candidate<'_>) -> bool {
        self.lists(it).into_iter().all(|(is_empty, matches)| is_empty || matches)
    }

    pub(crate) fn excludes(&self, it: &Candidate<'_>) -> bool {
        self.lists(it).into_iter().any(|(_, matches)| matches)
    }

    /// For each list: whether it is empty, and whether the operation matches it.
    fn lists(&self, it: &Candidate<'_>) -> [(bool, bool); 4] {
        let named =
            |glob: &String| matches_wildcard(glob, it.id, None) || matches_wildcard(glob, it.name, None);
        [
            (self.operations.is_empty(), self.operations.iter().any(named)),
            (self.tags.is_empty(), self.tags.iter().any(|tag| it.tags.contains(tag))),
            (self.paths.is_empty(), self.paths.iter().any(|glob| matches_wildcard(glob, it.path, None))),
            (self.methods.is_empty(), self.methods.iter().any(|one| one.eq_ignore_ascii_case(it.method))),
        ]
    }
}

/// Changes to one operation. What is `None` stays as the description has it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct OperationOverride {
    /// The name inside the pack.
    pub name: Option<String>,
    /// The description.
    pub description: Option<String>,
    /// Hints; those that are set replace the ones that the method gives.
    pub annotations: ToolAnnotations,
    /// `false` leaves the operation out.
    pub enabled: Option<bool>,
}

/// Credentials of an API.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Auth {
    /// The credential for every security scheme that it fits, and for operations that name none.
    pub any: Option<Credential>,
    /// Credentials by the name of the security scheme in the description; they win over `any`.
    pub schemes: IndexMap<String, Credential>,
}

impl Auth {
    /// Makes the credentials of an API that needs only one.
    pub fn of(credential: Credential) -> Self {
        Self { any: Some(credential), schemes: IndexMap::new() }
    }

    /// Tells whether there is no credential at all.
    pub fn is_empty(&self) -> bool {
        self.any.is_none() && self.schemes.is_empty()
    }

    pub(crate) fn all(&self) -> impl Iterator<Item = &Credential> {
        self.any.iter().chain(self.schemes.values())
    }
}

/// One credential.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Credential {
    /// A token, sent as `Authorization: Bearer`.
    Bearer(Secret),
    /// A user and a password, sent as `Authorization: Basic`.
    Basic {
        /// The user.
        username: String,
        /// The password.
        password: Secret,
    },
    /// A key, sent in the header, query or cookie that the security scheme names.
    ApiKey(Secret),
    /// An OAuth2 client that gets its own tokens.
    ClientCredentials {
        /// The client's identifier.
        client_id: String,
        /// The client's secret.
        client_secret: Secret,
        /// Scopes to ask for; empty for those that the operation's security requirement lists.
        scopes: Vec<String>,
        /// Where tokens are; without it, what the security scheme says.
        token_url: Option<Url>,
    },
}

/// A value that debug output does not show.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    /// Returns the value, for the one place that has to send it.
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl From<String> for Secret {
    fn from(value: String) -> Self {
        Self(value)
    }
}

impl From<&str> for Secret {
    fn from(value: &str) -> Self {
        Self(value.to_owned())
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("[redacted]")
    }
}
