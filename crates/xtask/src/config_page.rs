//! The tables of configuration keys in the documentation, from the JSON Schema.
//!
//! A page contains a table between two comments: `<!-- generated: keys of PATH; … -->` and `<!-- end of generated -->`.
//! `PATH` is a key such as `http`, `tools[]` for the items of a list, `servers.NAME` for the entries of a map, or
//! `the file`. Keys of nested maps are in the table of the map that contains them, unless the map has its own table.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use anyhow::{Context, Result, bail};
use serde_json::Value;

const PAGES: [&str; 4] = ["docs/configuration.md", "docs/packs.md", "docs/servers.md", "docs/openapi.md"];
const BEGIN: &str = "<!-- generated: keys of ";
const BEGIN_END: &str = "; `cargo xtask codegen` writes this table -->";
const END: &str = "<!-- end of generated -->";
const WHOLE_FILE: &str = "the file";
const MIB: u64 = 1024 * 1024;

/// Returns the pages with their tables filled in. `read` returns the current text of a page.
pub(crate) fn pages(
    schema: &str,
    read: impl Fn(&str) -> Result<String>,
) -> Result<Vec<(&'static str, String)>> {
    let schema: Value = serde_json::from_str(schema).context("the schema is not JSON")?;
    let texts = PAGES.iter().map(|page| Ok((*page, read(page)?))).collect::<Result<Vec<_>>>()?;
    let mut tables = BTreeMap::new();
    for (page, text) in &texts {
        for place in places(page, text)? {
            if let Some(other) = tables.insert(place.path.clone(), place) {
                bail!("{page} and {} both have a table of the keys of {}", other.page, shown(&other.path));
            }
        }
    }
    let rows = Walk::new(&schema, &tables).run()?;
    texts.into_iter().map(|(page, text)| Ok((page, fill_in(page, &text, &rows)?))).collect()
}

/// Where a page has a table.
#[derive(Debug, PartialEq, Eq)]
struct Place {
    page: &'static str,
    /// The path of the map whose keys it lists; empty for the whole file.
    path: String,
    /// The anchor of the heading above it; `None` for the title of the page.
    anchor: Option<String>,
}

impl Place {
    /// Returns a link to this table from another page.
    fn link_from(&self, page: &str) -> String {
        let anchor = self.anchor.as_ref().map_or_else(String::new, |anchor| format!("#{anchor}"));
        if self.page == page { anchor } else { self.page.trim_start_matches("docs/").to_owned() + &anchor }
    }
}

/// Returns the path of a line that begins a table.
fn table_path(line: &str) -> Option<String> {
    let path = line.strip_prefix(BEGIN)?.strip_suffix(BEGIN_END)?;
    Some(if path == WHOLE_FILE { String::new() } else { path.to_owned() })
}

fn shown(path: &str) -> &str {
    if path.is_empty() { WHOLE_FILE } else { path }
}

fn places(page: &'static str, text: &str) -> Result<Vec<Place>> {
    let (mut places, mut anchor, mut is_code) = (Vec::new(), None, false);
    for (index, line) in text.lines().enumerate() {
        is_code ^= line.starts_with("```");
        if is_code {
            continue;
        }
        if let Some(heading) = line.strip_prefix("##") {
            anchor = Some(slug(heading.trim_start_matches('#')));
        } else if let Some(path) = table_path(line) {
            places.push(Place { page, path, anchor: anchor.clone() });
        } else if line.starts_with(BEGIN) {
            bail!("{page}:{}: write `{BEGIN}PATH{BEGIN_END}`", index + 1);
        }
    }
    Ok(places)
}

/// Returns the anchor that GitHub gives to a heading.
fn slug(heading: &str) -> String {
    let kept = heading.trim().chars().filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
    kept.collect::<String>().to_lowercase().replace(' ', "-")
}

