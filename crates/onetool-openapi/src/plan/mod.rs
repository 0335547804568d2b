//! From documents to a plan: every operation as a compact record, and the texts that the records point into.

mod body;
mod links;
pub(crate) mod model;
mod operation;
mod parameter;
mod servers;

use std::collections::HashMap;
use std::rc::Rc;

use indexmap::{IndexMap, IndexSet};
use onetool_core::ToolAnnotations;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::document::{Document, Location, parse};
use crate::error::PlanError;
use crate::names::ToolNames;
use crate::options::PlanOptions;
use crate::schema::{Dialect, Patterns, Translator};
use crate::store::{Span, Store};
use links::{Links, Scope};
use model::Scheme;
use parameter::Parameter;

/// How large the schema of an answer may be, with all that it refers to.
///
/// In some APIs everything refers to everything, so that a list of all tools would take more than a hundred megabytes.
const OUTPUT_MAX: usize = 64 * 1024;

/// All that is kept of a description.
pub(crate) struct Plan {
    pub(crate) header: Header,
    pub(crate) operations: Vec<Operation>,
    pub(crate) store: Store,
}

/// What concerns the API as a whole.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct Header {
    pub(crate) title: String,
    pub(crate) version: String,
    /// Where the API is, or why the description does not say so.
    pub(crate) base_url: Option<String>,
    pub(crate) no_base_url: String,
    pub(crate) schemes: IndexMap<String, Scheme>,
    pub(crate) left_out: Vec<(String, String)>,
    pub(crate) renamed: Vec<(String, String)>,
    pub(crate) warnings: Vec<String>,
    pub(crate) token_estimate: usize,
}

/// An operation that becomes a tool.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Operation {
    /// Its operationId, or method and path.
    pub(crate) key: String,
    /// Its name inside the pack.
    pub(crate) name: String,
    pub(crate) description: String,
    pub(crate) annotations: ToolAnnotations,
    /// A server that only this operation has.
    pub(crate) server: Option<String>,
    pub(crate) call: Span,
    pub(crate) input: Span,
    pub(crate) output: Option<Span>,
}

/// A plan, or the documents that are needed to make one.
pub(crate) enum Planned {
    Whole(Box<Plan>),
    Needs(IndexSet<Location>),
}

