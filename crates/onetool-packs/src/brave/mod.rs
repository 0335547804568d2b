//! The pack `brave`: searches of the web, news, pictures, videos and places with the Brave Search API.

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

use crate::service::{Answer, Service, ServiceError};
use crate::tool::DocumentedTool;
use crate::tool::{About, Effect, pack, tool, tool_error};

pub(crate) use options::BraveOptions;

use results::Kind;

const DESCRIPTION: &str = "Searches of the web, news, pictures, videos and places with Brave.";
const CATEGORY: &str = "search";
/// How often a search is sent that the service puts off.
const TRIES: usize = 3;
/// The longest that the service may put a search off; if it wants more, the caller decides.
const LONGEST_WAIT: Duration = Duration::from_secs(10);
/// Searches of one batch at the same time.
const SIDE_BY_SIDE: usize = 4;
const MAX_BATCH: usize = 50;

/// What can go wrong with a search.
#[derive(Debug, thiserror::Error)]
enum BraveError {
    #[error(
        "brave has no API key: put one under packs.brave.api_key in the configuration, for example \
         api_key: \"${{BRAVE_API_KEY}}\" (keys: https://brave.com/search/api/)"
    )]
    NoKey,
    #[error("{message}; check packs.brave.api_key in the configuration")]
    Key { message: String },
    #[error("the rate limit of Brave is reached; try again in {seconds} s")]
    RateLimit { seconds: u64 },
    #[error("{message}")]
    Refused { message: String },
    #[error(transparent)]
    Service(#[from] ServiceError),
    #[error("no place was found for '{query}'; name the town, too")]
    NoPlaces { query: String },
}

/// How freely the service may show what is not for everybody.
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
    /// How many results to give.
    #[serde(default = "default_count")]
    #[schemars(range(min = 1, max = 50))]
    count: u32,
    /// How many pages of results to pass over.
    #[serde(default)]
    #[schemars(range(max = 9))]
    offset: u32,
    /// The country that results come from, by its code of two letters, such as US.
    country: Option<String>,
    /// How old results may be: pd (a day), pw (a week), pm (a month), py (a year), or 2026-01-01to2026-01-31.
    freshness: Option<String>,
    /// How freely results may show what is not for everybody.
    safesearch: Option<SafeSearch>,
}

fn default_count() -> u32 {
    10
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Batch {
    /// What to search for, each by itself.
    #[schemars(length(min = 1, max = 50))]
    queries: Vec<String>,
    /// How many results to give for each.
    #[serde(default = "default_count")]
    #[schemars(range(min = 1, max = 20))]
    count: u32,
    /// The country that results come from, by its code of two letters, such as US.
    country: Option<String>,
    /// How old results may be: pd (a day), pw (a week), pm (a month), py (a year), or 2026-01-01to2026-01-31.
    freshness: Option<String>,
    /// How freely results may show what is not for everybody.
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
    let web = "Search the web: title, address and a piece of text of every result.";
    let tools = vec![
        searching(
            &brave,
            "brave.web_search",
            web,
            "brave.web_search(query=\"rust async runtime\", count=5)",
            &["internet", "google", "find", "lookup", "sites"],
            Kind::Web,
        ),
        searching(
            &brave,
            "brave.search",
            web,
            "brave.search(query=\"rust async runtime\")",
            &["internet", "google", "find", "lookup", "sites"],
            Kind::Web,
        ),
        searching(
            &brave,
            "brave.news",
            "Search the news: title, address, source and age of every article.",
            "brave.news(query=\"rust language\", freshness=\"pw\")",
            &["articles", "headlines", "current", "events", "press"],
            Kind::News,
        ),
        searching(
            &brave,
            "brave.image",
            "Search for pictures: title, page and address of every picture.",
            "brave.image(query=\"ferris crab\", count=3)",
            &["images", "photos", "pictures"],
            Kind::Images,
        ),
        searching(
            &brave,
            "brave.video",
            "Search for videos: title, address, length and creator of every video.",
            "brave.video(query=\"rust tutorial\")",
            &["videos", "clips", "youtube", "films"],
            Kind::Videos,
        ),
        local(&brave),
        batch(&brave),
    ];
    pack("brave", DESCRIPTION, tools)
}

fn searching(
    brave: &Arc<Brave>,
    name: &'static str,
    description: &'static str,
    example: &'static str,
    keywords: &'static [&'static str],
    kind: Kind,
) -> DocumentedTool {
    let brave = brave.clone();
    let about = About { name, description, effect: Effect::Asks, example, keywords, category: CATEGORY };
    tool(about, move |args: Search, _: CallContext| {
        let brave = brave.clone();
        async move { brave.search(kind, &args).await.map(Json) }
    })
}

