//! What is stored of a result: text in lines, and what can be said about it in a few words.

use std::fmt;

use serde::de::{Deserialize, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::Value;

use super::indent::{MAX_DEPTH, indented};
use super::lines::{LINE_MAX, has_long, lines};

/// How many keys a summary names, and how much of each.
const KEYS_SHOWN: usize = 8;
const KEY_CHARACTERS: usize = 32;

/// A result that is too large to be sent whole.
#[derive(Debug, Clone, PartialEq)]
pub enum ResultBody {
    /// Text; JSON that was written as text counts as data.
    Text(String),
    /// Data.
    Json(Value),
}

/// A result as it is stored.
#[derive(Debug)]
pub(super) struct Prepared {
    pub(super) text: String,
    pub(super) is_json: bool,
    pub(super) total_lines: usize,
    pub(super) summary: String,
}

impl Prepared {
    pub(super) fn new(body: ResultBody) -> Self {
        let text = match body {
            ResultBody::Text(text) | ResultBody::Json(Value::String(text)) => text,
            ResultBody::Json(value) => value.to_string(),
        };
        let shape = Shape::of(&text);
        let is_one_line = text.trim().lines().nth(1).is_none();
        let text = if shape.is_some() && is_one_line { indented(&text) } else { text };
        let total_lines = lines(&text).count();
        let kind = shape.as_ref().map_or_else(|| "text".to_owned(), Shape::to_string);
        let counted = counted(total_lines, has_long(&text));
        let summary = format!("{kind}; {counted}, {}", readable_size(text.len()));
        Self { is_json: shape.is_some(), total_lines, summary, text }
    }
}

/// Says how many lines there are, and what counts as one.
pub(super) fn counted(lines: usize, has_long: bool) -> String {
    let split =
        if has_long { format!(" (long ones split every {LINE_MAX} characters)") } else { String::new() };
    format!("{lines} lines{split}")
}

/// What JSON looks like from afar.
enum Shape {
    Array { items: usize, first: Option<Box<Self>> },
    Object { keys: Vec<String>, total: usize },
    Scalar,
}

impl Shape {
    /// Reads through an object or array written as JSON, without building it; anything else has no shape.
    fn of(text: &str) -> Option<Self> {
        if !text.trim_start().starts_with(['{', '[']) {
            return None;
        }
        let shape = serde_json::from_str(text).ok()?;
        is_shallow(text).then_some(shape)
    }
}

impl fmt::Display for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Scalar => f.write_str("JSON"),
            Self::Object { keys, total } => {
                write!(f, "JSON object with {total} keys")?;
                write_keys(f, keys, *total)
            }
            Self::Array { items, first } => {
                write!(f, "JSON array of {items} items")?;
                match first.as_deref() {
                    Some(Self::Object { keys, total }) => {
                        f.write_str(", the first with the keys")?;
                        write_keys(f, keys, *total)
                    }
                    _ => Ok(()),
                }
            }
        }
    }
}

fn write_keys(f: &mut fmt::Formatter<'_>, keys: &[String], total: usize) -> fmt::Result {
    for (index, key) in keys.iter().enumerate() {
        write!(f, "{}{}", if index == 0 { ": " } else { ", " }, cut(key, KEY_CHARACTERS))?;
    }
    if total > keys.len() { f.write_str(", …") } else { Ok(()) }
}

impl<'de> Deserialize<'de> for Shape {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Look;

        impl<'de> Visitor<'de> for Look {
            type Value = Shape;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("JSON")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Shape, A::Error> {
                let first = seq.next_element::<Shape>()?.map(Box::new);
                let mut items = usize::from(first.is_some());
                while seq.next_element::<IgnoredAny>()?.is_some() {
                    items += 1;
                }
                Ok(Shape::Array { items, first })
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Shape, A::Error> {
                let (mut keys, mut total) = (Vec::new(), 0);
                while let Some((key, IgnoredAny)) = map.next_entry::<String, IgnoredAny>()? {
                    total += 1;
                    if keys.len() < KEYS_SHOWN {
                        keys.push(key);
                    }
                }
                Ok(Shape::Object { keys, total })
            }

            fn visit_unit<E>(self) -> Result<Shape, E> {
                Ok(Shape::Scalar)
            }

            fn visit_bool<E>(self, _: bool) -> Result<Shape, E> {
                Ok(Shape::Scalar)
            }

            fn visit_i64<E>(self, _: i64) -> Result<Shape, E> {
                Ok(Shape::Scalar)
            }

            fn visit_u64<E>(self, _: u64) -> Result<Shape, E> {
                Ok(Shape::Scalar)
            }

            fn visit_f64<E>(self, _: f64) -> Result<Shape, E> {
                Ok(Shape::Scalar)
            }

            fn visit_str<E>(self, _: &str) -> Result<Shape, E> {
                Ok(Shape::Scalar)
            }
        }

        deserializer.deserialize_any(Look)
    }
}

/// Returns whether valid JSON can be read back, and indented without growing too much.
fn is_shallow(json: &str) -> bool {
    let mut depth = 0_usize;
    let mut rest = json.trim_start();
    while let Some(first) = rest.chars().next() {
        match first {
            '{' | '[' => depth += 1,
            '}' | ']' => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth > MAX_DEPTH {
            return false;
        }
        rest = rest[token_length(rest)..].trim_start();
    }
    true
}

/// Returns how many bytes the first token has: a mark, a string, or a bare word.
fn token_length(json: &str) -> usize {
    let bytes = json.as_bytes();
    match bytes[0] {
        b'"' => {
            let mut end = 1;
            while end < bytes.len() && bytes[end] != b'"' {
                end += if bytes[end] == b'\\' { 2 } else { 1 };
            }
            (end + 1).min(bytes.len())
        }
        b'{' | b'}' | b'[' | b']' | b',' | b':' => 1,
        _ => json.find([',', '}', ']', ':', ' ', '\n', '\r', '\t']).unwrap_or(bytes.len()).max(1),
    }
}

/// Shortens text to at most `max` characters, the last of which then says that there was more.
pub fn cut(text: &str, max: usize) -> String {
    match text.char_indices().nth(max) {
        None => text.to_owned(),
        Some(_) => text.chars().take(max.saturating_sub(1)).chain(['…']).collect(),
    }
}

#[expect(clippy::cast_precision_loss, reason = "one decimal is shown")]
pub(super) fn readable_size(bytes: usize) -> String {
    match bytes {
        0..1000 => format!("{bytes} bytes"),
        1000..1_000_000 => format!("{:.1} KB", bytes as f64 / 1e3),
        _ => format!("{:.1} MB", bytes as f64 / 1e6),
    }
}
