//! Parses YAML text into a tree, within limits that also hold for hostile files.

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

use indexmap::IndexMap;
use saphyr_parser::{Event, Parser, ScalarStyle, Tag};

use crate::error::ConfigError;
use crate::tree::{Entry, Kind, Location, Node, Scalar};

/// Maximum nesting. Code that recurses over the tree relies on it.
pub(crate) const MAX_DEPTH: usize = 64;

/// The number of nodes that the files of one configuration may still add, counting copies made by aliases.
pub(crate) struct Budget(pub(crate) usize);

impl Default for Budget {
    fn default() -> Self {
        Self(100_000)
    }
}

impl Budget {
    fn take(&mut self, nodes: usize) -> Result<(), &'static str> {
        self.0 = self
            .0
            .checked_sub(nodes)
            .ok_or("too many values (limit 100000, counting copies made by aliases)")?;
        Ok(())
    }
}

/// Parses the single document in `text`; an empty file is an empty map.
///
/// Builds the tree from the parser's events, because the parser's own tree builder recurses without a limit.
pub(crate) fn parse(text: &str, file: &Arc<Path>, budget: &mut Budget) -> Result<Node, ConfigError> {
    let at = |line| Location { file: Arc::clone(file), line };
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut parser = Parser::new_from_str(text);
    let mut builder = Builder { budget, stack: Vec::new(), anchors: HashMap::new(), root: None };
    while let Some(event) = parser.next_event() {
        let (event, span) = event.map_err(|error| {
            let line = error.marker().line();
            ConfigError::Syntax {
                message: error.info().to_owned(),
                hint: quoting_hint(text, line),
                at: at(line),
            }
        })?;
        let at = at(span.start.line());
        builder.event(event, &at).map_err(|message| ConfigError::Syntax { message, hint: None, at })?;
    }
    match builder.root {
        Some(node) if !node.is_null() => Ok(node),
        _ => Ok(Node::empty_map(at(1))),
    }
}

/// Returns a hint for the most common mistake: a variable without quotes inside brackets.
fn quoting_hint(text: &str, line: usize) -> Option<String> {
    let near = text.lines().skip(line.saturating_sub(2)).take(2);
    let is_likely = near.into_iter().any(|line| line.contains("${"));
    is_likely.then(|| "inside [ ] and { }, put \"${NAME}\" in quotes".to_owned())
}

struct Builder<'a> {
    budget: &'a mut Budget,
    stack: Vec<Frame>,
    anchors: HashMap<usize, Anchor>,
    root: Option<Node>,
}

/// A list or map that is not closed yet.
struct Frame {
    node: Node,
    anchor: usize,
    key: Option<(String, Location)>,
}

struct Anchor {
    node: Node,
    size: Size,
}

impl Builder<'_> {
    fn event(&mut self, event: Event<'_>, at: &Location) -> Result<(), String> {
        match event {
            Event::DocumentStart(_) if self.root.is_some() => {
                Err("only one document per file is allowed".into())
            }
            Event::Scalar(text, style, anchor, tag) => {
                let is_plain = style == ScalarStyle::Plain && !is_text(tag.as_deref())?;
                // The parser locates an empty value at the next token; use the line of its key instead.
                let key_line = self.key_line().filter(|_| text.is_empty() && is_plain);
                let at = key_line.unwrap_or(at).clone();
                let scalar = Scalar { text: text.into_owned(), is_plain, is_expanded: false };
                let node = Node { kind: Kind::Scalar(scalar), at };
                self.budget.take(1)?;
                self.complete(node, anchor)
            }
            Event::SequenceStart(anchor, tag) => self.open(Kind::Seq(Vec::new()), anchor, tag.as_deref(), at),
            Event::MappingStart(anchor, tag) => {
                self.open(Kind::Map(IndexMap::new()), anchor, tag.as_deref(), at)
            }
            Event::SequenceEnd | Event::MappingEnd => match self.stack.pop() {
                Some(frame) => self.complete(frame.node, frame.anchor),
                None => Ok(()),
            },
            Event::Alias(id) => {
                let anchor = self.anchors.get(&id).ok_or("an alias cannot be inside its own anchor")?;
                self.budget.take(anchor.size.nodes)?;
                if self.stack.len() + anchor.size.depth > MAX_DEPTH {
                    return Err(too_deep());
                }
                self.complete(anchor.node.clone(), 0)
            }
            _ => Ok(()),
        }
    }

    fn key_line(&self) -> Option<&Location> {
        self.stack.last()?.key.as_ref().map(|(_, at)| at)
    }

    fn open(&mut self, kind: Kind, anchor: usize, tag: Option<&Tag>, at: &Location) -> Result<(), String> {
        is_text(tag)?;
        if self.stack.len() >= MAX_DEPTH {
            return Err(too_deep());
        }
        self.budget.take(1)?;
        self.stack.push(Frame { node: Node { kind, at: at.clone() }, anchor, key: None });
        Ok(())
    }

    /// Adds a finished node to its parent.
    fn complete(&mut self, node: Node, anchor: usize) -> Result<(), String> {
        if anchor > 0 {
            let size = measure(&node);
            self.budget.take(size.nodes)?;
            self.anchors.insert(anchor, Anchor { node: node.clone(), size });
        }
        let Some(frame) = self.stack.last_mut() else {
            self.root = Some(node);
            return Ok(());
        };
        match (&mut frame.node.kind, frame.key.take()) {
            (Kind::Seq(items), _) => items.push(node),
            (Kind::Map(entries), None) => {
                let key = key_text(&node)?;
                if let Some(first) = entries.get(&key) {
                    return Err(format!("duplicate key '{key}', first on line {}", first.key_at.line));
                }
                frame.key = Some((key, node.at));
            }
            (Kind::Map(entries), Some((key, key_at))) => {
                entries.insert(key, Entry { key_at, value: node });
            }
            (Kind::Scalar(_), _) => {}
        }
        Ok(())
    }
}

fn key_text(node: &Node) -> Result<String, String> {
    match &node.kind {
        Kind::Scalar(scalar) if scalar.value().is_string() => Ok(scalar.text.clone()),
        Kind::Scalar(Scalar { text, .. }) => Err(format!("a key must be text, put it in quotes: \"{text}\"")),
        _ => Err("a key must be text, not a list or a map".into()),
    }
}

/// Returns whether a tag makes its value a string. The error does not quote the tag, which may be an unquoted password.
fn is_text(tag: Option<&Tag>) -> Result<bool, String> {
    match tag {
        Some(tag) if !tag.is_yaml_core_schema() => {
            Err("tags are not supported; put a value that begins with '!' in quotes".into())
        }
        tag => Ok(tag.is_some_and(|tag| tag.suffix == "str")),
    }
}

fn too_deep() -> String {
    format!("nested deeper than {MAX_DEPTH} levels")
}

#[derive(Clone, Copy)]
struct Size {
    nodes: usize,
    depth: usize,
}

fn measure(node: &Node) -> Size {
    let add = |sum: Size, child: Size| Size {
        nodes: sum.nodes + child.nodes,
        depth: sum.depth.max(child.depth + 1),
    };
    let one = Size { nodes: 1, depth: 1 };
    match &node.kind {
        Kind::Scalar(_) => Size { nodes: 1, depth: 0 },
        Kind::Seq(items) => items.iter().map(measure).fold(one, add),
        Kind::Map(entries) => entries.values().map(|entry| measure(&entry.value)).fold(one, add),
    }
}
