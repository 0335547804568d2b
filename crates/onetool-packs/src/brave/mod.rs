//! The pack `brave`: searches web pages, news, images, videos and places with the Brave Search API.

mod options;
mod results;

use std::sync::Arc;
use std::time::Duration;

use futures::StreamExt as _;
use onetool_config::Redactor;
use onetool_core::{CallContext, Json, Pack};
use reqwest::StatusCode;
use reqwest::header::{ACCEPT, HeaderMap, RETRY_AFTER};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::service::{Service, ServiceError, ServiceResponse};
use crate::tool::{About, DocumentedTool, Effect, pack, tool, tool_error};

pub(crate) use options::BraveOptions;

use results::Kind;

const DESCRIPTION: &str = "Searches web pages, news, images, videos and places with Brave.";
const CATEGORY: &str = "search";
/// Maximum number of attempts when the service is rate limiting.
const MAX_ATTEMPTS: usize = 3;
/// Maximum time to wait before a retry. If the service asks for more, the caller gets an error.
const MAX_WAIT: Duration = Duration::from_secs(10);
/// Maximum number of concurrent searches of one batch.
const MAX_CONCURRENT: usize = 4;
const MAX_BATCH: usize = 50;

/// Errors of a search.
#[derive(Debug, thiserror::Error)]
enum BraveError {
    #[error(
        "the Brave Search API requires a key; set packs.brave.api_key in the configuration, for example \
         api_key: \"${{BRAVE_API_KEY}}\" (keys: https://brave.com/search/api/)"
    )]
    NoKey,
    #[error("{message}; check packs.brave.api_key in the configuration")]
    Key { message: String },
    #[error("Brave's rate limit is reached; retry in {seconds} s")]
    RateLimit { seconds: u64 },
    #[error("{message}")]
    Refused { message: String },
    #[error(transparent)]
    Service(#[from] ServiceError),
    #[error("no places found for '{query}'; include the name of the town")]
    NoPlaces { query: String },
}

/// Filter for adult content.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum SafeSearch {
    Off,
    Moderate,
    Strict,
}

impl SafeSearch {
    fn word(self) -> &'static str {
        match self {
            Self::Off => "off",
            Self::Moderate => "moderate",
            Self::Strict => "strict",
        }
    }
}

#[derive(Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Search {
    /// What to search for.
    #[schemars(length(min = 1, max = 400))]
    query: String,
    /// Number of results.
    #[serde(default = "default_count")]
    #[schemars(range(min = 1, max = 50))]
    count: u32,
    /// Number of result pages to skip.
    #[serde(default)]
    #[schemars(range(max = 9))]
    offset: u32,
    /// Two-letter code of the country to search in, such as US.
    country: Option<String>,
    /// Maximum age of results: pd (a day), pw (a week), pm (a month), py (a year), or 2026-01-01to2026-01-31.
    freshness: Option<String>,
    /// Filter for adult content.
    safesearch: Option<SafeSearch>,
}

