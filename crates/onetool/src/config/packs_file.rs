//! The key `packs:` as written; the comments on the fields are the texts of the JSON Schema.

use indexmap::IndexMap;
use schemars::JsonSchema;
use serde::Deserialize;

/// Packs of tools.
#[derive(Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default, expecting = "a map")]
pub(super) struct PacksFile {
    /// Python files, each a pack of its functions; `*` stands for any part of a name. `packs/*.py` if missing.
    pub(super) files: Option<Vec<String>>,
    /// Reads and changes files inside folders that are named here.
    pub(super) file: Option<FilePackFile>,
    /// Searches the contents of files.
    pub(super) ripgrep: Option<RipgrepPackFile>,
    /// Asks databases that are named here.
    pub(super) db: Option<DbPackFile>,
    /// Reads pages of the web.
    pub(super) web: Option<WebPackFile>,
    /// Searches the web with Brave.
    pub(super) brave: Option<BravePackFile>,
    /// Looks up the newest versions of packages.
    pub(super) package: Option<PackagePackFile>,
    /// Has a language model transform texts.
    pub(super) llm: Option<LlmPackFile>,
}

/// Reads and changes files inside folders that are named here.
#[derive(Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default, expecting = "a map")]
pub(super) struct FilePackFile {
    /// The folders that the tools can reach; the first is where relative paths begin. Without one there is no pack.
    pub(super) roots: Option<Vec<String>>,
    /// Whether only the tools are there that change nothing; false if missing.
    pub(super) read_only: Option<bool>,
    /// The folder inside every root that deleted files go to; `.onetool-trash` if missing.
    pub(super) trash: Option<String>,
    /// Whether the pack is there; true if missing.
    pub(super) enabled: Option<bool>,
}

/// Searches the contents of files.
#[derive(Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default, expecting = "a map")]
pub(super) struct RipgrepPackFile {
    /// The folders that can be searched; the roots of the pack `file` if missing. Without one there is no pack.
    pub(super) roots: Option<Vec<String>>,
    /// Whether the pack is there; true if missing.
    pub(super) enabled: Option<bool>,
}

/// Asks databases that are named here.
#[derive(Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default, expecting = "a map")]
pub(super) struct DbPackFile {
    /// The databases by the names that callers use: `sqlite:` and a file, relative to this one, or `postgres://…`.
    /// Without one there is no pack.
    pub(super) urls: Option<IndexMap<String, String>>,
    /// The names of those that may be changed; all others can only be read.
    pub(super) writable: Option<Vec<String>>,
    /// The names of PostgreSQL databases that may be asked as a superuser, or as a role that can read or write files of
    /// the server or run programs there. Such a role is refused otherwise.
    pub(super) privileged: Option<Vec<String>>,
    /// After how many seconds a query is given up; 30 if missing.
    #[schemars(extend("exclusiveMinimum" = 0, "maximum" = 86400))]
    pub(super) timeout: Option<f64>,
    /// Whether the pack is there; true if missing.
    pub(super) enabled: Option<bool>,
}

/// Reads pages of the web.
#[derive(Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default, expecting = "a map")]
pub(super) struct WebPackFile {
    /// Whether private and loopback addresses can be reached; false if missing.
    pub(super) allow_private: Option<bool>,
    /// After how many seconds a page is given up; 30 if missing.
    #[schemars(extend("exclusiveMinimum" = 0, "maximum" = 86400))]
    pub(super) timeout: Option<f64>,
    /// The largest page in bytes, unpacked; 10485760 if missing.
    #[schemars(range(min = 1))]
    pub(super) max_bytes: Option<usize>,
    /// Whether the pack is there; true if missing.
    pub(super) enabled: Option<bool>,
}

/// Searches the web with Brave.
#[derive(Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default, expecting = "a map")]
pub(super) struct BravePackFile {
    /// The key of the Brave Search API.
    pub(super) api_key: Option<String>,
    /// Where the API is; https://api.search.brave.com/res/v1 if missing.
    pub(super) base_url: Option<String>,
    /// After how many seconds a search is given up; 30 if missing.
    #[schemars(extend("exclusiveMinimum" = 0, "maximum" = 86400))]
    pub(super) timeout: Option<f64>,
    /// Whether the pack is there; true if missing.
    pub(super) enabled: Option<bool>,
}

/// Looks up the newest versions of packages.
#[derive(Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default, expecting = "a map")]
pub(super) struct PackagePackFile {
    /// The registry of npm; https://registry.npmjs.org if missing.
    pub(super) npm_url: Option<String>,
    /// The Python Package Index; https://pypi.org if missing.
    pub(super) pypi_url: Option<String>,
    /// The sparse index of crates; https://index.crates.io if missing.
    pub(super) crates_url: Option<String>,
    /// After how many seconds a registry is given up; 30 if missing.
    #[schemars(extend("exclusiveMinimum" = 0, "maximum" = 86400))]
    pub(super) timeout: Option<f64>,
    /// Whether the pack is there; true if missing.
    pub(super) enabled: Option<bool>,
}

/// Has a language model transform texts.
#[derive(Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default, expecting = "a map")]
pub(super) struct LlmPackFile {
    /// An OpenAI-compatible API, such as https://api.openai.com/v1; the client's own model is asked if missing.
    pub(super) base_url: Option<String>,
    /// The key of that API.
    pub(super) api_key: Option<String>,
    /// The model to ask; needed with `base_url`.
    pub(super) model: Option<String>,
    /// The most tokens of an answer; 4096 if missing.
    #[schemars(range(min = 1))]
    pub(super) max_tokens: Option<u32>,
    /// After how many seconds an answer is given up; 120 if missing.
    #[schemars(extend("exclusiveMinimum" = 0, "maximum" = 86400))]
    pub(super) timeout: Option<f64>,
    /// Whether the pack is there; true if missing.
    pub(super) enabled: Option<bool>,
}
