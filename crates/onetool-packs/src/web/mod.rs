//! The pack `web`: web pages as text that agents can read.

mod fetch;
mod options;
mod page;
mod reader;
mod text;

use std::sync::Arc;

use futures::StreamExt as _;
use onetool_cage::Jobs;
use onetool_core::{CallContext, ContentBlock, Json, Pack, ToolError, ToolOutput};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::tool::{About, Effect, pack, tool, tool_error};
use fetch::Fetcher;
use page::PageRequest;
use reader::PageReader;

pub(crate) use options::WebOptions;
pub(crate) use reader::JOB;

const DESCRIPTION: &str = "Web pages as text that agents can read.";
const CATEGORY: &str = "web";
/// Maximum number of pages that one call fetches concurrently.
const MAX_CONCURRENT: usize = 4;
const MAX_BATCH: usize = 50;
const DEFAULT_LENGTH: usize = 50_000;

/// The format of a page in results.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum PageFormat {
    #[default]
    Markdown,
    Text,
    Html,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Fetch {
    /// URL of the page.
    url: String,
    /// Format of the result: the main content as markdown or text, or the whole page as html.
    #[serde(default)]
    format: PageFormat,
    /// Maximum number of characters.
    #[serde(default = "default_length")]
    #[schemars(range(min = 1, max = 10_000_000))]
    max_length: usize,
    /// CSS selector, such as `article` or `#content`: only return what it matches.
    selector: Option<String>,
}

fn default_length() -> usize {
    DEFAULT_LENGTH
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct FetchBatch {
    /// URLs of the pages.
    #[schemars(length(min = 1, max = 50))]
    urls: Vec<String>,
    /// Format of the results: the main content as markdown or text, or the whole pages as html.
    #[serde(default)]
    format: PageFormat,
    /// Maximum number of characters per page.
    #[serde(default = "default_length")]
    #[schemars(range(min = 1, max = 10_000_000))]
    max_length: usize,
    /// CSS selector, such as `article` or `#content`: only return what it matches.
    selector: Option<String>,
}

fn build(options: WebOptions, jobs: Option<Arc<Jobs>>) -> Pack {
    let reader = PageReader::new(jobs, *options.timeout);
    let web = Arc::new(Web { fetcher: Fetcher::new(options), reader });
    let one = {
        let about = About {
            name: "web.fetch",
            description: "Read a web page: its main content as markdown, without menus and advertisements.",
            effect: Effect::ReadsRemote,
            example: "web.fetch(url=\"https://www.rust-lang.org/\", max_length=5000)",
            keywords: &["url", "page", "download", "http", "browse", "website", "article", "html", "scrape"],
            category: CATEGORY,
        };
        let web = web.clone();
        tool(about, move |args: Fetch, _: CallContext| {
            let web = web.clone();
            async move {
                let page = web.page(args).await?;
                let text = page["text"].as_str().unwrap_or_default().to_owned();
                let content = vec![ContentBlock::text(text)];
                Ok::<_, ToolError>(ToolOutput {
                    content,
                    structured_content: Some(page),
                    ..ToolOutput::default()
                })
            }
        })
    };
    let batch = {
        let about = About {
            name: "web.fetch_batch",
            description: "Read several web pages concurrently. A page that fails has its error in the list of pages.",
            effect: Effect::ReadsRemote,
            example: "web.fetch_batch(urls=[\"https://www.rust-lang.org/\", \"https://crates.io/\"], max_length=2000)",
            keywords: &["urls", "pages", "several", "many", "parallel", "download"],
            category: CATEGORY,
        };
        tool(about, move |args: FetchBatch, _: CallContext| {
            let web = web.clone();
            async move { Ok::<_, ToolError>(Json(web.pages(args).await)) }
        })
    };
    pack("web", DESCRIPTION, vec![one, batch])
}

/// Fetches pages and extracts their text.
struct Web {
    fetcher: Fetcher,
    reader: PageReader,
}

impl Web {
    async fn pages(&self, args: FetchBatch) -> Value {
        let FetchBatch { urls, format, max_length, selector } = args;
        let fetch = |url: String| {
            let args = Fetch { url: url.clone(), format, max_length, selector: selector.clone() };
            async move {
                match self.page(args).await {
                    Ok(page) => page,
                    Err(error) => json!({"url": url, "error": error.to_string()}),
                }
            }
        };
        let pages = futures::stream::iter(urls.into_iter().take(MAX_BATCH)).map(fetch);
        json!({"pages": pages.buffered(MAX_CONCURRENT).collect::<Vec<Value>>().await})
    }

    async fn page(&self, args: Fetch) -> Result<Value, ToolError> {
        let Fetch { url, format, max_length, selector } = args;
        let fetched = self.fetcher.fetch(&url).await.map_err(|error| tool_error(error.into()))?;
        let (url, content_type) = (fetched.url.to_string(), fetched.content_type.clone());
        let request = PageRequest { url, content_type, format, max_length, selector };
        self.reader.read(request, &fetched).await.map_err(|error| tool_error(error.into()))
    }
}
