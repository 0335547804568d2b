//! One operation: its arguments, its schemas, its name and its hints.

use std::collections::HashSet;
use std::rc::Rc;

use indexmap::IndexMap;
use onetool_core::{JsonObject, ToolAnnotations};
use serde_json::{Value, json};

use super::model::{Alternative, Argument, Body, CallPlan, Encoding, Place, Style};
use super::parameter::{Found, Parameter};
use super::{Operation, Planner, servers};
use crate::document::Document;
use crate::media_type::is_json;
use crate::names::{ArgumentNames, name_from_path};
use crate::options::Candidate;
use crate::schema::is_true;

const METHODS: [&str; 8] = ["get", "put", "post", "delete", "options", "head", "patch", "trace"];

/// What holds for operations that do not say otherwise.
pub(super) struct Defaults {
    security: Option<Value>,
    pub(super) consumes: Option<Value>,
    produces: Option<Value>,
}

impl Defaults {
    pub(super) fn of(document: &Document<'_>) -> Self {
        Self {
            security: document.top("security"),
            consumes: document.top("consumes"),
            produces: document.top("produces"),
        }
    }
}

/// The arguments of an operation as they are found.
#[derive(Default)]
pub(super) struct Arguments {
    pub(super) names: ArgumentNames,
    pub(super) properties: JsonObject,
    pub(super) required: Vec<Value>,
    /// Arguments that need each other, because they belong to a body that may be left out.
    pub(super) dependent: JsonObject,
    planned: Vec<Argument>,
}

/// A path item's parts that concern all of its operations.
struct Around<'a> {
    path: &'a str,
    document: usize,
    parameters: Vec<Value>,
    servers: Option<Value>,
}

impl Planner<'_, '_> {
    pub(super) fn path_item(&mut self, path: &str, document: usize, mut item: JsonObject) {
        let parameters = match item.shift_remove("parameters") {
            Some(Value::Array(parameters)) => parameters,
            _ => Vec::new(),
        };
        let around = Around { path, document, parameters, servers: item.shift_remove("servers") };
        for (method, operation) in item {
            if !METHODS.contains(&method.as_str()) {
                continue;
            }
            let written = format!("{} {path}", method.to_ascii_uppercase());
            match operation {
                Value::Object(operation) => self.operation(&around, &method, written, operation),
                _ => self.header.left_out.push((written, "it is no object".into())),
            }
        }
    }

    fn operation(&mut self, around: &Around<'_>, method: &str, written: String, operation: JsonObject) {
        let id = operation.get("operationId").and_then(Value::as_str).filter(|it| !it.trim().is_empty());
        let key = id.map_or_else(|| written.clone(), str::to_owned);
        let options = self.options;
        let change = options.operations.get(&key);
        self.unused.swap_remove(key.as_str());
        let given = change.and_then(|it| it.name.clone());
        // Every operation gets its name, also one that is filtered out: a filter must not rename others.
        let (name, changed) = match given {
            Some(name) => (name, false),
            None => match id {
                Some(id) => self.names.name(id, &written),
                None => self.names.name(&name_from_path(method, around.path), &written),
            },
        };
        let tags = operation.get("tags").and_then(Value::as_array).into_iter().flatten();
        let tags: Vec<String> = tags.filter_map(Value::as_str).map(str::to_owned).collect();
        let candidate = Candidate { id: &key, name: &name, tags: &tags, path: around.path, method };
        let annotations = merged(hints(method), change.map(|it| it.annotations).unwrap_or_default());
        let is_wanted = options.include.includes(&candidate)
            && !options.exclude.excludes(&candidate)
            && change.and_then(|it| it.enabled).unwrap_or(true)
            && (!options.read_only || annotations.read_only_hint == Some(true));
        if !is_wanted {
            return;
        }
        let description = match change.and_then(|it| it.description.clone()) {
            Some(description) => description,
            None => description(&operation, &written),
        };
        if changed {
            self.header.renamed.push((key.clone(), name.clone()));
        }
        match self.call(around, method, operation) {
            Ok(planned) => self.operations.push(Operation { key, name, description, annotations, ..planned }),
            Err(reason) => self.header.left_out.push((key, reason)),
        }
    }

