//! The pack `web`: pages of the web, as an agent can read them.

mod fetch;
mod page;
mod text;

use std::sync::Arc;

use futures::StreamExt as _;
use onetool_core::{CallContext, ContentBlock, Json, ToolError, ToolOutput};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::blocking::blocking;
use super::bundle::Bundle;
use super::make::{About, Effect, told, tool};
use crate::config::WebPackConfig;
use fetch::Fetcher;
use page::Wish;

const CATEGORY: &str = "web";
/// Pages of one call that are fetched at the same time.
const SIDE_BY_SIDE: usize = 4;
const MAX_BATCH: usize = 50;
const DEFAULT_LENGTH: usize = 50_000;

/// How a page is given back.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
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
    /// The address of the page.
    url: String,
    /// How to give it back: its main content as markdown or text, or the page as html.
    #[serde(default)]
    format: PageFormat,
    /// The most characters to give.
    #[serde(default = "default_length")]
    #[schemars(range(min = 1, max = 10_000_000))]
    max_length: usize,
    /// A CSS selector, such as `article` or `#content`: only what it matches.
    selector: Option<String>,
}

fn default_length() -> usize {
    DEFAULT_LENGTH
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct FetchBatch {
    /// The addresses of the pages.
    #[schemars(length(min = 1, max = 50))]
    urls: Vec<String>,
    /// How to give them back: their main content as markdown or text, or the pages as html.
    #[serde(default)]
    format: PageFormat,
    /// The most characters to give of each.
    #[serde(default = "default_length")]
    #[schemars(range(min = 1, max = 10_000_000))]
    max_length: usize,
    /// A CSS selector, such as `article` or `#content`: only what it matches.
    selector: Option<String>,
}

/// Makes the pack.
pub(super) fn pack(config: WebPackConfig) -> Bundle {
    let fetcher = Arc::new(Fetcher::new(config));
    let one = {
        let about = About {
            name: "web.fetch",
            description: "Read a page of the web: its main content as markdown, without menus and advertisements.",
            effect: Effect::Asks,
            example: "web.fetch(url=\"https://www.rust-lang.org/\", max_length=5000)",
            keywords: &["url", "page", "download", "http", "browse", "website", "article", "html", "scrape"],
            category: CATEGORY,
        };
        let fetcher = fetcher.clone();
        tool(about, move |args: Fetch, _: CallContext| {
            let fetcher = fetcher.clone();
            async move {
                let Fetch { url, format, max_length, selector } = args;
                let page = page(&fetcher, &url, Wish { format, max_length, selector }).await?;
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
            description: "Read several pages of the web side by side. A page that fails has its error in its own place.",
            effect: Effect::Asks,
            example: "web.fetch_batch(urls=[\"https://www.rust-lang.org/\", \"https://crates.io/\"], max_length=2000)",
            keywords: &["urls", "pages", "several", "many", "parallel", "download"],
            category: CATEGORY,
        };
        tool(about, move |args: FetchBatch, _: CallContext| {
            let fetcher = fetcher.clone();
            async move { Ok::<_, ToolError>(Json(batch(&fetcher, args).await)) }
        })
    };
    Bundle {
        name: "web",
        description: "Pages of the web, as an agent can read them.",
        tools: vec![one, batch],
    }
}

async fn batch(fetcher: &Fetcher, args: FetchBatch) -> Value {
    let FetchBatch { urls, format, max_length, selector } = args;
    let fetch = |url: String| {
        let wish = Wish { format, max_length, selector: selector.clone() };
        async move {
            match page(fetcher, &url, wish).await {
                Ok(page) => page,
                Err(error) => json!({"url": url, "error": error.to_string()}),
            }
        }
    };
    let pages = futures::stream::iter(urls.into_iter().take(MAX_BATCH)).map(fetch);
    json!({"pages": pages.buffered(SIDE_BY_SIDE).collect::<Vec<Value>>().await})
}

/// Fetches one page and makes of it what is wished for.
async fn page(fetcher: &Fetcher, url: &str, wish: Wish) -> Result<Value, ToolError> {
    let fetched = fetcher.fetch(url).await.map_err(|error| told(error.into()))?;
    // A large page takes a while to be read.
    blocking(move |_| page::made(fetched, &wish)).await
}