/// Plans all operations of `documents[0]`, which may refer to the others.
pub(crate) fn plan(
    documents: &[Document<'_>],
    failed: &IndexMap<Location, String>,
    options: &PlanOptions,
) -> Result<Planned, PlanError> {
    let document = &documents[0];
    let dialect = dialect_of(document)
        .map_err(|reason| PlanError::NotOpenApi { document: document.location.to_string(), reason })?;
    let mut planner = Planner {
        options,
        links: Links::new(documents, dialect, failed),
        patterns: Patterns::default(),
        store: Store::default(),
        parameters: HashMap::new(),
        names: ToolNames::new(&options.name, options.operations.values().filter_map(|it| it.name.clone())),
        header: Header::default(),
        operations: Vec::new(),
        defaults: operation::Defaults::of(document),
        unused: options.operations.keys().map(String::as_str).collect(),
    };
    planner.describe(document, dialect);
    for (path, raw) in document.section("paths") {
        planner.path(path, raw.get());
    }
    planner.finish()
}

/// Returns the flavour of a document's schemas.
fn dialect_of(document: &Document<'_>) -> Result<Dialect, String> {
    let version = |key| match document.top(key) {
        Some(Value::String(version)) => Some(version),
        Some(Value::Number(version)) => Some(version.to_string()),
        _ => None,
    };
    if let Some(version) = version("swagger") {
        return if version.starts_with('2') {
            Ok(Dialect::Swagger2)
        } else {
            Err(format!("Swagger {version} is not supported, only 2.0"))
        };
    }
    match version("openapi") {
        Some(version) if version.starts_with("3.0") => Ok(Dialect::OpenApi30),
        Some(version) if version.starts_with('3') => Ok(Dialect::OpenApi31),
        Some(version) => Err(format!("OpenAPI {version} is not supported, only 3.x")),
        None => Err("it has neither 'openapi' nor 'swagger' at its top".to_owned()),
    }
}

struct Planner<'p, 't> {
    options: &'p PlanOptions,
    links: Links<'p, 't>,
    patterns: Patterns,
    store: Store,
    /// Parameters that several operations refer to.
    parameters: HashMap<(usize, String), Rc<Parameter>>,
    names: ToolNames,
    header: Header,
    operations: Vec<Operation>,
    defaults: operation::Defaults,
    /// Overrides that met no operation yet.
    unused: IndexSet<&'p str>,
}

impl Planner<'_, '_> {
    fn describe(&mut self, document: &Document<'_>, dialect: Dialect) {
        let info = document.top("info").unwrap_or_default();
        let text = |key: &str| info.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
        self.header.title = text("title");
        self.header.version = text("version");
        match servers::base_url(document, dialect) {
            Ok(url) => self.header.base_url = Some(url.into()),
            Err(reason) => self.header.no_base_url = reason,
        }
        self.header.schemes = servers::schemes(document, dialect);
    }

    fn path(&mut self, path: &str, text: &str) {
        if !path.starts_with('/') {
            return; // an extension
        }
        let item = parse(text).and_then(|item| self.links.follow(0, item));
        let (document, item) = match item {
            Ok((document, Value::Object(item))) => (document, item),
            Ok(_) => {
                return self.header.left_out.push((path.to_owned(), "its path item is no object".into()));
            }
            Err(reason) => return self.header.left_out.push((path.to_owned(), reason)),
        };
        self.path_item(path, document, item);
    }

    /// Translates a schema that stands in a document.
    fn translate(&mut self, document: usize, schema: Value) -> Value {
        let dialect = self.links.dialect(document);
        let mut references = Scope { links: &mut self.links, document, owner: None };
        Translator { dialect, references: &mut references, patterns: &mut self.patterns }.schema(schema)
    }

    fn translate_definition(&mut self, at: usize) -> Value {
        let (document, pointer) =
            (self.links.definitions[at].document, self.links.definitions[at].pointer.clone());
        let found = self.links.documents[document].value(&pointer);
        let missing = match found {
            Ok(Some(schema)) => {
                let dialect = self.links.dialect(document);
                let mut references = Scope { links: &mut self.links, document, owner: Some(at) };
                let mut translator =
                    Translator { dialect, references: &mut references, patterns: &mut self.patterns };
                return translator.definition(schema);
            }
            Ok(None) => "points at nothing".to_owned(),
            Err(reason) => format!("cannot be read: {reason}"),
        };
        self.links.warnings.insert(format!("'#{pointer}' {missing}; anything is accepted there"));
        Value::Bool(true)
    }

    fn finish(mut self) -> Result<Planned, PlanError> {
        let mut schemas = Vec::new();
        while schemas.len() < self.links.definitions.len() {
            let schema = self.translate_definition(schemas.len());
            schemas.push(serde_json::to_string(&schema).unwrap_or_default());
        }
        if !self.links.wanted.is_empty() {
            return Ok(Planned::Needs(self.links.wanted));
        }
        self.links.cut_circles();
        let cut: IndexSet<usize> = self.links.cuts.iter().map(|(from, _)| *from).collect();
        for at in cut {
            self.links.definitions[at].in_place.clear();
            schemas[at] = self.translate_definition(at).to_string();
        }
        let failed =
            |reason| PlanError::NotOpenApi { document: self.links.documents[0].location.to_string(), reason };
        for (definition, schema) in self.links.definitions.iter().zip(&schemas) {
            let name = self.store.push_text(&definition.name).map_err(failed)?;
            let schema = self.store.push_text(schema).map_err(failed)?;
            self.store.definitions.push((name, schema));
        }
        let mut definitions = std::mem::take(&mut self.store.definitions);
        definitions.sort_by(|(a, _), (b, _)| self.store.get(*a).cmp(self.store.get(*b)));
        self.store.definitions = definitions;
        self.store.text.shrink_to_fit();
        for key in &self.unused {
            self.links
                .warnings
                .insert(format!("'{key}' under operations is no operation of this description"));
        }
        self.leave_out_runaways();
        for operation in &mut self.operations {
            operation.output = operation.output.filter(|output| self.store.is_within(*output, OUTPUT_MAX));
        }
        self.header.warnings = self.links.warnings.into_iter().collect();
        self.header.token_estimate = token_estimate(&self.operations, &self.store);
        let plan = Plan { header: self.header, operations: self.operations, store: self.store };
        Ok(Planned::Whole(Box::new(plan)))
    }
}

impl Planner<'_, '_> {
    /// Leaves out operations whose arguments nobody could check.
    fn leave_out_runaways(&mut self) {
        let runaway = self.links.runaway();
        if runaway.is_empty() {
            return;
        }
        let found = |schema: Span| self.store.reachable(schema).find(|(name, _)| runaway.contains(name));
        for operation in std::mem::take(&mut self.operations) {
            match found(operation.input) {
                Some((name, _)) => {
                    let reason = format!("the references of its schema grow exponentially at '{name}'");
                    self.header.left_out.push((operation.key, reason));
                }
                None => {
                    let output = operation.output.filter(|output| found(*output).is_none());
                    self.operations.push(Operation { output, ..operation });
                }
            }
        }
    }
}

/// Estimates what listing all tools would cost a model: four bytes make a token.
fn token_estimate(operations: &[Operation], store: &Store) -> usize {
    let bytes = operations.iter().map(|it| {
        let definitions: usize = store.reachable(it.input).map(|(name, body)| name.len() + body.len()).sum();
        it.name.len() + it.description.len() + it.input.length as usize + definitions
    });
    bytes.sum::<usize>() / 4
}
