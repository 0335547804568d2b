//! All texts of a plan in one block of memory, and the schemas that are built out of it on demand.

use std::collections::HashSet;

use onetool_core::JsonObject;
use serde::Serialize;
use serde_json::Value;

/// A piece of the store.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Span {
    pub(crate) start: u32,
    pub(crate) length: u32,
}

/// Texts, and the definitions among them that schemas share.
#[derive(Debug, Default)]
pub(crate) struct Store {
    pub(crate) text: String,
    /// Name and schema, sorted by name.
    pub(crate) definitions: Vec<(Span, Span)>,
}

/// How a schema refers to a definition, in the compact JSON of the store.
const REFERENCE: &str = "\"$ref\":\"#/$defs/";

impl Store {
    /// Appends a value as compact JSON.
    pub(crate) fn push(&mut self, value: &impl Serialize) -> Result<Span, String> {
        let json = serde_json::to_string(value).map_err(|error| error.to_string())?;
        self.push_text(&json)
    }

    pub(crate) fn push_text(&mut self, text: &str) -> Result<Span, String> {
        let too_large = |_| "the description needs more than 4 GB".to_owned();
        let start = u32::try_from(self.text.len()).map_err(too_large)?;
        let length = u32::try_from(text.len()).map_err(too_large)?;
        start.checked_add(length).ok_or_else(|| "the description needs more than 4 GB".to_owned())?;
        self.text.push_str(text);
        Ok(Span { start, length })
    }

    /// Returns a piece; empty if there is no such piece.
    pub(crate) fn get(&self, span: Span) -> &str {
        let start = span.start as usize;
        self.text.get(start..start + span.length as usize).unwrap_or_default()
    }

    /// Builds a schema with all definitions that it needs, under `$defs`.
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

    /// Returns names and schemas of all definitions that a schema needs, each once.
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

    /// Tells whether a schema is at most so large, with all definitions that it needs.
    pub(crate) fn is_within(&self, root: Span, max: usize) -> bool {
        let mut size = root.length as usize;
        // Ends at the first definition that is too much, of which there may be thousands.
        self.reachable(root).all(|(name, body)| {
            size += name.len() + body.len();
            size <= max
        }) && size <= max
    }

    fn find(&self, name: &str) -> Option<usize> {
        self.definitions.binary_search_by(|(it, _)| self.get(*it).cmp(name)).ok()
    }
}

/// Returns the names that a schema refers to. In compact JSON the mark cannot stand inside a string, where its quotes
/// would be escaped.
fn references(text: &str) -> impl Iterator<Item = &str> {
    text.match_indices(REFERENCE).filter_map(|(at, mark)| text[at + mark.len()..].split('"').next())
}
