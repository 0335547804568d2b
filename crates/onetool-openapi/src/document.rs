//! Documents as they were written: text, a map of where its parts are, and references into it.
//!
//! A description is never parsed as a whole. One pass finds the paths and components; each of them is parsed alone,
//! when it is planned. That is several times faster than a tree of the whole, and takes no memory to speak of.

use std::borrow::Cow;
use std::collections::HashMap;
use std::fmt;
use std::path::{Component, Path, PathBuf};

use indexmap::IndexMap;
use serde::de::{self, DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Serialize, Serializer};
use serde_json::Value;
use serde_json::value::RawValue;
use url::Url;

use crate::error::PlanError;

/// Where a document is, which is what references in it are relative to.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Location {
    File(PathBuf),
    Url(#[serde(serialize_with = "url_to_text", deserialize_with = "url_from_text")] Url),
    /// Text that came from nowhere.
    Nowhere,
}

impl fmt::Display for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File(path) => write!(f, "{}", path.display()),
            Self::Url(url) => f.write_str(&shown_url(url)),
            Self::Nowhere => f.write_str("the description"),
        }
    }
}

fn url_to_text<S: Serializer>(url: &Url, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(url.as_str())
}

fn url_from_text<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Url, D::Error> {
    String::deserialize(deserializer)?.parse().map_err(de::Error::custom)
}

/// Writes a URL without what may be secret in it.
pub(crate) fn shown_url(url: &Url) -> String {
    let mut url = url.clone();
    // Both fail only for URLs that have neither user nor password.
    let _ = url.set_username("");
    let _ = url.set_password(None);
    url.set_query(None);
    url.set_fragment(None);
    url.into()
}

impl Location {
    /// Returns where a reference's document is, if it may be read.
    ///
    /// A file has to lie under the folder of the description, a URL has to be of its origin.
    pub(crate) fn join(&self, root: &Self, reference: &str) -> Result<Self, String> {
        match (self, root) {
            (Self::File(path), Self::File(_)) => {
                let reference = percent_encoding::percent_decode_str(reference).decode_utf8_lossy();
                let is_plain = |part| matches!(part, Component::Normal(_) | Component::CurDir);
                if reference.contains(':') || !Path::new(&*reference).components().all(is_plain) {
                    return Err(format!(
                        "'{reference}' may lie outside the folder of the description; put it under that folder"
                    ));
                }
                let joined = path.parent().unwrap_or(Path::new("")).join(&*reference);
                Ok(Self::File(joined.components().collect()))
            }
            (Self::Url(url), Self::Url(root)) => {
                let joined = url.join(reference).map_err(|error| format!("'{reference}': {error}"))?;
                if joined.origin() != root.origin() {
                    return Err(format!("'{reference}' is on another host than the description"));
                }
                Ok(Self::Url(joined))
            }
            _ => Err(format!("'{reference}' is relative to nothing: the description came as text")),
        }
    }
}

/// The text of a document, as JSON.
pub(crate) struct Text<'b> {
    location: &'b Location,
    json: Cow<'b, str>,
}

impl<'b> Text<'b> {
    /// Takes bytes as JSON or YAML.
    pub(crate) fn new(location: &'b Location, bytes: &'b [u8]) -> Result<Self, PlanError> {
        let text = std::str::from_utf8(bytes)
            .map_err(|error| syntax(location, "UTF-8", format!("byte {} is wrong", error.valid_up_to())))?;
        let written = text.trim_start_matches('\u{feff}').trim_start();
        if written.starts_with(['{', '[']) && !is_yaml_file(location) {
            return Ok(Self { location, json: written.into() });
        }
        let value =
            parse_yaml(&without_controls(written)).map_err(|reason| syntax(location, "YAML", reason))?;
        Ok(Self { location, json: value.to_string().into() })
    }

    /// Finds the parts of the document.
    pub(crate) fn parse(&self) -> Result<Document<'_>, PlanError> {
        let mut reader = serde_json::Deserializer::from_str(&self.json);
        let root = Sections(ROOT).deserialize(&mut reader).and_then(|root| reader.end().map(|()| root));
        let root = root.map_err(|error| syntax(self.location, "JSON", error.to_string()))?;
        Ok(Document { location: self.location, text: &self.json, root })
    }
}

