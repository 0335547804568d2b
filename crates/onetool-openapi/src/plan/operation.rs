//! Plans operations: their names, arguments, schemas and hints.

use std::collections::HashMap;
use std::rc::Rc;

use indexmap::{IndexMap, IndexSet};
use onetool_core::{JsonObject, ToolAnnotations};
use serde_json::Value;

use super::arguments::Arguments;
use super::model::{CallPlan, Operation, Place, PlanHeader, SecurityRequirement};
use super::parameter::{Parameter, ParameterEntry};
use super::schemas::Schemas;
use super::servers;
use crate::document::{Document, parse};
use crate::media_type::is_json;
use crate::names::{ToolNames, name_from_path};
use crate::options::{Candidate, PlanOptions};
use crate::schema::is_true;
use crate::store::Store;

const METHODS: [&str; 8] = ["get", "put", "post", "delete", "options", "head", "patch", "trace"];

/// Plans the operations of a description one at a time.
pub(super) struct Planner<'p, 't> {
    pub(super) options: &'p PlanOptions,
    pub(super) schemas: Schemas<'p, 't>,
    pub(super) store: Store,
    pub(super) header: PlanHeader,
    pub(super) operations: Vec<Operation>,
    /// Overrides whose operation has not been found yet.
    pub(super) unused_overrides: IndexSet<&'p str>,
    /// Parameters that were referred to before.
    parameters: HashMap<(usize, String), Rc<Parameter>>,
    names: ToolNames,
    defaults: Defaults,
}

/// Top-level values that apply to operations without their own.
struct Defaults {
    security: Option<Value>,
    consumes: Option<Value>,
    produces: Option<Value>,
}

/// The parts of a path item that all of its operations share.
struct PathItem<'a> {
    path: &'a str,
    document: usize,
    parameters: Vec<Value>,
    servers: Option<Value>,
}

impl<'p, 't> Planner<'p, 't> {
    pub(super) fn new(document: &Document<'_>, schemas: Schemas<'p, 't>, options: &'p PlanOptions) -> Self {
        let reserved_names = options.operations.values().filter_map(|it| it.name.clone());
        Self {
            options,
            schemas,
            store: Store::default(),
            header: PlanHeader::default(),
            operations: Vec::new(),
            unused_overrides: options.operations.keys().map(String::as_str).collect(),
            parameters: HashMap::new(),
            names: ToolNames::new(&options.name, reserved_names),
            defaults: Defaults {
                security: document.top_level("security"),
                consumes: document.top_level("consumes"),
                produces: document.top_level("produces"),
            },
        }
    }

    /// Plans the operations of a path.
    pub(super) fn path(&mut self, path: &str, text: &str) {
        if !path.starts_with('/') {
            return; // an extension
        }
        let item = parse(text).and_then(|item| self.schemas.references.follow(0, item));
        match item {
            Ok((document, Value::Object(item))) => self.path_item(path, document, item),
            Ok(_) => {
                self.header.skipped.push((path.to_owned(), "its path item is not an object".into()));
            }
            Err(reason) => self.header.skipped.push((path.to_owned(), reason)),
        }
    }

    fn path_item(&mut self, path: &str, document: usize, mut item: JsonObject) {
        let parameters = match item.shift_remove("parameters") {
            Some(Value::Array(parameters)) => parameters,
            _ => Vec::new(),
        };
        let path_item = PathItem { path, document, parameters, servers: item.shift_remove("servers") };
        for (method, operation) in item {
            if !METHODS.contains(&method.as_str()) {
                continue;
            }
            let endpoint = format!("{} {path}", method.to_ascii_uppercase());
            match operation {
                Value::Object(operation) => self.operation(&path_item, &method, endpoint, operation),
                _ => self.header.skipped.push((endpoint, "it is not an object".into())),
            }
        }
    }

    fn operation(&mut self, path_item: &PathItem<'_>, method: &str, endpoint: String, operation: JsonObject) {
        let id = operation.get("operationId").and_then(Value::as_str).filter(|it| !it.trim().is_empty());
        let key = id.map_or_else(|| endpoint.clone(), str::to_owned);
        let options = self.options;
        let overrides = options.operations.get(&key);
        self.unused_overrides.swap_remove(key.as_str());
        // Operations that are filtered out get names too, so that a filter does not rename others.
        let (name, is_renamed) = match overrides.and_then(|it| it.name.clone()) {
            Some(name) => (name, false),
            None => match id {
                Some(id) => self.names.assign(id, &endpoint),
                None => self.names.assign(&name_from_path(method, path_item.path), &endpoint),
            },
        };
        let tags = operation.get("tags").and_then(Value::as_array).into_iter().flatten();
        let tags: Vec<String> = tags.filter_map(Value::as_str).map(str::to_owned).collect();
        let candidate = Candidate { id: &key, name: &name, tags: &tags, path: path_item.path, method };
        let annotations = hints(method, overrides.map(|it| it.annotations).unwrap_or_default());
        let is_wanted = options.include.includes(&candidate)
            && !options.exclude.excludes(&candidate)
            && overrides.and_then(|it| it.enabled).unwrap_or(true)
            && (!options.read_only || annotations.read_only_hint == Some(true));
        if !is_wanted {
            return;
        }
        let description = match overrides.and_then(|it| it.description.clone()) {
            Some(description) => description,
            None => description(&operation, &endpoint),
        };
        if is_renamed {
            self.header.renamed.push((key.clone(), name.clone()));
        }
        match self.call(path_item, method, operation) {
            Ok(planned) => self.operations.push(Operation { key, name, description, annotations, ..planned }),
            Err(reason) => self.header.skipped.push((key, reason)),
        }
    }

