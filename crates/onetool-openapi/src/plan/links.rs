//! References: what they point at, and the definitions that schemas share.

use std::collections::{HashMap, HashSet};

use indexmap::{IndexMap, IndexSet};
use serde_json::Value;

use crate::document::{Document, Location};
use crate::schema::{Dialect, References};

/// Longest chain of references to references.
const MAX_CHAIN: usize = 32;

/// Follows references through the documents, and collects the schemas that are referred to.
pub(super) struct Links<'p, 't> {
    pub(super) documents: &'p [Document<'t>],
    /// Documents that were asked for before and cannot be read.
    pub(super) failed: &'p IndexMap<Location, String>,
    /// Documents that are needed and not there yet.
    pub(super) wanted: IndexSet<Location>,
    pub(super) warnings: IndexSet<String>,
    pub(super) definitions: Vec<Definition>,
    dialects: Vec<Dialect>,
    index: HashMap<(usize, String), usize>,
    names: HashSet<String>,
    /// References from one definition to another that would close a circle.
    pub(super) cuts: HashSet<(usize, usize)>,
}

/// A schema that others refer to.
pub(super) struct Definition {
    pub(super) document: usize,
    pub(super) pointer: String,
    pub(super) name: String,
    /// Definitions that concern the same value.
    pub(super) in_place: Vec<usize>,
}

impl<'p, 't> Links<'p, 't> {
    pub(super) fn new(
        documents: &'p [Document<'t>],
        dialect: Dialect,
        failed: &'p IndexMap<Location, String>,
    ) -> Self {
        let dialects = documents.iter().map(|it| super::dialect_of(it).unwrap_or(dialect)).collect();
        Self {
            documents,
            failed,
            wanted: IndexSet::new(),
            warnings: IndexSet::new(),
            definitions: Vec::new(),
            dialects,
            index: HashMap::new(),
            names: HashSet::new(),
            cuts: HashSet::new(),
        }
    }

    pub(super) fn dialect(&self, document: usize) -> Dialect {
        self.dialects[document]
    }

    /// Finds the document and the pointer inside it that a reference means.
    fn target(&mut self, document: usize, reference: &str) -> Result<(usize, String), String> {
        let (file, pointer) = reference.split_once('#').unwrap_or((reference, ""));
        if file.is_empty() {
            return Ok((document, pointer.to_owned()));
        }
        let root = self.documents[0].location;
        let location = self.documents[document].location.join(root, file)?;
        if let Some(found) = self.documents.iter().position(|it| *it.location == location) {
            return Ok((found, pointer.to_owned()));
        }
        if let Some(reason) = self.failed.get(&location) {
            return Err(reason.clone());
        }
        let reason = format!("'{location}' is not read yet");
        self.wanted.insert(location);
        Err(reason)
    }

    /// Returns a value, or what it refers to, with the document that it stands in.
    pub(super) fn follow(&mut self, document: usize, value: Value) -> Result<(usize, Value), String> {
        let (mut document, mut value) = (document, value);
        for _ in 0..MAX_CHAIN {
            let Some(reference) = value.get("$ref").and_then(Value::as_str) else {
                return Ok((document, value));
            };
            let (next, pointer) = self.target(document, reference)?;
            let found = self.documents[next].value(&pointer)?;
            value = found.ok_or_else(|| format!("'{reference}' points at nothing"))?;
            document = next;
        }
        Err(format!("more than {MAX_CHAIN} references lead from one to the next"))
    }

    /// Returns the key of the one reference that a value consists of, for somebody who remembers what it gave.
    pub(super) fn key(&mut self, document: usize, value: &Value) -> Option<(usize, String)> {
        let reference = value.get("$ref")?.as_str()?;
        self.target(document, reference).ok()
    }

    /// Returns the definition of a schema, which is translated later.
    fn definition(&mut self, document: usize, reference: &str) -> Option<usize> {
        let target = match self.target(document, reference) {
            Ok(target) => target,
            Err(reason) => {
                self.warnings.insert(format!("{reason}; anything is accepted there"));
                return None;
            }
        };
        if let Some(known) = self.index.get(&target) {
            return Some(*known);
        }
        let name = self.unique_name(&target.1);
        let (document, pointer) = target.clone();
        self.definitions.push(Definition { document, pointer, name, in_place: Vec::new() });
        self.index.insert(target, self.definitions.len() - 1);
        Some(self.definitions.len() - 1)
    }

    fn unique_name(&mut self, pointer: &str) -> String {
        let last = pointer.rsplit('/').next().unwrap_or_default();
        let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
        let name: String = last.chars().map(|c| if plain(c) { c } else { '_' }).collect();
        let name = if name.is_empty() { "schema".to_owned() } else { name };
        let mut unique = name.clone();
        let mut count = 2;
        while !self.names.insert(unique.clone()) {
            unique = format!("{name}_{count}");
            count += 1;
        }
        unique
    }

    /// Finds circles of references that concern one value, and marks one reference of each to be cut.
    ///
    /// `A: {allOf: [B]}, B: {oneOf: [A, …]}` is common in real descriptions and would send a validator round forever.
    pub(super) fn cut_circles(&mut self) {
        #[derive(Clone, Copy, PartialEq)]
        enum Mark {
            New,
            Open,
            Done,
        }
        let mut marks = vec![Mark::New; self.definitions.len()];
        for start in 0..self.definitions.len() {
            if marks[start] != Mark::New {
                continue;
            }
            marks[start] = Mark::Open;
            let mut stack = vec![(start, 0)];
            while let Some((at, next)) = stack.last_mut() {
                let at = *at;
                let Some(&to) = self.definitions[at].in_place.get(*next) else {
                    marks[at] = Mark::Done;
                    stack.pop();
                    continue;
                };
                *next += 1;
                match marks[to] {
                    Mark::Open => {
                        self.cuts.insert((at, to));
                    }
                    Mark::New => {
                        marks[to] = Mark::Open;
                        stack.push((to, 0));
                    }
                    Mark::Done => {}
                }
            }
        }
    }
}