    /// Plans the call, and writes plan and schemas to the store.
    fn call(
        &mut self,
        around: &Around<'_>,
        method: &str,
        mut operation: JsonObject,
    ) -> Result<Operation, String> {
        let document = around.document;
        let own = match operation.shift_remove("parameters") {
            Some(Value::Array(own)) => own,
            _ => Vec::new(),
        };
        let (parameters, bodies) = self.parameters(around, own)?;
        let mut arguments = Arguments::default();
        add_parameters(&mut arguments, around.path, parameters);
        let body = match operation.shift_remove("requestBody") {
            Some(body) => self.request_body(document, body, &mut arguments)?,
            None if bodies.is_empty() => None,
            None => {
                let consumes = operation.shift_remove("consumes").or_else(|| self.defaults.consumes.clone());
                self.swagger_body(bodies, consumes.as_ref(), &mut arguments)?
            }
        };
        let responses = operation.shift_remove("responses").unwrap_or_default();
        let produces = operation.shift_remove("produces").or_else(|| self.defaults.produces.clone());
        let (accept, output) = self.answers(document, responses, produces.as_ref());
        let servers = operation.get("servers").or(around.servers.as_ref());
        let location = self.links.documents[document].location;
        let server = match servers::own_server(servers, location) {
            // The configuration says where the API is, whatever this is.
            Some(Err(_)) if self.options.has_base_url => None,
            server => server.transpose()?,
        };
        let security = operation.get("security").or(self.defaults.security.as_ref()).and_then(requirements);

        let input = self.store.push(&input_schema(&mut arguments, body.as_ref()))?;
        let output = output.map(|schema| self.store.push(&schema)).transpose()?;
        let call = CallPlan {
            method: method.to_ascii_uppercase(),
            path: around.path.to_owned(),
            server: server.clone(),
            arguments: arguments.planned,
            body,
            security,
            accept,
        };
        let call = self.store.push(&call)?;
        Ok(Operation { server, call, input, output, ..Operation::default() })
    }

    /// Collects the parameters of path item and operation; the operation's win. Bodies of Swagger 2.0 come apart.
    #[expect(clippy::type_complexity, reason = "two lists, taken apart at once")]
    fn parameters(
        &mut self,
        around: &Around<'_>,
        own: Vec<Value>,
    ) -> Result<(Vec<Rc<Parameter>>, Vec<(usize, Value)>), String> {
        let mut parameters: IndexMap<(Place, String), Rc<Parameter>> = IndexMap::new();
        let mut bodies = Vec::new();
        for value in around.parameters.iter().cloned().chain(own) {
            let key = self.links.key(around.document, &value);
            if let Some(known) = key.as_ref().and_then(|key| self.parameters.get(key)) {
                parameters.insert((known.place, known.wire.clone()), known.clone());
                continue;
            }
            let (document, value) = self.links.follow(around.document, value)?;
            match self.parameter(document, value)? {
                Found::Parameter(parameter) => {
                    let parameter = Rc::<Parameter>::from(parameter);
                    if let Some(key) = key {
                        self.parameters.insert(key, parameter.clone());
                    }
                    parameters.insert((parameter.place, parameter.wire.clone()), parameter);
                }
                Found::Body(document, value) => bodies.push((document, value)),
                Found::Nameless => {
                    let warning = format!("skipped a parameter without a name in {}", around.path);
                    self.links.warnings.insert(warning);
                }
                Found::Ignored => {}
            }
        }
        Ok((parameters.into_values().collect(), bodies))
    }

    /// Returns what to accept, and the schema of the answer if it is always an object.
    fn answers(
        &mut self,
        document: usize,
        responses: Value,
        produces: Option<&Value>,
    ) -> (String, Option<Value>) {
        let Value::Object(responses) = responses else { return (accept(&[]), None) };
        let successes = responses.into_iter().filter(|(status, _)| status.starts_with('2'));
        let mut successes: Vec<Value> = successes.map(|(_, response)| response).collect();
        let only = successes.len() == 1;
        let Some(response) = successes.first_mut().map(Value::take) else { return (accept(&[]), None) };
        let Ok((document, mut response)) = self.links.follow(document, response) else {
            return (accept(&[]), None);
        };
        let (types, schema) = match response.get_mut("content") {
            Some(Value::Object(content)) => {
                let types: Vec<String> = content.keys().cloned().collect();
                let json = content.iter_mut().find(|(media_type, _)| is_json(media_type));
                let schema = json.and_then(|(_, media)| media.get_mut("schema")).map(Value::take);
                (types, schema.filter(|_| types_are_json(content.keys())))
            }
            _ => {
                let types = produces.and_then(Value::as_array).into_iter().flatten();
                let types: Vec<String> = types.filter_map(Value::as_str).map(str::to_owned).collect();
                let schema = response.get_mut("schema").map(Value::take);
                (types.clone(), schema.filter(|_| types_are_json(types.iter())))
            }
        };
        let schema = schema.filter(|_| only).and_then(|schema| self.object_schema(document, schema));
        (accept(&types), schema)
    }

    /// Returns a schema that clients accept as that of structured content: it says that it is an object.
    fn object_schema(&mut self, document: usize, schema: Value) -> Option<Value> {
        let (_, target) = self.links.follow(document, schema.clone()).ok()?;
        let is_plain = target.get("type").is_some_and(|it| it == "object")
            && !["oneOf", "anyOf", "allOf", "nullable"].iter().any(|key| target.get(*key).is_some());
        if !is_plain {
            return None;
        }
        let Value::Object(mut schema) = self.translate(document, schema) else { return None };
        schema.insert("type".into(), "object".into());
        Some(Value::Object(schema))
    }
}

