//! The search index at work, for `cargo xtask bench find`: answers to a set of queries, or times at scale.
//!
//! ```sh
//! cargo run --release --ignore-rust-version -p onetool --example bench_find -- run DIR > RUN.jsonl
//! ```
//!
//! DIR holds `tools.jsonl` (`{name, description, inputSchema?, server?}`) and `queries.jsonl` (`{query, gold}`).

#![expect(clippy::print_stdout, reason = "its answers are its output")]

use std::error::Error;
use std::io::{BufWriter, Write, stdout};
use std::path::Path;

use onetool::search::{Document, Index};
use serde_json::{Value, json};

/// How many names an answer has; measures that look at ten never miss the rest.
const RANKED: usize = 100;

fn main() -> Result<(), Box<dyn Error>> {
    let given: Vec<String> = std::env::args().skip(1).collect();
    let given: Vec<&str> = given.iter().map(String::as_str).collect();
    match given.as_slice() {
        ["run", folder] => answer(Path::new(folder)),
        _ => Err("give: run DIR".into()),
    }
}

fn answer(folder: &Path) -> Result<(), Box<dyn Error>> {
    let mut index = Index::new();
    for tool in lines(&folder.join("tools.jsonl"))? {
        let text = |key: &str| tool[key].as_str().unwrap_or_default();
        index.insert(&Document {
            name: text("name"),
            description: text("description"),
            pack: text("server"),
            input_schema: tool["inputSchema"].as_object(),
            ..Document::default()
        });
    }
    let mut out = BufWriter::new(stdout().lock());
    for query in lines(&folder.join("queries.jsonl"))? {
        let query = query["query"].as_str().ok_or("a query is no string")?;
        let hits = index.search(query, RANKED);
        let ranked: Vec<&str> = hits.iter().map(|hit| &*hit.name).collect();
        writeln!(out, "{}", json!({"query": query, "ranked": ranked}))?;
    }
    out.flush()?;
    Ok(())
}

fn lines(path: &Path) -> Result<Vec<Value>, Box<dyn Error>> {
    let text = std::fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))?;
    Ok(text.lines().map(serde_json::from_str).collect::<Result<_, _>>()?)
}
