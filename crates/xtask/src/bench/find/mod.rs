//! `cargo xtask bench find`: how well and how fast the search index ranks tools.

mod baseline;
mod measure;

use std::collections::{HashMap, HashSet};
use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};
use clap::Args;
use serde_json::{Value, json};

use self::baseline::{Baseline, Formula};
use self::measure::Measures;
use crate::cargo::{self, Profile};
use crate::process;

/// The program that runs the index.
const INDEX: &str = "examples/bench_find";
/// Where the collections lie unless the command line says otherwise, seen from the workspace.
const DATA: &str = "../shared/ir";

#[derive(Args)]
pub(crate) struct Options {
    /// A folder with tools.jsonl and queries.jsonl, or a folder of such folders [default: ../shared/ir]
    #[arg(long)]
    data: Option<PathBuf>,
    /// Write our answers there, a line `{"query", "ranked"}` each
    #[arg(long)]
    out: Option<PathBuf>,
    /// Measure build time, memory and query times with 1,000, 10,000 and 100,000 generated tools instead
    #[arg(long, conflicts_with_all = ["data", "out"])]
    scale: bool,
}

/// What the baselines know of a tool.
struct Tool {
    name: String,
    description: String,
}

struct Query {
    text: String,
    gold: HashSet<String>,
}

pub(super) fn run(options: &Options) -> Result<()> {
    if options.scale {
        return process::run(Command::new(index()?).arg("scale"));
    }
    let data = options.data.clone().unwrap_or_else(|| cargo::root().join(DATA));
    let index = index()?;
    let mut out = match &options.out {
        Some(path) => Some(BufWriter::new(
            File::create(path).with_context(|| format!("cannot write {}", path.display()))?,
        )),
        None => None,
    };
    println!("{:<16}{:<10}{}", "collection", "ranking", Measures::HEAD);
    for folder in collections(&data)? {
        let name = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let (tools, queries) = read(&folder)?;
        let ours = answers(&index, &folder)?;
        if let Some(out) = &mut out {
            for Query { text, .. } in &queries {
                writeln!(out, "{}", json!({"query": text, "ranked": ours.get(text)}))?;
            }
        }
        let baseline = Baseline::new(&tools);
        let show = |ranking: &str, rank: &dyn Fn(&str) -> Vec<String>| {
            let of_query = |query: &Query| Measures::of(&rank(&query.text), &query.gold);
            println!("{name:<16}{ranking:<10}{}", queries.iter().map(of_query).collect::<Measures>());
        };
        show("onetool", &|query| ours.get(query).cloned().unwrap_or_default());
        show("TF-IDF", &|query| baseline.rank(Formula::TfIdf, query));
        show("BM25", &|query| baseline.rank(Formula::Bm25, query));
    }
    out.map_or(Ok(()), |mut out| out.flush()).context("cannot write the answers")
}

/// Builds the program that runs the index, and returns its path: xtask itself is built without the product.
fn index() -> Result<PathBuf> {
    cargo::build_release(&[INDEX])?;
    cargo::binary(Profile::Release, INDEX)
}

/// Returns the folder itself if it is a collection, else the collections in it, by name.
fn collections(data: &Path) -> Result<Vec<PathBuf>> {
    let is_collection = |folder: &Path| folder.join("tools.jsonl").is_file();
    let data = data.canonicalize().with_context(|| format!("no collections at {}", data.display()))?;
    if is_collection(&data) {
        return Ok(vec![data]);
    }
    let mut found = Vec::new();
    for entry in fs::read_dir(&data).with_context(|| format!("cannot read {}", data.display()))? {
        found.push(entry?.path());
    }
    found.retain(|folder| is_collection(folder));
    found.sort();
    if found.is_empty() {
        bail!("no folder with a tools.jsonl in {}; name one with --data", data.display());
    }
    Ok(found)
}

fn read(folder: &Path) -> Result<(Vec<Tool>, Vec<Query>)> {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let tools = lines(&fs::read_to_string(folder.join("tools.jsonl"))?)?;
    let tools =
        tools.iter().map(|it| Tool { name: text(&it["name"]), description: text(&it["description"]) });
    let queries = lines(&fs::read_to_string(folder.join("queries.jsonl"))?)?;
    let queries = queries.iter().map(|it| Query {
        text: text(&it["query"]),
        gold: it["gold"].as_array().into_iter().flatten().map(text).collect(),
    });
    Ok((tools.collect(), queries.collect()))
}

/// Asks the index all queries of a collection.
fn answers(index: &Path, folder: &Path) -> Result<HashMap<String, Vec<String>>> {
    let answers = lines(&process::output(Command::new(index).arg("run").arg(folder))?)?;
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let ranked = |answer: &Value| answer["ranked"].as_array().into_iter().flatten().map(text).collect();
    Ok(answers.iter().map(|answer| (text(&answer["query"]), ranked(answer))).collect())
}

fn lines(text: &str) -> Result<Vec<Value>> {
    text.lines().map(|line| serde_json::from_str(line).with_context(|| format!("no JSON: {line}"))).collect()
}
