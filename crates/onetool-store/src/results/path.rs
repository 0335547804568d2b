//! Picking a part out of JSON with a path such as `a.b[0]`.

use std::fmt::Write as _;

use onetool_core::abbreviate;
use serde_json::Value;

use super::body::cut;

const KEYS_SHOWN: usize = 10;
const KEY_CHARACTERS: usize = 40;
/// Why a path leads nowhere.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PathError {
    /// It is not written as a path.
    #[error("path '{path}' cannot be read at '{at}': write it like a.b[0] or a[\"odd key\"]")]
    Syntax {
        /// The path.
        path: String,
        /// What comes where something else was expected.
        at: String,
    },
    /// An object has no such key.
    #[error("path '{path}': there is no key '{key}' in {parent}{hint}")]
    Key {
        /// The path.
        path: String,
        /// The key that is missing.
        key: String,
        /// Where it is missing.
        parent: String,
        /// The keys that are there.
        hint: String,
    },
    /// An array is shorter.
    #[error("path '{path}': there is no item [{index}] in {parent}, which has {length}")]
    Index {
        /// The path.
        path: String,
        /// The place that is missing.
        index: i64,
        /// Where it is missing.
        parent: String,
        /// How many items there are.
        length: usize,
    },
    /// There is nothing to go into.
    #[error("path '{path}': there is no {part} in {parent}, which is {kind}")]
    Kind {
        /// The path.
        path: String,
        /// The part of the path that is asked for.
        part: String,
        /// Where it is asked for.
        parent: String,
        /// The kind of value in its place.
        kind: &'static str,
    },
}

enum Step {
    Key(String),
    Index(i64),
}

/// Returns the part of `value` at `path`. A negative index counts from the end, a leading `$` is the whole.
pub(super) fn pick<'a>(value: &'a Value, path: &str) -> Result<&'a Value, PathError> {
    let mut current = value;
    let mut parent = String::new();
    for step in parse(path)? {
        let path = || abbreviate(path).into_owned();
        let place = || if parent.is_empty() { "the result".to_owned() } else { format!("'{parent}'") };
        current = match (&step, current) {
            (Step::Key(key), Value::Object(object)) => object.get(key).ok_or_else(|| PathError::Key {
                path: path(),
                key: abbreviate(key).into_owned(),
                parent: place(),
                hint: keys_hint(object.keys()),
            })?,
            (Step::Index(index), Value::Array(items)) => {
                let from_end = i64::try_from(items.len()).unwrap_or(i64::MAX);
                let position = if *index < 0 { index.saturating_add(from_end) } else { *index };
                usize::try_from(position).ok().and_then(|position| items.get(position)).ok_or_else(|| {
                    PathError::Index { path: path(), index: *index, parent: place(), length: items.len() }
                })?
            }
            (step, other) => {
                let part = match step {
                    Step::Key(key) => format!("key '{}'", abbreviate(key)),
                    Step::Index(index) => format!("item [{index}]"),
                };
                return Err(PathError::Kind { path: path(), part, parent: place(), kind: kind(other) });
            }
        };
        match step {
            Step::Key(key) if parent.is_empty() => parent = key,
            Step::Key(key) => parent.extend([".", &key]),
            Step::Index(index) => {
                let _ = write!(parent, "[{index}]");
            }
        }
    }
    Ok(current)
}

fn parse(path: &str) -> Result<Vec<Step>, PathError> {
    let syntax =
        |at: &str| PathError::Syntax { path: abbreviate(path).into_owned(), at: cut(at, KEY_CHARACTERS) };
    let mut steps = Vec::new();
    let mut rest = path.trim();
    rest = rest.strip_prefix('$').filter(|it| it.is_empty() || it.starts_with(['.', '['])).unwrap_or(rest);
    while !rest.is_empty() {
        if let Some(inside) = rest.strip_prefix('[') {
            let (step, after) = bracketed(inside).ok_or_else(|| syntax(rest))?;
            steps.push(step);
            rest = after;
            continue;
        }
        // The dot before a key may be missing only at the very beginning.
        let key = match rest.strip_prefix('.') {
            Some(key) => key,
            None if steps.is_empty() => rest,
            None => return Err(syntax(rest)),
        };
        let end = key.find(['.', '[']).unwrap_or(key.len());
        if end == 0 {
            return Err(syntax(rest));
        }
        steps.push(Step::Key(key[..end].to_owned()));
        rest = &key[end..];
    }
    Ok(steps)
}

/// Reads what follows a `[`: an index, or a key in quotes, up to the `]`.
fn bracketed(inside: &str) -> Option<(Step, &str)> {
    let Some(quote) = inside.chars().next().filter(|it| matches!(it, '"' | '\'')) else {
        let (index, after) = inside.split_once(']')?;
        return Some((Step::Index(index.trim().parse().ok()?), after));
    };
    let mut key = String::new();
    let mut characters = inside.char_indices().skip(1);
    while let Some((position, character)) = characters.next() {
        match character {
            '\\' => key.push(characters.next()?.1),
            _ if character == quote => {
                let after = inside[position + 1..].trim_start().strip_prefix(']')?;
                return Some((Step::Key(key), after));
            }
            _ => key.push(character),
        }
    }
    None
}

fn keys_hint<'a>(keys: impl ExactSizeIterator<Item = &'a String>) -> String {
    let total = keys.len();
    if total == 0 {
        return ", which is empty".into();
    }
    let shown: Vec<String> = keys.take(KEYS_SHOWN).map(|key| cut(key, KEY_CHARACTERS)).collect();
    format!("; it has {}{}", shown.join(", "), if total > shown.len() { ", …" } else { "" })
}

fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    }
}
