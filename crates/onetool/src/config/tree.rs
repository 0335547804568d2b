//! The YAML tree, in which every value and every key knows its file and line.

use std::fmt;
use std::path::Path;
use std::sync::Arc;

use indexmap::IndexMap;
use serde_json::{Number, Value};

/// A line of a configuration file.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Location {
    /// The file.
    pub file: Arc<Path>,
    /// The line, counted from 1.
    pub line: usize,
}

impl fmt::Display for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.file.display(), self.line)
    }
}

/// A value as written.
#[derive(Debug, Clone)]
pub(super) struct Node {
    pub(super) kind: Kind,
    pub(super) at: Location,
}

#[derive(Debug, Clone)]
pub(super) enum Kind {
    Scalar(Scalar),
    Seq(Vec<Node>),
    Map(IndexMap<String, Entry>),
}

/// A text, a number, a truth value or null.
///
/// The text stays as it was written until the reader says what it wants, so `0123` or `1.10` in the place of a
/// string loses nothing.
#[derive(Debug, Clone)]
pub(super) struct Scalar {
    pub(super) text: String,
    /// Whether it stands without quotes, and so may mean something else than its text.
    pub(super) is_plain: bool,
    /// Whether a variable is part of it, so that nobody may quote it.
    pub(super) is_expanded: bool,
}

impl Scalar {
    /// Returns what it means under the core schema of YAML 1.2.
    pub(super) fn value(&self) -> Value {
        match core_schema(&self.text) {
            // An empty variable is an empty text.
            Some(Value::Null) if self.is_expanded => Value::from(self.text.as_str()),
            Some(value) if self.is_plain => value,
            _ => Value::from(self.text.as_str()),
        }
    }
}

#[derive(Debug, Clone)]
pub(super) struct Entry {
    /// Where the key stands.
    pub(super) key_at: Location,
    pub(super) value: Node,
}

impl Node {
    pub(super) fn empty_map(at: Location) -> Self {
        Self { kind: Kind::Map(IndexMap::new()), at }
    }

    pub(super) fn get(&self, key: &str) -> Option<&Entry> {
        match &self.kind {
            Kind::Map(entries) => entries.get(key),
            _ => None,
        }
    }

    pub(super) fn is_null(&self) -> bool {
        matches!(&self.kind, Kind::Scalar(scalar) if scalar.value().is_null())
    }
}

/// Reads plain text as null, a truth value or a number; anything else is text.
///
/// What JSON cannot say (`.inf`, `.nan`) is text, too.
fn core_schema(text: &str) -> Option<Value> {
    match text {
        "" | "~" | "null" | "Null" | "NULL" => return Some(Value::Null),
        "true" | "True" | "TRUE" => return Some(Value::Bool(true)),
        "false" | "False" | "FALSE" => return Some(Value::Bool(false)),
        _ => {}
    }
    for (prefix, radix) in [("0x", 16), ("0o", 8)] {
        if let Some(digits) = text.strip_prefix(prefix).filter(|it| !it.starts_with(['+', '-'])) {
            return u64::from_str_radix(digits, radix).ok().map(Value::from);
        }
    }
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    if !unsigned.starts_with(|c: char| c.is_ascii_digit() || c == '.') {
        return None;
    }
    if let Ok(number) = text.parse::<i64>() {
        return Some(number.into());
    }
    text.parse::<u64>()
        .map(Number::from)
        .ok()
        .or_else(|| Number::from_f64(text.parse().ok()?))
        .map(Value::Number)
}

/// A place in the tree that may hold nothing; it always knows the nearest line.
#[derive(Debug, Clone)]
pub(super) struct Place<'a> {
    pub(super) at: &'a Location,
    /// The keys that lead here, as `tools[0].http.url`.
    pub(super) path: String,
    node: Option<&'a Node>,
}

impl<'a> Place<'a> {
    pub(super) fn root(node: &'a Node) -> Self {
        Self { at: &node.at, path: String::new(), node: Some(node) }
    }

    pub(super) fn field(&self, key: &str) -> Self {
        let entry = self.node.and_then(|node| node.get(key));
        let path = join_key(&self.path, key);
        Self { at: entry.map_or(self.at, |it| &it.value.at), path, node: entry.map(|it| &it.value) }
    }

    /// Tells whether a variable is part of the value here.
    pub(super) fn is_expanded(&self) -> bool {
        matches!(self.node.map(|node| &node.kind), Some(Kind::Scalar(scalar)) if scalar.is_expanded)
    }

    pub(super) fn item(&self, index: usize) -> Self {
        let node = match self.node.map(|node| &node.kind) {
            Some(Kind::Seq(items)) => items.get(index),
            _ => None,
        };
        Self { at: node.map_or(self.at, |it| &it.at), path: format!("{}[{index}]", self.path), node }
    }
}

/// Appends a key to a path of keys.
pub(super) fn join_key(path: &str, key: &str) -> String {
    if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") }
}
