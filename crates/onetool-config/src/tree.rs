//! The YAML tree, in which every value and key has its file and line.

use std::fmt;
use std::path::{Path, PathBuf};
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
pub(crate) struct Node {
    pub(crate) kind: Kind,
    pub(crate) at: Location,
}

#[derive(Debug, Clone)]
pub(crate) enum Kind {
    Scalar(Scalar),
    Seq(Vec<Node>),
    Map(IndexMap<String, Entry>),
}

/// A string, number, boolean or null.
///
/// The text is kept as written until its type is known, so that `0123` or `1.10` is unchanged where a string is
/// expected.
#[derive(Debug, Clone)]
pub(crate) struct Scalar {
    pub(crate) text: String,
    /// Whether it is written without quotes, and therefore may be a number, boolean or null.
    pub(crate) is_plain: bool,
    /// Whether it contains a variable; messages must not quote such a value.
    pub(crate) is_expanded: bool,
}

impl Scalar {
    /// Returns its value under the core schema of YAML 1.2.
    pub(crate) fn value(&self) -> Value {
        match core_schema(&self.text) {
            // An empty variable is an empty string.
            Some(Value::Null) if self.is_expanded => Value::from(self.text.as_str()),
            Some(value) if self.is_plain => value,
            _ => Value::from(self.text.as_str()),
        }
    }
}

#[derive(Debug, Clone)]
pub(crate) struct Entry {
    /// Where the key is.
    pub(crate) key_at: Location,
    pub(crate) value: Node,
}

impl Node {
    pub(crate) fn empty_map(at: Location) -> Self {
        Self { kind: Kind::Map(IndexMap::new()), at }
    }

    pub(crate) fn get(&self, key: &str) -> Option<&Entry> {
        match &self.kind {
            Kind::Map(entries) => entries.get(key),
            _ => None,
        }
    }

    pub(crate) fn is_null(&self) -> bool {
        matches!(&self.kind, Kind::Scalar(scalar) if scalar.value().is_null())
    }
}

/// Reads plain text as null, a boolean or a number; anything else is a string.
///
/// Numbers that JSON cannot represent (`.inf`, `.nan`) are strings, too.
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

/// Makes a path absolute. A relative path starts at the directory of the file that contains it.
pub(crate) fn absolute_path(path: &str, at: &Location) -> PathBuf {
    let directory = at.file.parent().unwrap_or(&at.file);
    // Collecting the components removes `.`.
    directory.join(path).components().collect()
}

/// Appends a key to a path of keys.
pub(crate) fn join_key(path: &str, key: &str) -> String {
    if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") }
}
