//! `onetool find`: searches tools with the ranking of `tool_find`.

use std::fmt::Write as _;

use onetool::Gateway;
use onetool::catalog::Catalog;
use onetool::search::{Explanation, Hit};
use serde_json::{Value, json};

use crate::arguments::Find;
use crate::error::CliError;
use crate::output;

pub(crate) fn run(gateway: &Gateway, args: &Find) -> Result<(), CliError> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let limit = args.limit.map_or(gateway.config().search.limit, std::num::NonZeroUsize::get);
    let hits = runtime.block_on(gateway.find(&args.query.join(" "), limit));
    let catalog = gateway.server().catalog();
    if args.json {
        let items = hits.iter().map(|hit| as_json(&catalog, hit, args.explain)).collect();
        return Ok(output::print_json(&Value::Array(items))?);
    }
    if hits.is_empty() {
        output::note("No matching tools. Try other words, or run `onetool tools` to list all tools.");
        return Ok(());
    }
    let entries: Vec<String> = hits.iter().map(|hit| as_text(&catalog, hit, args.explain)).collect();
    Ok(output::print(&entries.join("\n"))?)
}

/// Returns the signature and the description of a tool.
fn signature_and_description(catalog: &Catalog, name: &str) -> (String, String) {
    catalog.visible(name).map_or_else(
        |_| (name.to_owned(), String::new()),
        |entry| (entry.spec().short_signature(), catalog.description(entry).to_owned()),
    )
}

fn as_json(catalog: &Catalog, hit: &Hit, explain: bool) -> Value {
    let (signature, description) = signature_and_description(catalog, &hit.name);
    let mut item = json!({
        "name": &*hit.name,
        "signature": signature,
        "description": description,
        "score": hit.score,
    });
    if explain {
        item["explanation"] = json!(hit.explanation);
    }
    item
}

fn as_text(catalog: &Catalog, hit: &Hit, explain: bool) -> String {
    let (signature, description) = signature_and_description(catalog, &hit.name);
    let first_line = description.lines().next().unwrap_or("");
    let mut text = format!("{:>8.3}  {signature}", hit.score);
    if !first_line.is_empty() {
        let _ = write!(text, "\n          {first_line}");
    }
    if explain {
        text.push_str(&score_parts(&hit.explanation));
    }
    text
}

/// Lists the parts that add up to a score, one per line.
fn score_parts(explanation: &Explanation) -> String {
    let mut text = String::new();
    let mut add = |score: f64, what: &str| {
        let _ = write!(text, "\n          {score:>8.3}  {what}");
    };
    for found in &explanation.terms {
        add(
            found.part,
            &format!(
                "'{}' in {} ({})",
                found.term,
                plain_name(json!(found.field)),
                plain_name(json!(found.kind))
            ),
        );
    }
    for (score, what) in [
        (explanation.name, "query covers much of the name"),
        (explanation.phrases, "words appear next to each other"),
        (explanation.segment, "matches one sentence of several"),
    ] {
        if score > 0.0 {
            add(score, what);
        }
    }
    text
}

/// Returns the JSON name of a field or kind with spaces instead of underscores.
fn plain_name(name: Value) -> String {
    name.as_str().unwrap_or_default().replace('_', " ")
}