fn default_count() -> u32 {
    10
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Batch {
    /// What to search for: one search per entry.
    #[schemars(length(min = 1, max = 50))]
    queries: Vec<String>,
    /// Number of results per search.
    #[serde(default = "default_count")]
    #[schemars(range(min = 1, max = 20))]
    count: u32,
    /// Two-letter code of the country to search in, such as US.
    country: Option<String>,
    /// Maximum age of results: pd (a day), pw (a week), pm (a month), py (a year), or 2026-01-01to2026-01-31.
    freshness: Option<String>,
    /// Filter for adult content.
    safesearch: Option<SafeSearch>,
}

struct Brave {
    options: BraveOptions,
    service: Service,
    redactor: Redactor,
}

fn build(options: BraveOptions, redactor: Redactor) -> Pack {
    let service = Service::new("Brave Search", *options.timeout);
    let brave = Arc::new(Brave { options, service, redactor });
    let web = "Search the web: title, URL and a text snippet of every result.";
    let tools = vec![
        search_tool(
            &brave,
            "brave.web_search",
            web,
            "brave.web_search(query=\"rust async runtime\", count=5)",
            &["internet", "google", "find", "lookup", "sites"],
            Kind::Web,
        ),
        search_tool(
            &brave,
            "brave.search",
            web,
            "brave.search(query=\"rust async runtime\")",
            &["internet", "google", "find", "lookup", "sites"],
            Kind::Web,
        ),
        search_tool(
            &brave,
            "brave.news",
            "Search the news: title, URL, source and age of every article.",
            "brave.news(query=\"rust language\", freshness=\"pw\")",
            &["articles", "headlines", "current", "events", "press"],
            Kind::News,
        ),
        search_tool(
            &brave,
            "brave.image",
            "Search for images: title, page and URL of every image.",
            "brave.image(query=\"ferris crab\", count=3)",
            &["images", "photos", "pictures"],
            Kind::Images,
        ),
        search_tool(
            &brave,
            "brave.video",
            "Search for videos: title, URL, duration and creator of every video.",
            "brave.video(query=\"rust tutorial\")",
            &["videos", "clips", "youtube", "films"],
            Kind::Videos,
        ),
        local_tool(&brave),
        batch_tool(&brave),
    ];
    pack("brave", DESCRIPTION, tools)
}

fn search_tool(
    brave: &Arc<Brave>,
    name: &'static str,
    description: &'static str,
    example: &'static str,
    keywords: &'static [&'static str],
    kind: Kind,
) -> DocumentedTool {
    let brave = brave.clone();
    let about =
        About { name, description, effect: Effect::ReadsRemote, example, keywords, category: CATEGORY };
    tool(about, move |args: Search, _: CallContext| {
        let brave = brave.clone();
        async move { brave.search(kind, &args).await.map(Json) }
    })
}

fn local_tool(brave: &Arc<Brave>) -> DocumentedTool {
    let brave = brave.clone();
    let about = About {
        name: "brave.local",
        description: "Search for places such as shops, restaurants and sights: address, phone number, rating and hours.",
        effect: Effect::ReadsRemote,
        example: "brave.local(query=\"bakery in Ulm\", count=3)",
        keywords: &["places", "business", "restaurant", "address", "map", "near"],
        category: CATEGORY,
    };
    tool(about, move |args: Search, _: CallContext| {
        let brave = brave.clone();
        async move { brave.local(&args).await.map(Json) }
    })
}

fn batch_tool(brave: &Arc<Brave>) -> DocumentedTool {
    let brave = brave.clone();
    let about = About {
        name: "brave.web_search_batch",
        description: "Run several web searches concurrently. A search that fails has its error in the list of searches.",
        effect: Effect::ReadsRemote,
        example: "brave.web_search_batch(queries=[\"rust\", \"zig\"], count=3)",
        keywords: &["several", "many", "parallel", "internet", "queries"],
        category: CATEGORY,
    };
    tool(about, move |args: Batch, _: CallContext| {
        let brave = brave.clone();
        async move { brave.batch(args).await.map(Json) }
    })
}

impl Brave {
    async fn search(&self, kind: Kind, args: &Search) -> Result<Value, BraveError> {
        let body = self.get(kind.path(), &parameters(kind, args)).await?;
        Ok(kind.results(&args.query, &body))
    }

    /// Searches places: a web search returns their ids, and two more requests return details.
    async fn local(&self, args: &Search) -> Result<Value, BraveError> {
        let mut parameters = parameters(Kind::Web, args);
        parameters.push(("result_filter", "locations".into()));
        let body = self.get(Kind::Web.path(), &parameters).await?;
        let count = usize::try_from(args.count).unwrap_or(usize::MAX);
        let ids = results::place_ids(&body, count);
        if ids.is_empty() {
            return Err(BraveError::NoPlaces { query: args.query.clone() });
        }
        let ids: Vec<(&str, String)> = ids.into_iter().map(|id| ("ids", id)).collect();
        let places = self.get("local/pois", &ids);
        let (places, descriptions) = tokio::join!(places, self.get("local/descriptions", &ids));
        // Descriptions are optional.
        Ok(results::places(&args.query, &places?, &descriptions.unwrap_or_default()))
    }