/// To how many schemas a definition may expand that all concern one value, and how deep they may be nested.
const MAX_EXPANSION: u64 = 1_000_000;
const MAX_NESTING: usize = 64;

impl Links<'_, '_> {
    /// Finds definitions that expand to more schemas than anybody can check a value against. There are no circles left.
    pub(super) fn runaway(&self) -> HashSet<&str> {
        /// To how many schemas a definition expands, and how deep they are nested.
        type Size = (u64, usize);
        let mut sizes: Vec<Option<Size>> = vec![None; self.definitions.len()];
        for start in 0..self.definitions.len() {
            let mut stack = vec![start];
            while let Some(&at) = stack.last() {
                let parts = self.parts(at);
                let unknown: Vec<usize> = parts.clone().filter(|part| sizes[*part].is_none()).collect();
                if sizes[at].is_none() && !unknown.is_empty() {
                    stack.extend(unknown);
                    continue;
                }
                stack.pop();
                let add = |(count, depth): Size, (more, below): Size| {
                    (count.saturating_add(more), depth.max(below.saturating_add(1)))
                };
                sizes[at] = Some(parts.filter_map(|part| sizes[part]).fold((1, 0), add));
            }
        }
        let is_runaway = |size: &Option<Size>| {
            size.is_some_and(|(count, depth)| count > MAX_EXPANSION || depth > MAX_NESTING)
        };
        let named = self.definitions.iter().zip(&sizes);
        named.filter(|(_, size)| is_runaway(size)).map(|(definition, _)| definition.name.as_str()).collect()
    }

    /// Returns the definitions that concern the same value as this one, as often as they are applied.
    fn parts(&self, at: usize) -> impl Iterator<Item = usize> + Clone {
        let is_cut = move |part: &usize| self.cuts.contains(&(at, *part));
        self.definitions[at].in_place.iter().copied().filter(move |part| !is_cut(part))
    }
}

/// The references of one schema.
pub(super) struct Scope<'a, 'p, 't> {
    pub(super) links: &'a mut Links<'p, 't>,
    pub(super) document: usize,
    /// The definition that the schema is, if it is one.
    pub(super) owner: Option<usize>,
}

impl References for Scope<'_, '_, '_> {
    fn name_of(&mut self, reference: &str, in_place: bool) -> Option<String> {
        let found = self.links.definition(self.document, reference)?;
        if let Some(owner) = self.owner.filter(|_| in_place) {
            if self.links.cuts.contains(&(owner, found)) {
                return None;
            }
            self.links.definitions[owner].in_place.push(found);
        }
        Some(self.links.definitions[found].name.clone())
    }
}
