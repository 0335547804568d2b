//! `onetool find`: the tools that fit some words, as `tool_find` ranks them.

use std::fmt::Write as _;

use onetool::Gateway;
use onetool::catalog::Catalog;
use onetool::search::{Explanation, Hit};
use serde_json::{Value, json};

use crate::arguments::Find;
use crate::error::CliError;
use crate::output;

pub(crate) fn run(gateway: &Gateway, asked: &Find) -> Result<(), CliError> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let limit = asked.limit.map_or(gateway.config().search.limit, std::num::NonZeroUsize::get);
    let hits = runtime.block_on(gateway.find(&asked.query.join(" "), limit));
    let catalog = gateway.server().catalog();
    if asked.json {
        let items = hits.iter().map(|hit| as_json(&catalog, hit, asked.explain)).collect();
        return Ok(output::print_json(&Value::Array(items))?);
    }
    if hits.is_empty() {
        output::note("No tool fits. Try other words; `onetool tools` lists them all.");
        return Ok(());
    }
    let entries: Vec<String> = hits.iter().map(|hit| as_text(&catalog, hit, asked.explain)).collect();
    Ok(output::print(&entries.join("\n"))?)
}

/// Returns the signature and the description of a tool.
fn about(catalog: &Catalog, name: &str) -> (String, String) {
    catalog.visible(name).map_or_else(
        |_| (name.to_owned(), String::new()),
        |entry| (entry.spec().short_signature(), catalog.description(entry).to_owned()),
    )
}

fn as_json(catalog: &Catalog, hit: &Hit, explain: bool) -> Value {
    let (signature, description) = about(catalog, &hit.name);
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
    let (signature, description) = about(catalog, &hit.name);
    let first_line = description.lines().next().unwrap_or("");
    let mut text = format!("{:>8.3}  {signature}", hit.score);
    if !first_line.is_empty() {
        let _ = write!(text, "\n          {first_line}");
    }
    if explain {
        text.push_str(&parts(&hit.explanation));
    }
    text
}

/// Writes what a score is the sum of, one part a line.
fn parts(explanation: &Explanation) -> String {
    let mut text = String::new();
    let mut part = |score: f64, what: &str| {
        let _ = write!(text, "\n          {score:>8.3}  {what}");
    };
    for found in &explanation.terms {
        part(
            found.part,
            &format!("'{}' in {} ({})", found.term, word(json!(found.field)), word(json!(found.kind))),
        );
    }
    for (score, what) in [
        (explanation.name, "much of the name is asked for"),
        (explanation.phrases, "words stand side by side"),
        (explanation.segment, "fits one sentence of several"),
    ] {
        if score > 0.0 {
            part(score, what);
        }
    }
    text
}

/// Returns the name of a field or kind as JSON spells it, in plain words.
fn word(name: Value) -> String {
    name.as_str().unwrap_or_default().replace('_', " ")
}
