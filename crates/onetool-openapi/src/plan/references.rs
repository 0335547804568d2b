//! Resolves references, and collects the definitions that schemas share.

use std::collections::{HashMap, HashSet};

use indexmap::{IndexMap, IndexSet};
use serde_json::Value;

use crate::dialect::Dialect;
use crate::document::Document;
use crate::location::Location;
use crate::schema::DefinitionNames;

/// Maximum length of a chain of references to references.
const MAX_CHAIN: usize = 32;

/// Resolves references across documents, and collects the schemas they point to.
pub(super) struct References<'p, 't> {
    pub(super) documents: &'p [Document<'t>],
    /// Documents that were requested before and cannot be read, with the reason.
    failed: &'p IndexMap<Location, String>,
    /// Documents that are needed but not loaded yet.
    pub(super) missing_documents: IndexSet<Location>,
    pub(super) warnings: IndexSet<String>,
    pub(super) definitions: Vec<Definition>,
    dialects: Vec<Dialect>,
    /// Positions in `definitions`, by document and pointer.
    index: HashMap<(usize, String), usize>,
    names: HashSet<String>,
    /// References from one definition to another that would close a cycle.
    pub(super) cuts: HashSet<(usize, usize)>,
}

/// A schema that other schemas refer to.
pub(super) struct Definition {
    pub(super) document: usize,
    pub(super) pointer: String,
    pub(super) name: String,
    /// Definitions it applies to the same value, once per reference.
    pub(super) in_place: Vec<usize>,
}

impl<'p, 't> References<'p, 't> {
    /// Uses `dialect` for documents that do not declare one.
    pub(super) fn new(
        documents: &'p [Document<'t>],
        dialect: Dialect,
        failed: &'p IndexMap<Location, String>,
    ) -> Self {
        let dialects = documents.iter().map(|it| Dialect::from_document(it).unwrap_or(dialect)).collect();
        Self {
            documents,
            failed,
            missing_documents: IndexSet::new(),
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

    /// Returns the document and the pointer that a reference points to.
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
        let reason = format!("'{location}' is not loaded yet");
        self.missing_documents.insert(location);
        Err(reason)
    }

    /// Follows references until a value is found; returns it with the document that contains it.
    pub(super) fn follow(&mut self, document: usize, value: Value) -> Result<(usize, Value), String> {
        let (mut document, mut value) = (document, value);
        for _ in 0..MAX_CHAIN {
            let Some(reference) = value.get("$ref").and_then(Value::as_str) else {
                return Ok((document, value));
            };
            let (next, pointer) = self.target(document, reference)?;
            let found = self.documents[next].value(&pointer)?;
            value = found.ok_or_else(|| format!("'{reference}' does not exist"))?;
            document = next;
        }
        Err(format!("reference chain is too long (limit {MAX_CHAIN})"))
    }

    /// Returns a key for caching what a value refers to; `None` if the value is not a reference.
    pub(super) fn cache_key(&mut self, document: usize, value: &Value) -> Option<(usize, String)> {
        let reference = value.get("$ref")?.as_str()?;
        self.target(document, reference).ok()
    }

    /// Returns the definition that a reference points to, and adds it to be translated later if it is new.
    fn definition(&mut self, document: usize, reference: &str) -> Option<usize> {
        let target = match self.target(document, reference) {
            Ok(target) => target,
            Err(reason) => {
                self.warnings.insert(format!("{reason}; accepting any value there"));
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
        let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
        let name: String = last.chars().map(|c| if is_plain(c) { c } else { '_' }).collect();
        let name = if name.is_empty() { "schema".to_owned() } else { name };
        let mut unique = name.clone();
        let mut count = 2;
        while !self.names.insert(unique.clone()) {
            unique = format!("{name}_{count}");
            count += 1;
        }
        unique
    }

    /// Finds cycles of in-place references, and marks one reference of each to be cut.
    ///
    /// `A: {allOf: [B]}, B: {oneOf: [A, …]}` is common in real descriptions and would make a validator loop forever.
    pub(super) fn cut_cycles(&mut self) {
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

/// Maximum number of schemas that a definition may expand to in place.
const MAX_EXPANSION: u64 = 1_000_000;

/// Maximum nesting of these schemas.
const MAX_NESTING: usize = 64;

impl References<'_, '_> {
    /// Returns the names of definitions that expand to too many schemas to validate a value against.
    ///
    /// Call it after [`References::cut_cycles`]: a cycle would never end here.
    pub(super) fn runaway_definitions(&self) -> HashSet<&str> {
        /// The number of schemas that a definition expands to, and their nesting.
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
        let sized = self.definitions.iter().zip(&sizes);
        sized.filter(|(_, size)| is_runaway(size)).map(|(definition, _)| definition.name.as_str()).collect()
    }

    /// Returns the definitions that this one applies in place, once per reference, without those that are cut.
    fn parts(&self, at: usize) -> impl Iterator<Item = usize> + Clone {
        let is_cut = move |part: &usize| self.cuts.contains(&(at, *part));
        self.definitions[at].in_place.iter().copied().filter(move |part| !is_cut(part))
    }
}

/// The references in one schema.
pub(super) struct SchemaScope<'a, 'p, 't> {
    pub(super) references: &'a mut References<'p, 't>,
    pub(super) document: usize,
    /// The definition that the schema belongs to, if any.
    pub(super) owner: Option<usize>,
}

impl DefinitionNames for SchemaScope<'_, '_, '_> {
    fn definition_name(&mut self, reference: &str, in_place: bool) -> Option<String> {
        let found = self.references.definition(self.document, reference)?;
        if let Some(owner) = self.owner.filter(|_| in_place) {
            if self.references.cuts.contains(&(owner, found)) {
                return None;
            }
            self.references.definitions[owner].in_place.push(found);
        }
        Some(self.references.definitions[found].name.clone())
    }
}