fn syntax(location: &Location, format: &str, reason: String) -> PlanError {
    PlanError::Syntax { document: location.to_string(), format: format.to_owned(), reason }
}

fn is_yaml_file(location: &Location) -> bool {
    let path = match location {
        Location::File(path) => path.as_path(),
        Location::Url(url) => Path::new(url.path()),
        Location::Nowhere => return false,
    };
    path.extension().is_some_and(|it| it.eq_ignore_ascii_case("yaml") || it.eq_ignore_ascii_case("yml"))
}

/// Replaces control characters that YAML forbids and real descriptions have: the remains of a wrong encoding.
fn without_controls(text: &str) -> Cow<'_, str> {
    let is_forbidden = |c: char| matches!(c, '\u{7f}'..='\u{84}' | '\u{86}'..='\u{9f}');
    if text.contains(is_forbidden) { text.replace(is_forbidden, "\u{fffd}").into() } else { text.into() }
}

/// Reads YAML 1.2 with bounds on nesting, and on what aliases may blow up to.
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

/// A document's parts.
pub(crate) struct Document<'t> {
    pub(crate) location: &'t Location,
    text: &'t str,
    root: Node<'t>,
}

/// A part: its text, or where its own parts are.
enum Node<'t> {
    Raw(&'t RawValue),
    Map(IndexMap<Cow<'t, str>, Self>),
    /// Not the map that should be there.
    Other,
}

impl<'t> Document<'t> {
    /// Returns a top-level value, parsed.
    pub(crate) fn top(&self, key: &str) -> Option<Value> {
        self.value(&format!("/{key}")).ok().flatten()
    }

    /// Returns the keys of a section and the texts under them.
    pub(crate) fn section(&self, key: &str) -> impl Iterator<Item = (&str, &'t RawValue)> {
        texts(self.child(key))
    }

    /// The same for a section inside a section.
    pub(crate) fn subsection(&self, outer: &str, key: &str) -> impl Iterator<Item = (&str, &'t RawValue)> {
        let outer = match self.child(outer) {
            Some(Node::Map(entries)) => entries.get(key),
            _ => None,
        };
        texts(outer)
    }

    fn child(&self, key: &str) -> Option<&Node<'t>> {
        match &self.root {
            Node::Map(entries) => entries.get(key),
            _ => None,
        }
    }

    /// Returns what a JSON Pointer points at, parsed; nothing if nothing is there.
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
                Node::Map(entries) => node = entries.get(&*unescaped(steps.next()?))?,
                Node::Raw(raw) => break *raw,
                Node::Other => return None,
            }
        };
        let mut text = raw.get();
        for step in steps {
            let step = unescaped(step);
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

fn texts<'a, 't>(node: Option<&'a Node<'t>>) -> impl Iterator<Item = (&'a str, &'t RawValue)> {
    let entries = match node {
        Some(Node::Map(entries)) => Some(entries),
        _ => None,
    };
    entries.into_iter().flatten().filter_map(|(key, node)| match node {
        Node::Raw(raw) => Some((key.as_ref(), *raw)),
        _ => None,
    })
}

/// Parses one part. Nesting beyond 128 levels is an error, not a crash.
pub(crate) fn parse(text: &str) -> Result<Value, String> {
    serde_json::from_str(text).map_err(|error| error.to_string())
}

/// Undoes the escapes of a JSON Pointer in a URI fragment.
fn unescaped(step: &str) -> Cow<'_, str> {
    let step = percent_encoding::percent_decode_str(step).decode_utf8_lossy();
    if step.contains('~') { step.replace("~1", "/").replace("~0", "~").into() } else { step }
}

/// How deep to look: into the sections that are maps of things which are planned one by one.
#[derive(Clone, Copy)]
struct Sections(u8);

const ROOT: u8 = 3;

impl Sections {
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

impl<'de> DeserializeSeed<'de> for Sections {
    type Value = Node<'de>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Node<'de>, D::Error> {
        if self.0 == 0 {
            return serde::Deserialize::deserialize(deserializer).map(Node::Raw);
        }
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Sections {
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

/// A key, borrowed where it has no escapes.
#[derive(serde::Deserialize)]
struct Key<'a>(#[serde(borrow)] Cow<'a, str>);