    /// Plans the call, and adds the plan and the schemas to the store.
    fn call(
        &mut self,
        path_item: &PathItem<'_>,
        method: &str,
        mut operation: JsonObject,
    ) -> Result<Operation, String> {
        let document = path_item.document;
        let own = match operation.shift_remove("parameters") {
            Some(Value::Array(own)) => own,
            _ => Vec::new(),
        };
        let (parameters, bodies) = self.parameters(path_item, own)?;
        let mut arguments = Arguments::default();
        arguments.add_parameters(path_item.path, &parameters);
        let body = match operation.shift_remove("requestBody") {
            Some(body) => self.schemas.request_body(document, body, &mut arguments)?,
            None if bodies.is_empty() => None,
            None => {
                let consumes = operation.shift_remove("consumes").or_else(|| self.defaults.consumes.clone());
                self.schemas.swagger_body(bodies, consumes.as_ref(), &mut arguments)?
            }
        };
        let responses = operation.shift_remove("responses").unwrap_or_default();
        let produces = operation.shift_remove("produces").or_else(|| self.defaults.produces.clone());
        let (accept, output) = self.response(document, responses, produces.as_ref());
        let servers = operation.get("servers").or(path_item.servers.as_ref());
        let location = self.schemas.references.documents[document].location;
        let server = match servers::own_server(servers, location) {
            // The configured URL replaces this server anyway.
            Some(Err(_)) if self.options.has_base_url => None,
            server => server.transpose()?,
        };
        let security = operation.get("security").or(self.defaults.security.as_ref()).and_then(requirements);

        let (input, arguments) = arguments.finish(body.as_ref().is_some_and(|body| body.accepts_extra));
        let input = self.store.push(&input)?;
        let output = output.map(|schema| self.store.push(&schema)).transpose()?;
        let call = CallPlan {
            method: method.to_ascii_uppercase(),
            path: path_item.path.to_owned(),
            server: server.clone(),
            arguments,
            body,
            security,
            accept,
        };
        let call = self.store.push(&call)?;
        Ok(Operation { server, call, input, output, ..Operation::default() })
    }

    /// Collects the parameters of the path item and the operation; the operation's take precedence.
    ///
    /// Swagger 2.0's body parameters are returned separately.
    #[expect(clippy::type_complexity, reason = "the caller destructures the two lists immediately")]
    fn parameters(
        &mut self,
        path_item: &PathItem<'_>,
        own: Vec<Value>,
    ) -> Result<(Vec<Rc<Parameter>>, Vec<(usize, Value)>), String> {
        let mut parameters: IndexMap<(Place, String), Rc<Parameter>> = IndexMap::new();
        let mut bodies = Vec::new();
        for value in path_item.parameters.iter().cloned().chain(own) {
            let key = self.schemas.references.cache_key(path_item.document, &value);
            if let Some(known) = key.as_ref().and_then(|key| self.parameters.get(key)) {
                parameters.insert((known.place, known.wire_name.clone()), known.clone());
                continue;
            }
            let (document, value) = self.schemas.references.follow(path_item.document, value)?;
            match self.schemas.parameter(document, value)? {
                ParameterEntry::Parameter(parameter) => {
                    let parameter = Rc::<Parameter>::from(parameter);
                    if let Some(key) = key {
                        self.parameters.insert(key, parameter.clone());
                    }
                    parameters.insert((parameter.place, parameter.wire_name.clone()), parameter);
                }
                ParameterEntry::Body(document, value) => bodies.push((document, value)),
                ParameterEntry::Nameless => {
                    let warning = format!("skipped a parameter without a name in {}", path_item.path);
                    self.schemas.references.warnings.insert(warning);
                }
                ParameterEntry::Ignored => {}
            }
        }
        Ok((parameters.into_values().collect(), bodies))
    }

