//! The result of loading: an API's tools and a report about its description.

use std::sync::Arc;

use onetool_core::{Pack, Tool};
use url::Url;

/// An API as tools.
pub struct Api {
    /// The name of its pack.
    pub name: Arc<str>,
    /// One tool per operation, in the order of the description.
    pub tools: Vec<Arc<dyn Tool>>,
    /// What was loaded and what was skipped.
    pub report: Report,
}

impl From<Api> for Pack {
    fn from(api: Api) -> Self {
        let mut pack = Self::new(api.name);
        (pack.tools, pack.is_external) = (api.tools, true);
        pack
    }
}

/// A summary of a loaded description.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Report {
    /// The API's title.
    pub title: String,
    /// The API's version.
    pub version: String,
    /// The URL of the API.
    pub base_url: Option<Url>,
    /// The number of operations that became tools.
    pub operations: usize,
    /// Operations that cannot be called, each with the reason. Filtered operations are not included.
    pub skipped: Vec<(String, String)>,
    /// Operations whose names were shortened or made unique, each with its new name.
    pub renamed: Vec<(String, String)>,
    /// Problems in the description or the options that do not prevent any operation from working.
    pub warnings: Vec<String>,
    /// The size of the description.
    pub document_bytes: usize,
    /// The approximate number of tokens that listing all tools costs a model.
    pub token_estimate: usize,
    /// Whether the plan came from the cache.
    pub from_cache: bool,
}
