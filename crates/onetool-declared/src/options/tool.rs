//! An entry of `tools`: a request, a command or Python code, with its parameters.

use std::collections::HashSet;
use std::time::Duration;

use indexmap::IndexMap;
use onetool_config::{ConfigError, Location, NonEmpty, Seconds, Secret, Section, TemplateNames};
use onetool_core::{JsonObject, ToolAnnotations, ToolName};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use super::command::{Argv, CommandOptions};
use super::request::{RequestFile, RequestOptions};
use super::schema::input_schema;

/// A tool: exactly one of `http`, `command` and `python`.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ToolFile {
    /// `pack.tool`, or a name without a pack. MCP clients see `pack_tool`.
    name: String,
    /// Display name.
    title: Option<String>,
    /// What the tool does, for the model.
    description: String,
    /// Parameters by name, each a JSON Schema. A parameter is required unless it has a `default` or `required: false`.
    /// Calls with other parameters are errors.
    params: Option<IndexMap<String, JsonObject>>,
    /// JSON Schema of all parameters together, instead of `params`.
    input_schema: Option<JsonObject>,
    /// Hints about the effects of the tool.
    annotations: Option<ToolAnnotations>,
    /// Time limit of a call in seconds, at most `server.call_timeout`. Default: `server.call_timeout`.
    timeout: Option<Seconds>,
    /// HTTP request to send.
    http: Option<RequestFile>,
    /// Program to run and its arguments, as a list; no shell is involved. Arguments may contain `{{ parameter }}`. A
    /// program with a `/` is a path relative to the configuration file; others are looked up in `PATH`.
    #[schemars(with = "Option<Vec<String>>")]
    command: Option<Argv>,
    /// Working directory of the command. Default: the directory of the configuration file.
    cwd: Option<String>,
    /// Environment variables of the command, in addition to `PATH`, `HOME`, `LANG` and `LC_*`, which it inherits.
    env: Option<IndexMap<String, Secret>>,
    /// Standard input of the command; may contain `{{ parameter }}`.
    stdin: Option<String>,
    /// Python code that runs in the sandbox. Parameters are variables, the code can call other tools, and the last
    /// expression or `return` is the result.
    python: Option<NonEmpty>,
}

/// A tool made from a request, a command or Python code.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct ToolOptions {
    /// Its canonical name.
    pub name: String,
    /// Its display name.
    pub title: Option<String>,
    /// What it does, for the model.
    pub description: String,
    /// The JSON Schema of its parameters, in the order written.
    pub input_schema: JsonObject,
    /// Hints about its effects.
    pub annotations: Option<ToolAnnotations>,
    /// Time limit of a call, if it differs from the server's.
    pub timeout: Option<Duration>,
    /// What a call does.
    pub body: ToolBody,
    /// Where it is defined.
    pub at: Location,
}

/// What a call of a declared tool does.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum ToolBody {
    /// Sends an HTTP request.
    Http(RequestOptions),
    /// Runs a program.
    Command(CommandOptions),
    /// Runs Python code in the sandbox.
    Python(String),
}

impl ToolOptions {
    pub(super) fn read(section: &Section<'_>) -> Result<Self, ConfigError> {
        let file: ToolFile = section.read_required()?;
        let name = section.field("name");
        ToolName::new(file.name.as_str()).check().map_err(|error| name.invalid(error.to_string()))?;
        let input_schema = input_schema(file.params, file.input_schema, section)?;
        let names = parameter_names(&input_schema);
        if file.command.is_none() {
            let keys =
                [("cwd", file.cwd.is_some()), ("env", file.env.is_some()), ("stdin", file.stdin.is_some())];
            if let Some((key, _)) = keys.into_iter().find(|(_, is_set)| *is_set) {
                return Err(section.field(key).invalid("requires 'command'"));
            }
        }
        let body = match (file.http, file.command, file.python) {
            (Some(http), None, None) => {
                ToolBody::Http(RequestOptions::read(http, &names, &section.field("http"))?)
            }
            (None, Some(argv), None) => {
                let env = file.env.unwrap_or_default();
                ToolBody::Command(CommandOptions::read(argv, file.cwd, env, file.stdin, &names, section)?)
            }
            (None, None, Some(code)) => ToolBody::Python(code.into_string()),
            (None, None, None) => {
                return Err(section.invalid("a tool requires 'http', 'command' or 'python'"));
            }
            _ => return Err(section.invalid("use only one of 'http', 'command' and 'python'")),
        };
        Ok(Self {
            name: file.name,
            title: file.title,
            description: file.description,
            input_schema,
            annotations: file.annotations,
            timeout: file.timeout.map(|it| *it),
            body,
            at: section.location().clone(),
        })
    }
}

fn parameter_names(schema: &JsonObject) -> TemplateNames {
    if schema.get("additionalProperties") != Some(&Value::Bool(false)) {
        return TemplateNames::any();
    }
    let properties = schema.get("properties").and_then(Value::as_object);
    let names: HashSet<String> = properties.into_iter().flat_map(|it| it.keys().cloned()).collect();
    TemplateNames::new(names)
}
