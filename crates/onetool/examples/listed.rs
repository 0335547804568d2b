//! Prints the schemas that `tools/list` returns for many API descriptions, to compile them with other validators.
//!
//! ```sh
//! cargo run --quiet --ignore-rust-version -p onetool --example listed -- FOLDER >schemas.jsonl
//! ```
//!
//! Each line is one description: why it does not load, or the number of its tools and their schemas. Every schema has
//! its own copy of the definitions that the tools of an API share, which adds up to gigabytes. So schemas with the same
//! definitions are merged into one schema that has the definitions, and the schemas themselves, under `$defs`. This
//! program checks that every schema has all the definitions it refers to, so a schema compiles if its part of the
//! merged schema does.

#![expect(clippy::print_stdout, reason = "the lines are the output")]

use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::thread;

use indexmap::IndexSet;
use onetool::openapi::{Api, ApiOptions, Origin, load};
use onetool::{JsonObject, Pack, Server};
use onetool_core::sync::Unpoisoned as _;
use serde_json::{Value, json};

/// Each thread holds one description; the largest takes hundreds of megabytes.
const THREADS: usize = 2;

/// Tools per server. A server keeps its listed schemas, which may be gigabytes for a whole API.
const TOOLS_PER_SERVER: usize = 200;

type AnyError = Box<dyn Error + Send + Sync>;

fn main() -> Result<(), AnyError> {
    let folder = PathBuf::from(std::env::args().nth(1).ok_or("usage: listed FOLDER")?);
    let mut files = json_files(&folder)?;
    // Largest first, so that no thread starts a large one at the end while the others are idle.
    files.sort_by_key(|(size, _)| *size);
    let files = Mutex::new(files);
    let next = || files.lock().unpoisoned().pop();
    let work = || -> Result<(), AnyError> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        while let Some((_, file)) = next() {
            let listed = runtime.block_on(listed(&file));
            let mut line = listed.unwrap_or_else(|error| {
                let reason = error.to_string().replace(&format!("{}/", folder.display()), "");
                json!({"error": reason})
            });
            line["file"] = file.strip_prefix(&folder)?.to_string_lossy().into();
            println!("{line}");
        }
        Ok(())
    };
    thread::scope(|scope| {
        let threads: Vec<_> = (0..THREADS).map(|_| scope.spawn(work)).collect();
        threads.into_iter().try_for_each(|thread| thread.join().map_err(|_| "a thread panicked")?)
    })
}

/// Finds the descriptions in a folder, each with its size.
fn json_files(folder: &Path) -> Result<Vec<(u64, PathBuf)>, AnyError> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            files.extend(json_files(&path)?);
        } else if path.extension().is_some_and(|it| it == "json") {
            files.push((path.metadata()?.len(), path));
        }
    }
    Ok(files)
}

/// Loads a description and lists its tools.
async fn listed(file: &Path) -> Result<Value, AnyError> {
    let Api { mut tools, report, .. } = load(Origin::File(file.into()), ApiOptions::new("api"), None).await?;
    let mut merged: Vec<Merged> = Vec::new();
    let mut schemas = 0;
    while !tools.is_empty() {
        let tools = tools.split_off(tools.len().saturating_sub(TOOLS_PER_SERVER));
        let mut pack = Pack::new("api");
        (pack.tools, pack.is_external) = (tools, true);
        let server = Server::builder().pack(pack).build()?;
        for entry in server.catalog().listed() {
            for schema in [Some(entry.listed_schema()), entry.listed_output()].into_iter().flatten() {
                check_references(schema).map_err(|reason| format!("{}: {reason}", entry.flat_name()))?;
                schemas += 1;
                match merged.iter_mut().find(|merged| merged.is_compatible(schema)) {
                    Some(merged) => merged.add(schema),
                    None => merged.push(Merged::from(&**schema)),
                }
            }
        }
    }
    let skipped = report.skipped.iter().map(|(operation, reason)| format!("{operation}: {reason}"));
    Ok(json!({
        "tools": report.operations,
        "skipped": skipped.collect::<Vec<_>>(),
        "schemas": schemas,
        "merged": merged.into_iter().map(Merged::into_schema).collect::<Vec<_>>(),
    }))
}

/// Schemas with the same definitions.
#[derive(Default)]
struct Merged {
    definitions: JsonObject,
    schemas: IndexSet<Value>,
}

impl From<&JsonObject> for Merged {
    fn from(schema: &JsonObject) -> Self {
        let mut merged = Self::default();
        merged.add(schema);
        merged
    }
}

impl Merged {
    /// Returns whether the schema's definitions do not conflict with those merged so far.
    fn is_compatible(&self, schema: &JsonObject) -> bool {
        definitions(schema).all(|(name, body)| self.definitions.get(name).is_none_or(|known| known == body))
    }

    fn add(&mut self, schema: &JsonObject) {
        for (name, body) in definitions(schema) {
            if !self.definitions.contains_key(name) {
                self.definitions.insert(name.clone(), body.clone());
            }
        }
        let own = schema.iter().filter(|(key, _)| *key != "$defs");
        self.schemas.insert(own.map(|(key, value)| (key.clone(), value.clone())).collect());
    }

    fn into_schema(self) -> Value {
        let mut definitions = self.definitions;
        // No definition has a space in its name.
        let schemas = self.schemas.into_iter().enumerate();
        definitions.extend(schemas.map(|(at, schema)| (format!("schema {at}"), schema)));
        json!({"$defs": definitions})
    }
}

fn definitions(schema: &JsonObject) -> impl Iterator<Item = (&String, &Value)> {
    schema.get("$defs").and_then(Value::as_object).into_iter().flatten()
}

/// Checks that a schema refers only to its own definitions.
fn check_references(schema: &JsonObject) -> Result<(), String> {
    fn check(value: &Value, own: Option<&JsonObject>) -> Result<(), String> {
        match value {
            Value::Object(parts) => parts.iter().try_for_each(|(key, part)| match part {
                Value::String(reference) if key == "$ref" => {
                    let name = reference.strip_prefix("#/$defs/");
                    let is_own = name.is_some_and(|name| own.is_some_and(|own| own.contains_key(name)));
                    if is_own { Ok(()) } else { Err(format!("unresolved reference '{reference}'")) }
                }
                _ => check(part, own),
            }),
            Value::Array(parts) => parts.iter().try_for_each(|part| check(part, own)),
            _ => Ok(()),
        }
    }
    let own = schema.get("$defs").and_then(Value::as_object);
    schema.values().try_for_each(|part| check(part, own))
}
