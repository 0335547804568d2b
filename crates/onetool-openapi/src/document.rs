//! Lazily parsed documents: the text, and an index of its parts.
//!
//! A description is never parsed as a whole. One pass finds the paths and components; each of them is parsed
//! separately, when it is planned. This is several times faster than parsing the whole document into a tree, and needs
//! almost no extra memory.

use std::borrow::Cow;
use std::collections::HashMap;
use std::fmt;
use std::path::Path;

use indexmap::IndexMap;
use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::Value;
use serde_json::value::RawValue;

use crate::error::PlanError;
use crate::location::Location;

/// The text of a document, converted to JSON.
pub(crate) struct DocumentText<'b> {
    location: &'b Location,
    json: Cow<'b, str>,
}

impl<'b> DocumentText<'b> {
    /// Reads bytes as JSON or YAML.
    pub(crate) fn new(location: &'b Location, bytes: &'b [u8]) -> Result<Self, PlanError> {
        let text = std::str::from_utf8(bytes).map_err(|error| {
            syntax_error(location, "UTF-8", format!("invalid byte at offset {}", error.valid_up_to()))
        })?;
        let text = text.trim_start_matches('\u{feff}').trim_start();
        if text.starts_with(['{', '[']) && !is_yaml_file(location) {
            return Ok(Self { location, json: text.into() });
        }
        let value = parse_yaml(&replace_control_characters(text))
            .map_err(|reason| syntax_error(location, "YAML", reason))?;
        Ok(Self { location, json: value.to_string().into() })
    }

    /// Indexes the parts of the document.
    pub(crate) fn parse(&self) -> Result<Document<'_>, PlanError> {
        let mut deserializer = serde_json::Deserializer::from_str(&self.json);
        let root =
            IndexSeed(ROOT).deserialize(&mut deserializer).and_then(|root| deserializer.end().map(|()| root));
        let root = root.map_err(|error| syntax_error(self.location, "JSON", error.to_string()))?;
        Ok(Document { location: self.location, text: &self.json, root })
    }
}

fn syntax_error(location: &Location, format: &str, reason: String) -> PlanError {
    PlanError::Syntax { document: location.to_string(), format: format.to_owned(), reason }
}

fn is_yaml_file(location: &Location) -> bool {
    let path = match location {
        Location::File(path) => path.as_path(),
        Location::Url(url) => Path::new(url.path()),
        Location::Inline => return false,
    };
    path.extension().is_some_and(|it| it.eq_ignore_ascii_case("yaml") || it.eq_ignore_ascii_case("yml"))
}

/// Replaces control characters that YAML forbids. Real descriptions contain them, left over from a wrong encoding.
fn replace_control_characters(text: &str) -> Cow<'_, str> {
    let is_forbidden = |c: char| matches!(c, '\u{7f}'..='\u{84}' | '\u{86}'..='\u{9f}');
    if text.contains(is_forbidden) { text.replace(is_forbidden, "\u{fffd}").into() } else { text.into() }
}

/// Parses YAML 1.2 with limits on nesting and on the expansion of aliases.
fn parse_yaml(text: &str) -> Result<Value, String> {
    let options = serde_saphyr::options! {
        budget: serde_saphyr::budget! {
            max_depth: 120,
            max_events: 20_000_000,
            max_nodes: 10_000_000,
        },
        strict_booleans: true,
        with_snippet: false,
    };
    serde_saphyr::from_str_with_options(text, options).map_err(|error| error.to_string())
}

/// A document whose parts are parsed on demand.
pub(crate) struct Document<'t> {
    pub(crate) location: &'t Location,
    text: &'t str,
    root: Node<'t>,
}

