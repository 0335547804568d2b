//! Values as short, readable YAML: flow style for small values, block style for deep ones (OT-7).

use serde_json::{Map, Value};

use super::scalar::{self, Style, literal_block};

/// Maximum nesting of flow style.
const MAX_FLOW_LEVELS: usize = 2;
/// Maximum length of a written key; longer ones need the explicit `? key` form.
const MAX_PLAIN_KEY: usize = 1000;

/// Writes a value in flow style: `{key: value}`. Lists of objects have one item per line, also below a key. Objects that
/// contain collections have one `key: value` line per key. Anything nested more than two levels deep is in block style.
///
/// Any YAML 1.2 parser reads the same value back.
pub fn to_text(value: &Value) -> String {
    let mut writer = Writer::new(MAX_FLOW_LEVELS);
    writer.node(value, 0);
    writer.out
}

/// Writes a value as [`to_text`] does, but each item of the list under `key` on its own line.
pub fn to_text_with_lines(value: &Value, key: &'static str) -> String {
    let mut writer = Writer { lines_key: Some(key), ..Writer::new(MAX_FLOW_LEVELS) };
    writer.node(value, 0);
    writer.out
}

/// Writes a value in block style, for people. Only empty collections are in flow style.
pub fn to_block(value: &Value) -> String {
    let mut writer = Writer::new(0);
    writer.node(value, 0);
    if writer.ends_in_block {
        writer.out.push('\n');
    }
    writer.out
}

/// Writes a value on one line, regardless of its depth.
pub fn to_line(value: &Value) -> String {
    let mut writer = Writer::new(usize::MAX);
    writer.flow(value);
    writer.out
}

struct Writer {
    out: String,
    /// Maximum nesting of flow style; 0 for block style.
    levels: usize,
    /// The key of a list whose items always have their own lines.
    lines_key: Option<&'static str>,
    /// Whether the output ends with a literal block, which includes the line break after it.
    ends_in_block: bool,
}

impl Writer {
    fn new(levels: usize) -> Self {
        Self { out: String::new(), levels, lines_key: None, ends_in_block: false }
    }

    /// Writes a value at the current position. Further lines are indented.
    fn node(&mut self, value: &Value, indent: usize) {
        match value {
            Value::Object(entries) if !self.is_simple(value) => {
                for (index, (key, value)) in entries.iter().enumerate() {
                    if index > 0 {
                        self.new_line(indent);
                    }
                    self.entry(key, value, indent);
                }
            }
            Value::Array(items) if !self.is_simple(value) => self.sequence(items, indent),
            _ => self.leaf(value, indent + 2),
        }
    }

    /// Writes a list with one item per line.
    fn sequence(&mut self, items: &[Value], indent: usize) {
        for (index, item) in items.iter().enumerate() {
            if index > 0 {
                self.new_line(indent);
            }
            self.out.push_str("- ");
            if self.is_inline(item) {
                self.leaf(item, indent + 2);
            } else {
                self.node(item, indent + 2);
            }
        }
    }

    fn entry(&mut self, key: &str, value: &Value, indent: usize) {
        if self.key(key, Style::Block) {
            self.new_line(indent);
        }
        self.out.push(':');
        match value {
            Value::Array(items) if self.lines_key == Some(key) && !items.is_empty() => {
                self.new_line(indent + 2);
                self.sequence(items, indent + 2);
            }
            _ if self.is_inline(value) => {
                self.out.push(' ');
                self.leaf(value, indent + 2);
            }
            _ => {
                self.new_line(indent + 2);
                self.node(value, indent + 2);
            }
        }
    }

    /// Writes a value that needs no further nesting; in block style, text of several lines becomes a literal block.
    fn leaf(&mut self, value: &Value, indent: usize) {
        let Value::String(text) = value else {
            self.ends_in_block = false;
            return self.flow(value);
        };
        let block = literal_block(text, indent).filter(|_| self.levels == 0);
        self.ends_in_block = block.is_some();
        match block {
            Some(block) => self.out.push_str(&block),
            None => self.scalar(text, Style::Block),
        }
    }

    fn flow(&mut self, value: &Value) {
        match value {
            Value::Null => self.out.push_str("null"),
            Value::Bool(truth) => self.out.push_str(if *truth { "true" } else { "false" }),
            Value::Number(number) => scalar::number(&mut self.out, number),
            Value::String(text) => self.scalar(text, Style::Flow),
            Value::Array(items) => {
                self.out.push('[');
                for (index, item) in items.iter().enumerate() {
                    self.separate(index);
                    self.flow(item);
                }
                self.out.push(']');
            }
            Value::Object(entries) => self.flow_map(entries),
        }
    }

    fn flow_map(&mut self, entries: &Map<String, Value>) {
        self.out.push('{');
        for (index, (key, value)) in entries.iter().enumerate() {
            self.separate(index);
            let is_explicit = self.key(key, Style::Flow);
            self.out.push_str(if is_explicit { " : " } else { ": " });
            self.flow(value);
        }
        self.out.push('}');
    }

    /// Writes a key. Returns whether it needs the explicit form.
    fn key(&mut self, key: &str, style: Style) -> bool {
        let start = self.out.len();
        self.scalar(key, style);
        let is_long = self.out.len() - start > MAX_PLAIN_KEY;
        if is_long {
            self.out.insert_str(start, "? ");
        }
        is_long
    }

    fn separate(&mut self, index: usize) {
        if index > 0 {
            self.out.push_str(", ");
        }
    }

    fn scalar(&mut self, text: &str, style: Style) {
        scalar::text(&mut self.out, text, style);
    }

    fn new_line(&mut self, indent: usize) {
        self.out.push('\n');
        self.out.extend(std::iter::repeat_n(' ', indent));
    }

    /// Returns whether a whole value is written on one line: a scalar, or a collection of scalars and empty collections.
    fn is_simple(&self, value: &Value) -> bool {
        is_leaf(value) || (self.levels > 0 && children(value).all(is_leaf))
    }

    /// Returns whether a value after a key or a dash is written in flow style. A list of objects never is.
    fn is_inline(&self, value: &Value) -> bool {
        is_leaf(value) || (nests_at_most(self.levels, value) && !is_list_of_objects(value))
    }
}

fn is_list_of_objects(value: &Value) -> bool {
    value.as_array().is_some_and(|items| items.iter().any(|it| it.is_object() && !is_leaf(it)))
}

/// Returns whether a value has at most `levels` levels of collections.
fn nests_at_most(levels: usize, value: &Value) -> bool {
    match value {
        Value::Array(_) | Value::Object(_) => {
            levels > 0 && children(value).all(|child| nests_at_most(levels - 1, child))
        }
        _ => true,
    }
}

/// Returns whether a value is a scalar or an empty collection.
fn is_leaf(value: &Value) -> bool {
    children(value).next().is_none()
}

fn children(value: &Value) -> Box<dyn Iterator<Item = &Value> + '_> {
    match value {
        Value::Array(items) => Box::new(items.iter()),
        Value::Object(entries) => Box::new(entries.values()),
        _ => Box::new(std::iter::empty()),
    }
}

#[cfg(test)]
mod tests;