/// Puts the parameters of all four places among the arguments: path first, because positional arguments are
/// usually those.
fn add_parameters(arguments: &mut Arguments, path: &str, parameters: Vec<Rc<Parameter>>) {
    let variables: Vec<&str> = variables(path).collect();
    let mut add = |wire: &str, place, required, encoding, schema: &JsonObject| {
        let suffix = match place {
            Place::Path => "path",
            Place::Query => "query",
            Place::Header => "header",
            Place::Cookie => "cookie",
        };
        let name = arguments.names.name(wire, suffix);
        arguments.properties.insert(name.clone(), Value::Object(schema.clone()));
        if required {
            arguments.required.push(name.clone().into());
        }
        arguments.planned.push(Argument { name, wire: wire.to_owned(), place, encoding });
    };
    let mut seen = HashSet::new();
    for variable in &variables {
        if !seen.insert(*variable) {
            continue;
        }
        match parameters.iter().find(|it| it.place == Place::Path && it.wire == *variable) {
            Some(it) => add(variable, Place::Path, true, it.encoding, &it.schema),
            // A variable that nobody declared still has to be filled in.
            None => {
                let encoding = Encoding { style: Style::Simple, explode: false, reserved: false };
                let schema = JsonObject::from_iter([("type".to_owned(), "string".into())]);
                add(variable, Place::Path, true, encoding, &schema);
            }
        }
    }
    for place in [Place::Query, Place::Header, Place::Cookie] {
        for it in parameters.iter().filter(|it| it.place == place) {
            add(&it.wire, place, it.required, it.encoding, &it.schema);
        }
    }
}

/// Returns the names in braces.
pub(crate) fn variables(path: &str) -> impl Iterator<Item = &str> {
    path.split('{').skip(1).filter_map(|part| part.split_once('}')).map(|(name, _)| name)
}

fn input_schema(arguments: &mut Arguments, body: Option<&Body>) -> Value {
    let mut schema = JsonObject::new();
    schema.insert("type".into(), "object".into());
    schema.insert("properties".into(), Value::Object(std::mem::take(&mut arguments.properties)));
    if !arguments.required.is_empty() {
        schema.insert("required".into(), Value::Array(std::mem::take(&mut arguments.required)));
    }
    if !arguments.dependent.is_empty() {
        schema.insert("dependentRequired".into(), Value::Object(std::mem::take(&mut arguments.dependent)));
    }
    // A misspelt argument is said to be one instead of being dropped.
    if !body.is_some_and(|body| body.extra) {
        schema.insert("additionalProperties".into(), json!(false));
    }
    Value::Object(schema)
}

fn description(operation: &JsonObject, written: &str) -> String {
    let text = |key: &str| operation.get(key).and_then(Value::as_str).map_or("", str::trim);
    let (summary, description) = (text("summary"), text("description"));
    let mut all = match (summary, description) {
        ("", "") => written.to_owned(),
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

fn hints(method: &str) -> ToolAnnotations {
    let mut hints = ToolAnnotations { open_world_hint: Some(true), ..ToolAnnotations::default() };
    match method {
        "get" | "head" => hints.read_only_hint = Some(true),
        "delete" => hints.destructive_hint = Some(true),
        "put" => hints.idempotent_hint = Some(true),
        _ => {}
    }
    hints
}

fn merged(of_method: ToolAnnotations, given: ToolAnnotations) -> ToolAnnotations {
    ToolAnnotations {
        read_only_hint: given.read_only_hint.or(of_method.read_only_hint),
        destructive_hint: given.destructive_hint.or(of_method.destructive_hint),
        idempotent_hint: given.idempotent_hint.or(of_method.idempotent_hint),
        open_world_hint: given.open_world_hint.or(of_method.open_world_hint),
    }
}

fn requirements(security: &Value) -> Option<Vec<Alternative>> {
    let scopes = |scopes: &Value| {
        let scopes = scopes.as_array().into_iter().flatten().filter_map(Value::as_str);
        scopes.map(str::to_owned).collect::<Vec<_>>()
    };
    let alternative = |alternative: &Value| {
        let schemes = alternative.as_object()?.iter();
        Some(schemes.map(|(name, it)| (name.clone(), scopes(it))).collect())
    };
    Some(security.as_array()?.iter().filter_map(alternative).collect())
}

fn types_are_json<'a>(mut types: impl Iterator<Item = &'a String>) -> bool {
    types.all(|it| is_json(it))
}

/// Prefers JSON, takes what else there is.
fn accept(types: &[String]) -> String {
    let best = types.iter().find(|it| is_json(it)).or_else(|| types.iter().find(|it| !it.contains('*')));
    let best = best.map_or("application/json", String::as_str);
    let is_plain = best.chars().all(|c| c.is_ascii_graphic() || c == ' ');
    format!("{}, */*;q=0.5", if is_plain { best } else { "application/json" })
}