fn fill_in(page: &str, text: &str, rows: &BTreeMap<String, Vec<Row>>) -> Result<String> {
    let mut filled = String::new();
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        writeln!(filled, "{line}")?;
        let Some(path) = table_path(line) else { continue };
        if !lines.any(|line| line == END) {
            bail!("{page}: the table of the keys of {} has no `{END}`", shown(&path));
        }
        filled.push_str("\n| key | type | default | description |\n|---|---|---|---|\n");
        for row in rows.get(&path).into_iter().flatten() {
            writeln!(filled, "| {} | {} | {} | {} |", row.key, row.kind, row.default, row.description)?;
        }
        writeln!(filled, "\n{END}")?;
    }
    Ok(filled)
}

/// A row of a table, as Markdown.
#[derive(Debug, PartialEq, Eq)]
struct Row {
    key: String,
    kind: String,
    default: String,
    description: String,
}

/// Walks the schema and collects the rows of every table.
struct Walk<'a> {
    schema: &'a Value,
    tables: &'a BTreeMap<String, Place>,
    rows: BTreeMap<String, Vec<Row>>,
    /// The definitions that a table already lists, by the path of the table.
    listed: BTreeSet<(String, String)>,
}

impl<'a> Walk<'a> {
    fn new(schema: &'a Value, tables: &'a BTreeMap<String, Place>) -> Self {
        Self { schema, tables, rows: BTreeMap::new(), listed: BTreeSet::new() }
    }

    fn run(mut self) -> Result<BTreeMap<String, Vec<Row>>> {
        if !self.tables.contains_key("") {
            bail!("no page has a table of the keys of {WHOLE_FILE}");
        }
        self.walk(self.schema, "", "")?;
        match self.tables.keys().find(|path| !self.rows.contains_key(*path)) {
            Some(path) => bail!("{}: the schema has no map at {path}", self.tables[path].page),
            None => Ok(self.rows),
        }
    }

    /// Adds the keys of the map at `path` to the table at `table`.
    fn walk(&mut self, map: &'a Value, path: &str, table: &str) -> Result<()> {
        let required = map["required"].as_array().map_or(&[][..], Vec::as_slice);
        for (key, property) in map["properties"].as_object().into_iter().flatten() {
            let path = if path.is_empty() { key.clone() } else { format!("{path}.{key}") };
            let value = self.resolve(property);
            let (inner, suffix) = self.element(value);
            let inner_path = format!("{path}{suffix}");
            let place = self.tables.get(&inner_path);
            let link = place.map(|place| place.link_from(self.tables[table].page));
            let row = self.row(&path, property, required.contains(&Value::from(key.as_str())), link)?;
            self.rows.entry(table.to_owned()).or_default().push(row);
            if !inner["properties"].is_object() {
                continue;
            }
            if place.is_some() {
                self.walk(inner, &inner_path, &inner_path)?;
            } else if self.is_new(property, table) {
                self.walk(inner, &inner_path, table)?;
            }
        }
        Ok(())
    }

    /// Returns whether a table does not list the keys of this type yet.
    fn is_new(&mut self, property: &Value, table: &str) -> bool {
        let Some(name) = definition(property) else { return true };
        self.listed.insert((table.to_owned(), name.to_owned()))
    }

