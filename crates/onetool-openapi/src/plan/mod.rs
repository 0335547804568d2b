//! Plans a description: one compact record per operation, and a store with the strings that the records refer to.

mod arguments;
mod body;
pub(crate) mod model;
mod operation;
mod parameter;
mod references;
mod schemas;
mod servers;

use indexmap::{IndexMap, IndexSet};
use serde_json::Value;

use crate::dialect::Dialect;
use crate::document::Document;
use crate::error::PlanError;
use crate::location::Location;
use crate::options::PlanOptions;
use crate::store::{Span, Store};
use model::{Operation, Plan, PlanHeader};
use operation::Planner;
use references::References;
use schemas::Schemas;

/// Maximum size of an output schema, including all definitions it needs.
///
/// In some APIs every schema refers to every other, so listing all tools would take more than 100 MB.
const OUTPUT_MAX: usize = 64 * 1024;

/// A plan, or the documents that are needed to make one.
pub(crate) enum PlanOutcome {
    Complete(Box<Plan>),
    Needs(IndexSet<Location>),
}

/// Plans all operations of `documents[0]`, which may refer to the other documents.
pub(crate) fn plan(
    documents: &[Document<'_>],
    failed: &IndexMap<Location, String>,
    options: &PlanOptions,
) -> Result<PlanOutcome, PlanError> {
    let document = &documents[0];
    let not_openapi = |reason| PlanError::NotOpenApi { document: document.location.to_string(), reason };
    let dialect = Dialect::from_document(document).map_err(not_openapi)?;
    let schemas = Schemas::new(References::new(documents, dialect, failed));
    let mut planner = Planner::new(document, schemas, options);
    describe_api(&mut planner.header, document, dialect);
    for (path, raw) in document.section("paths") {
        planner.path(path, raw.get());
    }
    finish(planner).map_err(not_openapi)
}

fn describe_api(header: &mut PlanHeader, document: &Document<'_>, dialect: Dialect) {
    let info = document.top_level("info").unwrap_or_default();
    let text = |key: &str| info.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
    header.title = text("title");
    header.version = text("version");
    match servers::base_url(document, dialect) {
        Ok(url) => header.base_url = Some(url.into()),
        Err(reason) => header.base_url_error = reason,
    }
    header.schemes = servers::schemes(document, dialect);
}

/// Translates the definitions that the planned operations need, and completes the plan.
fn finish(planner: Planner<'_, '_>) -> Result<PlanOutcome, String> {
    let Planner { mut schemas, mut store, mut header, mut operations, unused_overrides, .. } = planner;
    let mut definitions = Vec::new();
    // Translating a definition may add further definitions.
    while definitions.len() < schemas.references.definitions.len() {
        let schema = schemas.translate_definition(definitions.len());
        definitions.push(serde_json::to_string(&schema).unwrap_or_default());
    }
    if !schemas.references.missing_documents.is_empty() {
        return Ok(PlanOutcome::Needs(schemas.references.missing_documents));
    }
    schemas.references.cut_cycles();
    let cut: IndexSet<usize> = schemas.references.cuts.iter().map(|(from, _)| *from).collect();
    for at in cut {
        schemas.references.definitions[at].in_place.clear();
        definitions[at] = schemas.translate_definition(at).to_string();
    }
    let mut references = schemas.references;
    store_definitions(&mut store, &references, &definitions)?;
    for key in &unused_overrides {
        references.warnings.insert(format!("unknown operation '{key}' under operations"));
    }
    skip_runaway_schemas(&mut operations, &mut header, &references, &store);
    for operation in &mut operations {
        operation.output = operation.output.filter(|output| store.is_within(*output, OUTPUT_MAX));
    }
    header.warnings = references.warnings.into_iter().collect();
    header.token_estimate = token_estimate(&operations, &store);
    Ok(PlanOutcome::Complete(Box::new(Plan { header, operations, store })))
}

fn store_definitions(
    store: &mut Store,
    references: &References<'_, '_>,
    schemas: &[String],
) -> Result<(), String> {
    let mut definitions = Vec::with_capacity(schemas.len());
    for (definition, schema) in references.definitions.iter().zip(schemas) {
        definitions.push((store.push_text(&definition.name)?, store.push_text(schema)?));
    }
    definitions.sort_by(|(a, _), (b, _)| store.get(*a).cmp(store.get(*b)));
    store.definitions = definitions;
    store.text.shrink_to_fit();
    Ok(())
}

/// Skips operations whose arguments cannot be validated in reasonable time, and drops such output schemas.
fn skip_runaway_schemas(
    operations: &mut Vec<Operation>,
    header: &mut PlanHeader,
    references: &References<'_, '_>,
    store: &Store,
) {
    let runaway = references.runaway_definitions();
    if runaway.is_empty() {
        return;
    }
    let find = |schema: Span| store.reachable(schema).find(|(name, _)| runaway.contains(name));
    for operation in std::mem::take(operations) {
        match find(operation.input) {
            Some((name, _)) => {
                let reason = format!("the references of its schema grow exponentially at '{name}'");
                header.skipped.push((operation.key, reason));
            }
            None => {
                let output = operation.output.filter(|output| find(*output).is_none());
                operations.push(Operation { output, ..operation });
            }
        }
    }
}

/// Estimates how many tokens listing all tools costs a model, at four bytes per token.
fn token_estimate(operations: &[Operation], store: &Store) -> usize {
    let bytes = operations.iter().map(|it| {
        let definitions: usize = store.reachable(it.input).map(|(name, body)| name.len() + body.len()).sum();
        it.name.len() + it.description.len() + it.input.length as usize + definitions
    });
    bytes.sum::<usize>() / 4
}
