//! The packs that come with onetool, as meant.

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use indexmap::IndexMap;
use url::Url;

use super::{Location, Secret};

/// The packs that come with onetool; `None` is a pack that is not there.
#[derive(Debug, Clone, PartialEq)]
pub struct PacksConfig {
    /// Reads and changes files.
    pub file: Option<FilePackConfig>,
    /// Searches the contents of files.
    pub ripgrep: Option<RipgrepPackConfig>,
    /// Asks databases.
    pub db: Option<DbPackConfig>,
    /// Reads pages of the web.
    pub web: Option<WebPackConfig>,
    /// Searches the web.
    pub brave: Option<BravePackConfig>,
    /// Looks up the newest versions of packages.
    pub package: Option<PackagePackConfig>,
    /// Has a language model transform texts.
    pub llm: Option<LlmPackConfig>,
    /// Where the file names each of them. A pack that it does not name gives way to another of the same name.
    pub named: IndexMap<&'static str, Location>,
}

impl PacksConfig {
    /// Returns every value that must not show in a text.
    pub(super) fn secrets(&self) -> impl Iterator<Item = &Secret> {
        let brave = self.brave.iter().filter_map(|it| it.api_key.as_ref());
        let llm = self.llm.iter().filter_map(|it| it.endpoint.as_ref()?.api_key.as_ref());
        let databases = self.db.iter().flat_map(|it| it.databases.values());
        let servers = databases.filter_map(|it| match &it.address {
            DatabaseAddress::Postgres(url) => Some(url),
            DatabaseAddress::Sqlite(_) => None,
        });
        brave.chain(llm).chain(servers)
    }
}

/// What is there without a file: the packs that reach nothing of the operator's.
impl Default for PacksConfig {
    fn default() -> Self {
        Self {
            file: None,
            ripgrep: None,
            db: None,
            web: Some(WebPackConfig::default()),
            brave: Some(BravePackConfig::default()),
            package: Some(PackagePackConfig::default()),
            llm: Some(LlmPackConfig::default()),
            named: IndexMap::new(),
        }
    }
}

/// Reads and changes files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FilePackConfig {
    /// The folders that it can reach; the first is where relative paths begin.
    pub roots: Vec<PathBuf>,
    /// Whether only the tools are there that change nothing.
    pub is_read_only: bool,
    /// The name of the folder inside every root that deleted files go to.
    pub trash: String,
}

/// Searches the contents of files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RipgrepPackConfig {
    /// The folders that can be searched; the first is where relative paths begin.
    pub roots: Vec<PathBuf>,
}

/// Asks databases.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DbPackConfig {
    /// The databases by the names that callers use.
    pub databases: IndexMap<String, DatabaseConfig>,
    /// When a query is given up.
    pub timeout: Duration,
}

/// A database.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DatabaseConfig {
    /// The address as written, which callers may use in the place of the name.
    pub written: Secret,
    /// Where it is.
    pub address: DatabaseAddress,
    /// Whether it may be changed.
    pub is_writable: bool,
    /// Whether it may be asked as a superuser, or as a role that can use the server's files and programs.
    pub is_privileged: bool,
}

/// Where a database is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DatabaseAddress {
    /// A file.
    Sqlite(PathBuf),
    /// A server, by a URL that may hold a password.
    Postgres(Secret),
}

/// Reads pages of the web.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WebPackConfig {
    /// Whether private and loopback addresses can be reached.
    pub allow_private: bool,
    /// When a page is given up.
    pub timeout: Duration,
    /// The largest page in bytes, unpacked.
    pub max_bytes: usize,
}

impl Default for WebPackConfig {
    fn default() -> Self {
        Self { allow_private: false, timeout: Duration::from_secs(30), max_bytes: 10 * 1024 * 1024 }
    }
}

/// Searches the web.
#[derive(Debug, Clone, PartialEq)]
pub struct BravePackConfig {
    /// The key of the API, without which every search fails.
    pub api_key: Option<Secret>,
    /// Where the API is.
    pub base_url: BaseUrl,
    /// When a search is given up.
    pub timeout: Duration,
}

impl Default for BravePackConfig {
    fn default() -> Self {
        let base_url = BaseUrl::fixed("https://api.search.brave.com/res/v1");
        Self { api_key: None, base_url, timeout: Duration::from_secs(30) }
    }
}

/// Looks up the newest versions of packages.
#[derive(Debug, Clone, PartialEq)]
pub struct PackagePackConfig {
    /// The registry of npm.
    pub npm_url: BaseUrl,
    /// The Python Package Index.
    pub pypi_url: BaseUrl,
    /// The sparse index of crates.
    pub crates_url: BaseUrl,
    /// When a registry is given up.
    pub timeout: Duration,
}

impl Default for PackagePackConfig {
    fn default() -> Self {
        Self {
            npm_url: BaseUrl::fixed("https://registry.npmjs.org"),
            pypi_url: BaseUrl::fixed("https://pypi.org"),
            crates_url: BaseUrl::fixed("https://index.crates.io"),
            timeout: Duration::from_secs(30),
        }
    }
}

/// Has a language model transform texts.
#[derive(Debug, Clone, PartialEq)]
pub struct LlmPackConfig {
    /// The API to ask; without one, the client's own model is.
    pub endpoint: Option<LlmEndpoint>,
    /// The most tokens of an answer.
    pub max_tokens: u32,
    /// When an answer is given up.
    pub timeout: Duration,
}

impl Default for LlmPackConfig {
    fn default() -> Self {
        Self { endpoint: None, max_tokens: 4096, timeout: Duration::from_mins(2) }
    }
}

/// An OpenAI-compatible API.
#[derive(Debug, Clone, PartialEq)]
pub struct LlmEndpoint {
    /// Where it is.
    pub base_url: BaseUrl,
    /// Its key, if it wants one.
    pub api_key: Option<Secret>,
    /// The model to ask unless the caller names another.
    pub model: String,
}

/// The address that paths of an API are appended to. It may hold a secret, so debug output shows only the host.
#[derive(Clone, PartialEq, Eq)]
pub struct BaseUrl(String);

impl BaseUrl {
    /// Takes a checked address.
    pub fn new(url: &Url) -> Self {
        Self(url.as_str().trim_end_matches('/').to_owned())
    }

    /// Takes an address that is part of the program.
    fn fixed(url: &str) -> Self {
        Self(url.to_owned())
    }

    /// Returns the address of a path under it.
    pub fn join(&self, path: &str) -> String {
        format!("{}/{path}", self.0)
    }

    /// Returns the address of a path under it, with parameters.
    pub fn with_query(&self, path: &str, parameters: &[(&str, String)]) -> String {
        let query = url::form_urlencoded::Serializer::new(String::new()).extend_pairs(parameters).finish();
        format!("{}/{path}?{query}", self.0)
    }
}

impl fmt::Debug for BaseUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let url = Url::parse(&self.0).ok();
        let host = url.as_ref().and_then(Url::host_str).unwrap_or("?");
        write!(f, "BaseUrl({host})")
    }
}