    /// Follows references, and `null` as an alternative.
    fn resolve(&self, node: &'a Value) -> &'a Value {
        let mut node = node;
        loop {
            node = if let Some(name) = node["$ref"].as_str() {
                &self.schema["$defs"][name.trim_start_matches("#/$defs/")]
            } else if let Some(alternatives) = node["anyOf"].as_array() {
                match alternatives.iter().find(|it| it["type"] != "null") {
                    Some(alternative) => alternative,
                    None => return node,
                }
            } else {
                return node;
            };
        }
    }

    /// Returns the items of a list or the entries of a map, and how a path refers to them.
    fn element(&self, value: &'a Value) -> (&'a Value, &'static str) {
        if value["items"].is_object() {
            (self.resolve(&value["items"]), "[]")
        } else if value["additionalProperties"].is_object() {
            (self.resolve(&value["additionalProperties"]), ".NAME")
        } else {
            (value, "")
        }
    }

    fn row(&self, path: &str, property: &'a Value, is_required: bool, link: Option<String>) -> Result<Row> {
        let value = self.resolve(property);
        let text = property["description"].as_str().or_else(|| value["description"].as_str());
        let text = text.with_context(|| format!("{path} has no description"))?;
        let (description, stated_default) = split_default(&text.replace('\n', " "));
        let default = match (is_required, stated_default, property.get("default")) {
            (true, ..) => "required".to_owned(),
            (_, Some(stated), _) => stated,
            // The keys of a section have their own defaults.
            (_, None, _) if value["properties"].is_object() => String::new(),
            (_, None, Some(default)) => default_value(default),
            (_, None, None) => "none".to_owned(),
        };
        let key = match link {
            Some(link) => format!("[`{path}`]({link})"),
            None => format!("`{path}`"),
        };
        let cell = |text: String| text.replace('|', "\\|");
        Ok(Row { key, kind: cell(self.kind(value)), default: cell(default), description: cell(description) })
    }

    fn kind(&self, value: &'a Value) -> String {
        if let Some(names) = names(value) {
            return names;
        }
        let (inner, suffix) = self.element(value);
        match (type_name(value), suffix) {
            ("array", "[]") => format!("list of {}s", self.kind(inner)),
            ("object", ".NAME") => format!("map of {}s", self.kind(inner)),
            ("array", _) => "list".to_owned(),
            ("object", _) => "map".to_owned(),
            (name @ "integer", _) => match (value["minimum"].as_u64(), value["maximum"].as_u64()) {
                (Some(minimum), Some(maximum)) => format!("{name} from {minimum} to {maximum}"),
                (Some(minimum @ 2..), None) => format!("{name}, at least {minimum}"),
                _ => name.to_owned(),
            },
            (name, _) => name.to_owned(),
        }
    }
}

/// Returns the name of the definition that a property, its items or its entries refer to.
fn definition(property: &Value) -> Option<&str> {
    let alternatives = property["anyOf"].as_array().into_iter().flatten();
    let nodes = alternatives.chain([property, &property["items"], &property["additionalProperties"]]);
    nodes.into_iter().find_map(|node| node["$ref"].as_str())
}

fn type_name(value: &Value) -> &str {
    match &value["type"] {
        Value::String(name) => name,
        Value::Array(names) => {
            names.iter().filter_map(Value::as_str).find(|it| *it != "null").unwrap_or("any")
        }
        _ => "any",
    }
}

/// Returns the names that an enumeration accepts.
fn names(value: &Value) -> Option<String> {
    let constants = value["oneOf"].as_array().into_iter().flatten().map(|it| &it["const"]);
    let names = value["enum"].as_array().into_iter().flatten().chain(constants);
    let names: Vec<String> = names.filter_map(Value::as_str).map(|it| format!("`{it}`")).collect();
    match names.split_last()? {
        (last, []) => Some(last.clone()),
        (last, others) => Some(format!("{} or {last}", others.join(", "))),
    }
}

/// Takes the sentence `Default: …` out of a description.
fn split_default(text: &str) -> (String, Option<String>) {
    let Some((before, rest)) = text.split_once("Default: ") else { return (text.to_owned(), None) };
    let (default, after) = rest.split_once(". ").unwrap_or((rest.trim_end_matches('.'), ""));
    (format!("{before}{after}").trim_end().to_owned(), Some(default.to_owned()))
}

fn default_value(value: &Value) -> String {
    let is_empty = match value {
        Value::Null => true,
        Value::String(text) => text.is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Object(entries) => entries.values().all(Value::is_null),
        _ => false,
    };
    match value {
        _ if is_empty => "none".to_owned(),
        Value::String(text) => format!("`{text}`"),
        Value::Number(number) => match number.as_u64() {
            Some(bytes) if bytes >= MIB && bytes % MIB == 0 => format!("{bytes} ({} MiB)", bytes / MIB),
            _ => number.to_string(),
        },
        Value::Bool(flag) => flag.to_string(),
        other => format!("`{other}`"),
    }
}

#[cfg(test)]
mod tests;