    async fn batch(&self, args: Batch) -> Result<Value, BraveError> {
        // Without a key, one error is clearer than a list of them.
        self.key()?;
        let Batch { queries, count, country, freshness, safesearch } = args;
        let search = |query: String| {
            let (country, freshness) = (country.clone(), freshness.clone());
            let search = Search { query, count, offset: 0, country, freshness, safesearch };
            async move {
                match self.search(Kind::Web, &search).await {
                    Ok(found) => found,
                    Err(error) => {
                        json!({"query": search.query, "error": tool_error(error.into()).to_string()})
                    }
                }
            }
        };
        let found = futures::stream::iter(queries.into_iter().take(MAX_BATCH)).map(search);
        let found: Vec<Value> = found.buffered(MAX_CONCURRENT).collect().await;
        Ok(json!({"searches": found}))
    }

    fn key(&self) -> Result<&str, BraveError> {
        Ok(self.options.api_key.get().ok_or(BraveError::NoKey)?.expose())
    }

    /// Sends a request, and retries while the service is rate limiting and asks for a short wait.
    async fn get(&self, path: &str, parameters: &[(&'static str, String)]) -> Result<Value, BraveError> {
        let (key, url) = (self.key()?, self.options.base_url.with_query(path, parameters));
        let mut attempts = 0;
        loop {
            attempts += 1;
            let response = self.service.send(|client| {
                let request = client.get(&url).header("X-Subscription-Token", key);
                request.header(ACCEPT, "application/json")
            });
            let response = response.await?;
            if response.status != StatusCode::TOO_MANY_REQUESTS {
                return self.read(&response);
            }
            let wait = retry_delay(&response.headers);
            if attempts == MAX_ATTEMPTS || wait > MAX_WAIT {
                return Err(BraveError::RateLimit { seconds: wait.as_secs().max(1) });
            }
            tokio::time::sleep(wait).await;
        }
    }

    fn read(&self, response: &ServiceResponse) -> Result<Value, BraveError> {
        if response.status.is_success() {
            return Ok(self.service.json(response)?);
        }
        // The service may echo the key.
        let message = self.redactor.scrub(&self.service.status_error(response).to_string()).into_owned();
        let is_about_key = matches!(response.status.as_u16(), 401 | 403) || message.contains("TOKEN");
        Err(if is_about_key { BraveError::Key { message } } else { BraveError::Refused { message } })
    }
}

fn parameters(kind: Kind, args: &Search) -> Vec<(&'static str, String)> {
    let count = args.count.min(kind.max_results());
    let mut parameters = vec![("q", args.query.clone()), ("count", count.to_string())];
    if args.offset > 0 {
        parameters.push(("offset", args.offset.to_string()));
    }
    if let Some(country) = &args.country {
        parameters.push(("country", country.to_uppercase()));
    }
    if let Some(freshness) = &args.freshness {
        parameters.push(("freshness", freshness.clone()));
    }
    if let Some(safesearch) = args.safesearch {
        // Image search does not support `moderate`.
        let is_strict = kind == Kind::Images && safesearch == SafeSearch::Moderate;
        let word = if is_strict { "strict" } else { safesearch.word() };
        parameters.push(("safesearch", word.into()));
    }
    parameters
}

/// Returns how long to wait before a retry: `Retry-After`, or the first reset time of the rate limit.
fn retry_delay(headers: &HeaderMap) -> Duration {
    let number = |name: &str| headers.get(name)?.to_str().ok()?.split(',').next()?.trim().parse().ok();
    let seconds = number(RETRY_AFTER.as_str()).or_else(|| number("x-ratelimit-reset"));
    Duration::from_secs(seconds.unwrap_or(1))
}
