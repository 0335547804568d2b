//! The prompts `batch_search` and `transform_data`, which consist of a code block that `run` executes unchanged.

use std::ops::RangeInclusive;

use onetool_core::{CallContext, Prompt, PromptError, PromptMessage, prompt_fn};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use super::python;
use crate::server::WeakServer;

const DEFAULT_COUNT: i64 = 5;
/// The tool that the code block calls.
const SEARCH_TOOL: &str = "brave_web_search";
/// The valid numbers of results, unless the tool's schema specifies others.
const COUNTS: RangeInclusive<i64> = 1..=20;

#[derive(Deserialize, JsonSchema)]
struct BatchSearch {
    /// Topics to search for: a JSON array, or topics separated by commas or line breaks.
    topics: Vec<String>,
    /// Number of results per topic (default: 5).
    count: Option<i64>,
}

pub(super) fn batch_search(server: WeakServer) -> impl Prompt {
    let description = "Searches the web for several topics in one run.";
    prompt_fn("batch_search", description, move |args: BatchSearch, _: CallContext| {
        let counts = counts(&server);
        async move {
            let topics = python::list_literal(&non_blank("topics", args.topics)?);
            let count = args.count.unwrap_or(DEFAULT_COUNT);
            if !counts.contains(&count) {
                let reason =
                    format!("expected a number from {} to {}, got {count}", counts.start(), counts.end());
                return Err(PromptError::Argument { name: "count".into(), reason });
            }
            Ok(run_block(&format!(
                "results = {{}}\nfor topic in {topics}:\n    results[topic] = {SEARCH_TOOL}(query=topic, count={count})\nresults"
            )))
        }
    })
}

/// Returns the valid numbers of results, according to the schema of the search tool.
fn counts(server: &WeakServer) -> RangeInclusive<i64> {
    let catalog = server.upgrade().map(|server| server.catalog()).unwrap_or_default();
    let count = catalog.get_visible(SEARCH_TOOL).and_then(|entry| {
        let schema = entry.spec().input_schema.peek();
        schema.get("properties").and_then(|properties| properties.get("count")).cloned()
    });
    let bound = |key: &str| count.as_ref()?.get(key).and_then(Value::as_i64);
    bound("minimum").unwrap_or(*COUNTS.start())..=bound("maximum").unwrap_or(*COUNTS.end())
}

/// Removes blank items; an empty list is an error.
fn non_blank(name: &str, mut items: Vec<String>) -> Result<Vec<String>, PromptError> {
    items.retain(|item| !item.trim().is_empty());
    if items.is_empty() {
        return Err(PromptError::Argument { name: name.into(), reason: "the list is empty".into() });
    }
    Ok(items)
}

#[derive(Deserialize, JsonSchema)]
struct TransformData {
    /// Pages to fetch: a JSON array, or URLs separated by commas or line breaks.
    urls: Vec<String>,
    /// How to transform the pages.
    instruction: String,
}

pub(super) fn transform_data() -> impl Prompt {
    let description = "Fetches several pages in one run and transforms them as instructed.";
    prompt_fn("transform_data", description, |args: TransformData, _: CallContext| async move {
        let urls = python::list_literal(&non_blank("urls", args.urls)?);
        let instruction = python::comment(&args.instruction);
        Ok::<_, PromptError>(run_block(&format!(
            "# Instruction:\n{instruction}\npages = {{}}\nfor url in {urls}:\n    pages[url] = web_fetch(url=url)\npages"
        )))
    })
}

/// Creates a message that `run` executes unchanged: the trigger word, then the fenced code.
fn run_block(code: &str) -> PromptMessage {
    PromptMessage::user(format!("__onetool__run\n```python\n{code}\n```"))
}
