//! `batch_search` and `transform_data`: prompts whose code block runs as it is.

use onetool_core::{CallContext, Prompt, PromptMessage, prompt_fn};
use schemars::JsonSchema;
use serde::Deserialize;

use super::python;

const DEFAULT_COUNT: u32 = 5;

#[derive(Deserialize, JsonSchema)]
struct BatchSearch {
    /// What to search for: a JSON array, or topics separated by commas or line breaks.
    topics: Vec<String>,
    /// How many results to take for each topic, 5 if not given.
    count: Option<u32>,
}

pub(super) fn batch_search() -> impl Prompt {
    let description = "Searches the web for several topics in one run.";
    prompt_fn("batch_search", description, |args: BatchSearch, _: CallContext| async move {
        let topics = python::list_literal(&args.topics);
        let count = args.count.unwrap_or(DEFAULT_COUNT);
        run_block(&format!(
            "results = {{}}\nfor topic in {topics}:\n    results[topic] = brave_web_search(query=topic, count={count})\nresults"
        ))
    })
}

#[derive(Deserialize, JsonSchema)]
struct TransformData {
    /// The pages to read: a JSON array, or URLs separated by commas or line breaks.
    urls: Vec<String>,
    /// What to make of them.
    instruction: String,
}

pub(super) fn transform_data() -> impl Prompt {
    let description = "Fetches several pages in one run, to be transformed by an instruction.";
    prompt_fn("transform_data", description, |args: TransformData, _: CallContext| async move {
        let urls = python::list_literal(&args.urls);
        let instruction = python::comment(&args.instruction);
        run_block(&format!(
            "# Instruction:\n{instruction}\npages = {{}}\nfor url in {urls}:\n    pages[url] = web_fetch(url=url)\npages"
        ))
    })
}

/// Makes the message of a block that `run` takes as it is: the trigger word, then the fenced code.
fn run_block(code: &str) -> PromptMessage {
    PromptMessage::user(format!("__onetool__run\n```python\n{code}\n```"))
}
