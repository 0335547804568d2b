//! Shapes as text: a short form for lists of tools, and a full form with types.

use std::fmt::{self, Write as _};

use super::{Record, Shape};

/// Limits of the short form: keys of a record, and its length in characters.
const SHORT_KEYS: usize = 8;
const SHORT_DEPTH: usize = 3;
const SHORT_MAX: usize = 160;
/// Maximum length of the full form in bytes.
const FULL_MAX: usize = 4_000;

impl Shape {
    /// Returns the keys without types: `{items: [{id, title, …}], next}`.
    pub fn short(&self) -> String {
        // Shows fewer levels and keys until the text is short enough.
        for (depth, keys) in [(SHORT_DEPTH, SHORT_KEYS), (2, SHORT_KEYS), (2, 5), (1, SHORT_KEYS), (1, 3)] {
            let text = self.short_with(depth, keys);
            if text.chars().count() <= SHORT_MAX {
                return text;
            }
        }
        self.short_with(0, 0)
    }

    fn short_with(&self, depth: usize, keys: usize) -> String {
        match self {
            Self::List(element) if depth == 0 || element.is_any() => "list".to_owned(),
            Self::List(element) => format!("[{}]", element.short_with(depth, keys)),
            Self::Record(_) if depth == 0 => "{…}".to_owned(),
            Self::Record(record) => short_record(record, depth, keys),
            Self::Union(variants) => {
                let variants: Vec<String> = variants.iter().map(|it| it.short_with(depth, keys)).collect();
                variants.join(" | ")
            }
            other => other.to_string(),
        }
    }
}

fn short_record(record: &Record, depth: usize, keys: usize) -> String {
    let mut parts = Vec::new();
    for field in record.fields.iter().take(keys) {
        let has_keys = |shape: &Shape| {
            let parts =
                if let Shape::Union(variants) = shape { &variants[..] } else { std::slice::from_ref(shape) };
            parts.iter().any(|it| matches!(it, Shape::List(_) | Shape::Record(_)))
        };
        let inner = (depth > 1 && has_keys(&field.shape)).then(|| field.shape.short_with(depth - 1, keys));
        parts.push(match inner {
            Some(inner) => format!("{}: {inner}", key(&field.name)),
            None => key(&field.name),
        });
    }
    if record.fields.len() > keys {
        parts.push("…".to_owned());
    }
    format!("{{{}}}", parts.join(", "))
}

/// Writes the shape with types: `{items: list[{id: int, title?: str}], next: str | None}`.
impl fmt::Display for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = String::new();
        write_full(&mut text, self);
        f.write_str(&text)
    }
}

fn write_full(text: &mut String, shape: &Shape) {
    if text.len() > FULL_MAX {
        text.push('…');
        return;
    }
    match shape {
        Shape::Any => text.push_str("Any"),
        Shape::Null => text.push_str("None"),
        Shape::Bool => text.push_str("bool"),
        Shape::Int => text.push_str("int"),
        Shape::Float => text.push_str("float"),
        Shape::Str => text.push_str("str"),
        Shape::List(element) if element.is_any() => text.push_str("list"),
        Shape::List(element) => {
            text.push_str("list[");
            write_full(text, element);
            text.push(']');
        }
        Shape::Map(value) if value.is_any() => text.push_str("dict"),
        Shape::Map(value) => {
            text.push_str("dict[str, ");
            write_full(text, value);
            text.push(']');
        }
        Shape::Record(record) => {
            text.push('{');
            for (index, field) in record.fields.iter().enumerate() {
                if text.len() > FULL_MAX {
                    text.push_str(if index > 0 { ", …" } else { "…" });
                    break;
                }
                let optional = if field.is_optional { "?" } else { "" };
                let separator = if index > 0 { ", " } else { "" };
                // Writing to a String cannot fail.
                let _ = write!(text, "{separator}{}{optional}: ", key(&field.name));
                write_full(text, &field.shape);
            }
            text.push('}');
        }
        Shape::Union(variants) => {
            for (index, variant) in variants.iter().enumerate() {
                text.push_str(if index > 0 { " | " } else { "" });
                write_full(text, variant);
            }
        }
    }
}

/// Returns a key as it is if it looks like an identifier, else quoted.
fn key(name: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '$' | '@' | '.');
    if !name.is_empty() && name.chars().all(is_plain) { name.to_owned() } else { format!("{name:?}") }
}