fn local(brave: &Arc<Brave>) -> DocumentedTool {
    let brave = brave.clone();
    let about = About {
        name: "brave.local",
        description: "Search for places such as shops, restaurants and sights: address, telephone, rating and hours.",
        effect: Effect::Asks,
        example: "brave.local(query=\"bakery in Ulm\", count=3)",
        keywords: &["places", "business", "restaurant", "address", "map", "near"],
        category: CATEGORY,
    };
    tool(about, move |args: Search, _: CallContext| {
        let brave = brave.clone();
        async move { brave.local(&args).await.map(Json) }
    })
}

fn batch(brave: &Arc<Brave>) -> DocumentedTool {
    let brave = brave.clone();
    let about = About {
        name: "brave.web_search_batch",
        description: "Search the web for several things side by side. A search that fails has its error in its own place.",
        effect: Effect::Asks,
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

    /// Searches places: the web search names them, two further requests tell what is known of them.
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
        // A place without a description is still a place.
        Ok(results::places(&args.query, &places?, &descriptions.unwrap_or_default()))
    }

    async fn batch(&self, args: Batch) -> Result<Value, BraveError> {
        // Without a key, one clear error says more than a list of them.
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
        let found: Vec<Value> = found.buffered(SIDE_BY_SIDE).collect().await;
        Ok(json!({"searches": found}))
    }

    fn key(&self) -> Result<&str, BraveError> {
        Ok(self.options.api_key.get().ok_or(BraveError::NoKey)?.expose())
    }

    /// Asks the service, and again if it asks for a little patience.
    async fn get(&self, path: &str, parameters: &[(&'static str, String)]) -> Result<Value, BraveError> {
        let (key, url) = (self.key()?, self.options.base_url.with_query(path, parameters));
        let mut tries = 0;
        loop {
            tries += 1;
            let answer = self.service.send(|client| {
                let request = client.get(&url).header("X-Subscription-Token", key);
                request.header(ACCEPT, "application/json")
            });
            let answer = answer.await?;
            if answer.status != StatusCode::TOO_MANY_REQUESTS {
                return self.read(&answer);
            }
            let wait = wait(&answer.headers);
            if tries == TRIES || wait > LONGEST_WAIT {
                return Err(BraveError::RateLimit { seconds: wait.as_secs().max(1) });
            }
            tokio::time::sleep(wait).await;
        }
    }

    fn read(&self, answer: &Answer) -> Result<Value, BraveError> {
        if answer.status.is_success() {
            return Ok(self.service.json(answer)?);
        }
        // What a service echoes may hold the key.
        let message = self.redactor.scrub(&self.service.refused(answer).to_string()).into_owned();
        let is_about_the_key = matches!(answer.status.as_u16(), 401 | 403) || message.contains("TOKEN");
        Err(if is_about_the_key { BraveError::Key { message } } else { BraveError::Refused { message } })
    }
}

fn parameters(kind: Kind, args: &Search) -> Vec<(&'static str, String)> {
    let mut parameters = vec![("q", args.query.clone()), ("count", args.count.min(kind.most()).to_string())];
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
        // Pictures know no middle way.
        let is_strict = kind == Kind::Images && safesearch == SafeSearch::Moderate;
        let word = if is_strict { "strict" } else { safesearch.word() };
        parameters.push(("safesearch", word.into()));
    }
    parameters
}

/// Returns how long the service wants to be left alone: `Retry-After`, else the first limit that it says.
fn wait(headers: &HeaderMap) -> Duration {
    let number = |name: &str| headers.get(name)?.to_str().ok()?.split(',').next()?.trim().parse().ok();
    let seconds = number(RETRY_AFTER.as_str()).or_else(|| number("x-ratelimit-reset"));
    Duration::from_secs(seconds.unwrap_or(1))
}