/// A part of a document.
enum Node<'t> {
    /// Unparsed text.
    Raw(&'t RawValue),
    /// An indexed object.
    Map(IndexMap<Cow<'t, str>, Self>),
    /// Any other value where an object is expected.
    Other,
}

impl<'t> Document<'t> {
    /// Returns a parsed top-level value.
    pub(crate) fn top_level(&self, key: &str) -> Option<Value> {
        self.value(&format!("/{key}")).ok().flatten()
    }

    /// Returns the keys of a top-level section with their unparsed values.
    pub(crate) fn section(&self, key: &str) -> impl Iterator<Item = (&str, &'t RawValue)> {
        raw_entries(self.child(key))
    }

    /// Returns the keys of a section inside another section with their unparsed values.
    pub(crate) fn subsection(&self, outer: &str, key: &str) -> impl Iterator<Item = (&str, &'t RawValue)> {
        let section = match self.child(outer) {
            Some(Node::Map(entries)) => entries.get(key),
            _ => None,
        };
        raw_entries(section)
    }

    fn child(&self, key: &str) -> Option<&Node<'t>> {
        match &self.root {
            Node::Map(entries) => entries.get(key),
            _ => None,
        }
    }

    /// Parses the value at a JSON Pointer; returns `None` if there is no such value.
    pub(crate) fn value(&self, pointer: &str) -> Result<Option<Value>, String> {
        match self.text_at(pointer) {
            Some(text) => parse(text).map(Some),
            None => Ok(None),
        }
    }

    fn text_at(&self, pointer: &str) -> Option<&'t str> {
        if pointer.is_empty() {
            return Some(self.text);
        }
        let mut node = &self.root;
        let mut steps = pointer.split('/').skip(usize::from(pointer.starts_with('/')));
        let raw = loop {
            match node {
                Node::Map(entries) => node = entries.get(&*unescape_step(steps.next()?))?,
                Node::Raw(raw) => break *raw,
                Node::Other => return None,
            }
        };
        let mut text = raw.get();
        for step in steps {
            let step = unescape_step(step);
            text = match text.as_bytes().first()? {
                b'{' => {
                    serde_json::from_str::<HashMap<Cow<'t, str>, &RawValue>>(text).ok()?.get(&*step)?.get()
                }
                b'[' => {
                    serde_json::from_str::<Vec<&RawValue>>(text).ok()?.get(step.parse::<usize>().ok()?)?.get()
                }
                _ => return None,
            };
        }
        Some(text)
    }
}

fn raw_entries<'a, 't>(node: Option<&'a Node<'t>>) -> impl Iterator<Item = (&'a str, &'t RawValue)> {
    let entries = match node {
        Some(Node::Map(entries)) => Some(entries),
        _ => None,
    };
    entries.into_iter().flatten().filter_map(|(key, node)| match node {
        Node::Raw(raw) => Some((key.as_ref(), *raw)),
        _ => None,
    })
}

/// Parses one part of a document. Nesting beyond 128 levels is an error, not a crash.
pub(crate) fn parse(text: &str) -> Result<Value, String> {
    serde_json::from_str(text).map_err(|error| error.to_string())
}

/// Decodes one step of a JSON Pointer in a URI fragment.
fn unescape_step(step: &str) -> Cow<'_, str> {
    let step = percent_encoding::percent_decode_str(step).decode_utf8_lossy();
    if step.contains('~') { step.replace("~1", "/").replace("~0", "~").into() } else { step }
}

/// Indexes a document down to a number of levels: the sections whose entries are planned one at a time.
#[derive(Clone, Copy)]
struct IndexSeed(u8);

const ROOT: u8 = 3;

impl IndexSeed {
    fn below(self, key: &str) -> Self {
        match (self.0, key) {
            (ROOT, "components") => Self(2),
            (ROOT, "paths" | "definitions" | "parameters" | "responses" | "securityDefinitions") | (2, _) => {
                Self(1)
            }
            _ => Self(0),
        }
    }
}

impl<'de> DeserializeSeed<'de> for IndexSeed {
    type Value = Node<'de>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Node<'de>, D::Error> {
        if self.0 == 0 {
            return serde::Deserialize::deserialize(deserializer).map(Node::Raw);
        }
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for IndexSeed {
    type Value = Node<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Node<'de>, A::Error> {
        let mut entries = IndexMap::new();
        while let Some(key) = map.next_key::<Key<'de>>()? {
            let value = map.next_value_seed(self.below(&key.0))?;
            entries.insert(key.0, value);
        }
        Ok(Node::Map(entries))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Node<'de>, A::Error> {
        while items.next_element::<IgnoredAny>()?.is_some() {}
        Ok(Node::Other)
    }

    fn visit_unit<E>(self) -> Result<Node<'de>, E> {
        Ok(Node::Other)
    }

    fn visit_bool<E>(self, _: bool) -> Result<Node<'de>, E> {
        Ok(Node::Other)
    }

    fn visit_i64<E>(self, _: i64) -> Result<Node<'de>, E> {
        Ok(Node::Other)
    }

    fn visit_u64<E>(self, _: u64) -> Result<Node<'de>, E> {
        Ok(Node::Other)
    }

    fn visit_f64<E>(self, _: f64) -> Result<Node<'de>, E> {
        Ok(Node::Other)
    }

    fn visit_str<E>(self, _: &str) -> Result<Node<'de>, E> {
        Ok(Node::Other)
    }
}

/// A key, borrowed unless it contains escapes.
#[derive(serde::Deserialize)]
struct Key<'a>(#[serde(borrow)] Cow<'a, str>);
