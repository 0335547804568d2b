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
use xtask::cargo::{self, Profile};
use xtask::process;

use self::baseline::{Baseline, Formula};
use self::measure::Measures;

/// The program that searches the index.
const INDEX: &str = "examples/search_index";
/// The default directory of the collections, relative to the workspace.
const DATA: &str = "../shared/ir";

#[derive(Args)]
pub(super) struct Options {
    /// A directory with tools.jsonl and queries.jsonl, or a directory of such directories [default: ../shared/ir]
    #[arg(long)]
    data: Option<PathBuf>,
    /// Write our rankings to this file, one line `{"query", "ranked"}` each
    #[arg(long)]
    out: Option<PathBuf>,
    /// Instead, measure build time, memory and query times with 1,000, 10,000 and 100,000 generated tools
    #[arg(long, conflicts_with_all = ["data", "out"])]
    scale: bool,
}

/// The parts of a tool that the baselines index.
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
    for directory in collections(&data)? {
        let name = directory.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let (tools, queries) = read(&directory)?;
        let ours = rankings(&index, &directory)?;
        if let Some(out) = &mut out {
            for Query { text, .. } in &queries {
                writeln!(out, "{}", json!({"query": text, "ranked": ours.get(text)}))?;
            }
        }
        let baseline = Baseline::new(&tools);
        let show = |ranking: &str, rank: &dyn Fn(&str) -> Vec<String>| {
            let measure = |query: &Query| Measures::new(&rank(&query.text), &query.gold);
            println!("{name:<16}{ranking:<10}{}", queries.iter().map(measure).collect::<Measures>());
        };
        show("onetool", &|query| ours.get(query).cloned().unwrap_or_default());
        show("TF-IDF", &|query| baseline.rank(Formula::TfIdf, query));
        show("BM25", &|query| baseline.rank(Formula::Bm25, query));
    }
    out.map_or(Ok(()), |mut out| out.flush()).context("cannot write the rankings")
}

/// Builds the program that searches the index, and returns its path.
fn index() -> Result<PathBuf> {
    cargo::build_release(&[INDEX])?;
    cargo::binary(Profile::Release, INDEX)
}

/// Returns the directory if it is a collection, or else the collections in it, by name.
fn collections(data: &Path) -> Result<Vec<PathBuf>> {
    let is_collection = |directory: &Path| directory.join("tools.jsonl").is_file();
    let data = data.canonicalize().with_context(|| format!("no collections at {}", data.display()))?;
    if is_collection(&data) {
        return Ok(vec![data]);
    }
    let mut found = Vec::new();
    for entry in fs::read_dir(&data).with_context(|| format!("cannot read {}", data.display()))? {
        found.push(entry?.path());
    }
    found.retain(|directory| is_collection(directory));
    found.sort();
    if found.is_empty() {
        bail!("no directory with a tools.jsonl in {}; pass one with --data", data.display());
    }
    Ok(found)
}

fn read(directory: &Path) -> Result<(Vec<Tool>, Vec<Query>)> {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let tools = lines(&fs::read_to_string(directory.join("tools.jsonl"))?)?;
    let tools =
        tools.iter().map(|it| Tool { name: text(&it["name"]), description: text(&it["description"]) });
    let queries = lines(&fs::read_to_string(directory.join("queries.jsonl"))?)?;
    let queries = queries.iter().map(|it| Query {
        text: text(&it["query"]),
        gold: it["gold"].as_array().into_iter().flatten().map(text).collect(),
    });
    Ok((tools.collect(), queries.collect()))
}

/// Runs all queries of a collection.
fn rankings(index: &Path, directory: &Path) -> Result<HashMap<String, Vec<String>>> {
    let rankings = lines(&process::output(Command::new(index).arg("run").arg(directory))?)?;
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let ranked = |line: &Value| line["ranked"].as_array().into_iter().flatten().map(text).collect();
    Ok(rankings.iter().map(|line| (text(&line["query"]), ranked(line))).collect())
}

fn lines(text: &str) -> Result<Vec<Value>> {
    text.lines().map(|line| serde_json::from_str(line).with_context(|| format!("not JSON: {line}"))).collect()
}