    /// Returns the `Accept` header, and the schema of the response if it is always an object.
    fn response(
        &mut self,
        document: usize,
        responses: Value,
        produces: Option<&Value>,
    ) -> (String, Option<Value>) {
        let Value::Object(responses) = responses else { return (accept(&[]), None) };
        let successes = responses.into_iter().filter(|(status, _)| status.starts_with('2'));
        let mut successes: Vec<Value> = successes.map(|(_, response)| response).collect();
        let is_only = successes.len() == 1;
        let Some(response) = successes.first_mut().map(Value::take) else { return (accept(&[]), None) };
        let Ok((document, mut response)) = self.schemas.references.follow(document, response) else {
            return (accept(&[]), None);
        };
        let (types, schema) = match response.get_mut("content") {
            Some(Value::Object(content)) => {
                let types: Vec<String> = content.keys().cloned().collect();
                let json = content.iter_mut().find(|(media_type, _)| is_json(media_type));
                let schema = json.and_then(|(_, media)| media.get_mut("schema")).map(Value::take);
                (types, schema.filter(|_| all_json(content.keys())))
            }
            _ => {
                let types = produces.and_then(Value::as_array).into_iter().flatten();
                let types: Vec<String> = types.filter_map(Value::as_str).map(str::to_owned).collect();
                let schema = response.get_mut("schema").map(Value::take);
                (types.clone(), schema.filter(|_| all_json(types.iter())))
            }
        };
        let schema = schema.filter(|_| is_only).and_then(|schema| self.object_schema(document, schema));
        (accept(&types), schema)
    }

    /// Translates the schema of a plain object. Clients accept only objects as structured content.
    fn object_schema(&mut self, document: usize, schema: Value) -> Option<Value> {
        let (_, target) = self.schemas.references.follow(document, schema.clone()).ok()?;
        let is_plain = target.get("type").is_some_and(|it| it == "object")
            && !["oneOf", "anyOf", "allOf", "nullable"].iter().any(|key| target.get(*key).is_some());
        if !is_plain {
            return None;
        }
        let Value::Object(mut schema) = self.schemas.translate(document, schema) else { return None };
        schema.insert("type".into(), "object".into());
        Some(Value::Object(schema))
    }
}

fn description(operation: &JsonObject, endpoint: &str) -> String {
    let text = |key: &str| operation.get(key).and_then(Value::as_str).map_or("", str::trim);
    let (summary, description) = (text("summary"), text("description"));
    let mut all = match (summary, description) {
        ("", "") => endpoint.to_owned(),
        (summary, "") => summary.to_owned(),
        ("", description) => description.to_owned(),
        (summary, description) if description.starts_with(summary) => description.to_owned(),
        (summary, description) => format!("{summary}\n\n{description}"),
    };
    if is_true(operation.get("deprecated")) {
        all.insert_str(0, "Deprecated. ");
    }
    all
}

/// Returns the default hints for a method, replaced by `overrides` where those are set.
fn hints(method: &str, overrides: ToolAnnotations) -> ToolAnnotations {
    let mut hints = ToolAnnotations { open_world_hint: Some(true), ..ToolAnnotations::default() };
    match method {
        "get" | "head" => hints.read_only_hint = Some(true),
        "delete" => hints.destructive_hint = Some(true),
        "put" => hints.idempotent_hint = Some(true),
        _ => {}
    }
    ToolAnnotations {
        read_only_hint: overrides.read_only_hint.or(hints.read_only_hint),
        destructive_hint: overrides.destructive_hint.or(hints.destructive_hint),
        idempotent_hint: overrides.idempotent_hint.or(hints.idempotent_hint),
        open_world_hint: overrides.open_world_hint.or(hints.open_world_hint),
    }
}

fn requirements(security: &Value) -> Option<Vec<SecurityRequirement>> {
    let scopes = |scopes: &Value| {
        let scopes = scopes.as_array().into_iter().flatten().filter_map(Value::as_str);
        scopes.map(str::to_owned).collect::<Vec<_>>()
    };
    let requirement = |requirement: &Value| {
        let schemes = requirement.as_object()?.iter();
        Some(schemes.map(|(name, it)| (name.clone(), scopes(it))).collect())
    };
    Some(security.as_array()?.iter().filter_map(requirement).collect())
}

fn all_json<'a>(mut types: impl Iterator<Item = &'a String>) -> bool {
    types.all(|it| is_json(it))
}

/// Returns an `Accept` header that prefers JSON but accepts any type.
fn accept(types: &[String]) -> String {
    let best = types.iter().find(|it| is_json(it)).or_else(|| types.iter().find(|it| !it.contains('*')));
    let best = best.map_or("application/json", String::as_str);
    let is_plain = best.chars().all(|c| c.is_ascii_graphic() || c == ' ');
    format!("{}, */*;q=0.5", if is_plain { best } else { "application/json" })
}
