//! The strings of a plan in one block of memory, and the schemas that are built from them on demand.

use std::collections::HashSet;

use onetool_core::JsonObject;
use serde::Serialize;
use serde_json::Value;

/// The position of a string in the store.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Span {
    pub(crate) start: u32,
    pub(crate) length: u32,
}

/// The strings of a plan, including the definitions that its schemas share.
#[derive(Debug, Default)]
pub(crate) struct Store {
    pub(crate) text: String,
    /// Names and schemas, sorted by name.
    pub(crate) definitions: Vec<(Span, Span)>,
}

/// The start of a reference to a definition, in the compact JSON of the store.
const REFERENCE_START: &str = "\"$ref\":\"#/$defs/";

impl Store {
    /// Appends a value as compact JSON.
    pub(crate) fn push(&mut self, value: &impl Serialize) -> Result<Span, String> {
        let json = serde_json::to_string(value).map_err(|error| error.to_string())?;
        self.push_text(&json)
    }

    pub(crate) fn push_text(&mut self, text: &str) -> Result<Span, String> {
        let too_large = || "its plan is larger than the limit of 4 GB".to_owned();
        let start = u32::try_from(self.text.len()).map_err(|_| too_large())?;
        let length = u32::try_from(text.len()).map_err(|_| too_large())?;
        start.checked_add(length).ok_or_else(too_large)?;
        self.text.push_str(text);
        Ok(Span { start, length })
    }

    /// Returns the text at a position, or an empty string if the position is invalid.
    pub(crate) fn get(&self, span: Span) -> &str {
        let start = span.start as usize;
        self.text.get(start..start + span.length as usize).unwrap_or_default()
    }

    /// Builds a schema, with all definitions it needs under `$defs`.
    pub(crate) fn schema(&self, root: Span) -> JsonObject {
        let Ok(Value::Object(mut schema)) = serde_json::from_str(self.get(root)) else {
            return JsonObject::from_iter([("type".to_owned(), "object".into())]);
        };
        let mut definitions = JsonObject::new();
        for (name, body) in self.reachable(root) {
            let body = serde_json::from_str(body).unwrap_or(Value::Bool(true));
            definitions.insert(name.to_owned(), body);
        }
        if !definitions.is_empty() {
            schema.insert("$defs".into(), Value::Object(definitions));
        }
        schema
    }

    /// Returns the names and schemas of all definitions that a schema needs, each once.
    pub(crate) fn reachable(&self, root: Span) -> impl Iterator<Item = (&str, &str)> {
        let mut seen = HashSet::new();
        let mut pending: Vec<&str> = references(self.get(root)).collect();
        std::iter::from_fn(move || {
            while let Some(name) = pending.pop() {
                if let Some(at) = self.find(name).filter(|at| seen.insert(*at)) {
                    let body = self.get(self.definitions[at].1);
                    pending.extend(references(body));
                    return Some((name, body));
                }
            }
            None
        })
    }

    /// Returns whether a schema with all definitions it needs is at most `max` bytes long.
    pub(crate) fn is_within(&self, root: Span, max: usize) -> bool {
        let mut size = root.length as usize;
        // Stops early, because there may be thousands of definitions.
        self.reachable(root).all(|(name, body)| {
            size += name.len() + body.len();
            size <= max
        }) && size <= max
    }

    fn find(&self, name: &str) -> Option<usize> {
        self.definitions.binary_search_by(|(it, _)| self.get(*it).cmp(name)).ok()
    }
}

/// Returns the names of the definitions that a schema refers to.
///
/// `REFERENCE_START` cannot occur inside a string of compact JSON, where its quotes would be escaped.
fn references(text: &str) -> impl Iterator<Item = &str> {
    text.match_indices(REFERENCE_START).filter_map(|(at, start)| text[at + start.len()..].split('"').next())
}
