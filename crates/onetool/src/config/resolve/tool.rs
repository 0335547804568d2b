//! Tools: a request, a command or Python code, with its parameters.

use std::collections::HashSet;
use std::path::MAIN_SEPARATOR;

use http::HeaderName;
use indexmap::IndexMap;
use onetool_core::{JsonObject, similar_names};
use serde_json::Value;

use super::template::{Names, is_template};
use super::{check_name, filled, resolve_path, schema, seconds};
use crate::config::file::{Argv, HttpToolFile, ToolFile};
use crate::config::resolved::{CommandToolConfig, HttpToolConfig, ToolBody, ToolConfig};
use crate::config::tree::Place;
use crate::config::{ConfigError, Secret};

const METHODS: [&str; 7] = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"];

pub(super) fn resolve(mut file: ToolFile, place: &Place<'_>) -> Result<ToolConfig, ConfigError> {
    check_name(&file.name, &place.field("name"))?;
    let input_schema = schema::input_schema(file.params.take(), file.input_schema.take(), place)?;
    let names = parameter_names(&input_schema);
    let timeout = seconds(file.timeout, &place.field("timeout"))?;
    if file.command.is_none() {
        let only_command =
            [("cwd", file.cwd.is_some()), ("env", file.env.is_some()), ("stdin", file.stdin.is_some())];
        if let Some((key, _)) = only_command.into_iter().find(|(_, is_set)| *is_set) {
            return Err(ConfigError::invalid(&place.field(key), "goes only with 'command'"));
        }
    }
    let body = match (file.http.take(), file.command.take(), file.python.take()) {
        (Some(http), None, None) => ToolBody::Http(request(http, &names, &place.field("http"))?),
        (None, Some(argv), None) => ToolBody::Command(command(argv, &mut file, &names, place)?),
        (None, None, Some(code)) => {
            filled(Some(code.clone()), &place.field("python"))?;
            ToolBody::Python(code)
        }
        (None, None, None) => {
            return Err(ConfigError::invalid(place, "a tool needs 'http', 'command' or 'python'"));
        }
        _ => {
            let message = "'http', 'command' and 'python' exclude each other, keep one";
            return Err(ConfigError::invalid(place, message));
        }
    };
    let ToolFile { name, title, description, annotations, .. } = file;
    Ok(ToolConfig {
        name,
        title,
        description,
        input_schema,
        annotations,
        timeout,
        body,
        at: place.at.clone(),
    })
}

fn parameter_names(schema: &JsonObject) -> Names {
    let is_closed = schema.get("additionalProperties") == Some(&Value::Bool(false));
    let properties = schema.get("properties").and_then(Value::as_object);
    let names = || properties.into_iter().flat_map(|it| it.keys().cloned()).collect::<HashSet<_>>();
    Names(is_closed.then(names))
}

fn request(file: HttpToolFile, names: &Names, place: &Place<'_>) -> Result<HttpToolConfig, ConfigError> {
    check_url(&file.url, &place.field("url"))?;
    names.check(&file.url, &place.field("url"))?;
    if file.json.is_some() && file.body.is_some() {
        return Err(ConfigError::invalid(place, "'json' and 'body' exclude each other, keep one"));
    }
    if file.method.is_none() && (file.json.is_some() || file.body.is_some()) {
        return Err(ConfigError::invalid(place, "a request with a body needs a 'method', for example POST"));
    }
    let method = file.method.map_or_else(|| "GET".to_owned(), |it| it.to_ascii_uppercase());
    if !METHODS.contains(&method.as_str()) {
        let suggestion = similar_names(&method, METHODS)
            .first()
            .map_or_else(String::new, |it| format!(", did you mean {it}?"));
        return Err(ConfigError::invalid(&place.field("method"), format!("unknown method{suggestion}")));
    }
    let (query, headers) = (file.query.unwrap_or_default(), file.headers.unwrap_or_default());
    check_values(&query, names, &place.field("query"))?;
    check_values(&headers, names, &place.field("headers"))?;
    if let Some(name) = headers.keys().find(|name| HeaderName::from_bytes(name.as_bytes()).is_err()) {
        return Err(ConfigError::invalid(&place.field("headers").field(name), "not the name of a header"));
    }
    if let Some(json) = &file.json {
        names.check_json(json, &place.field("json"))?;
    }
    if let Some(body) = &file.body {
        names.check(body, &place.field("body"))?;
    }
    Ok(HttpToolConfig {
        method,
        url: file.url,
        query,
        headers: secrets(headers),
        json: file.json,
        body: file.body,
    })
}

/// Refuses an address whose scheme or authority a caller could choose: the request would go anywhere.
fn check_url(url: &str, place: &Place<'_>) -> Result<(), ConfigError> {
    let rest = url.strip_prefix("https://").or_else(|| url.strip_prefix("http://"));
    let Some(rest) = rest else {
        return Err(ConfigError::invalid(place, "has to begin with http:// or https://"));
    };
    let end = rest.find(['/', '?', '#', '\\']).unwrap_or(rest.len());
    if is_template(&rest[..end]) {
        return Err(ConfigError::invalid(place, "the host has to be written out, without {{ }}"));
    }
    // A template is no valid URL in itself, so only the part before the path is looked at.
    match url::Url::parse(&url[..url.len() - rest.len() + end]) {
        Ok(_) => Ok(()),
        Err(error) => Err(ConfigError::invalid(place, format!("not a URL: {error}"))),
    }
}

fn command(
    Argv(mut argv): Argv,
    file: &mut ToolFile,
    names: &Names,
    place: &Place<'_>,
) -> Result<CommandToolConfig, ConfigError> {
    let argv_place = place.field("command");
    for (index, argument) in argv.iter().enumerate() {
        names.check(argument, &argv_place.item(index))?;
    }
    match argv.first_mut() {
        None => {
            return Err(ConfigError::invalid(&argv_place, "the list has to name a program"));
        }
        Some(program) if program.trim().is_empty() => {
            return Err(ConfigError::invalid(&argv_place, "the list has to begin with a program"));
        }
        Some(program) if is_template(program) => {
            let message = "the program has to be written out, without {{ }}";
            return Err(ConfigError::invalid(&argv_place.item(0), message));
        }
        // A bare name is looked up by the system, a path is one of ours.
        Some(program) if program.contains(['/', MAIN_SEPARATOR]) => {
            *program = resolve_path(program, &argv_place.item(0)).to_string_lossy().into_owned();
        }
        Some(_) => {}
    }
    let (cwd_place, stdin_place) = (place.field("cwd"), place.field("stdin"));
    let stdin = file.stdin.take();
    if let Some(stdin) = &stdin {
        names.check(stdin, &stdin_place)?;
    }
    let env = file.env.take().unwrap_or_default();
    let cwd = resolve_path(file.cwd.as_deref().unwrap_or("."), &cwd_place);
    Ok(CommandToolConfig { argv, env: secrets(env), cwd, stdin })
}

fn check_values(
    values: &IndexMap<String, String>,
    names: &Names,
    place: &Place<'_>,
) -> Result<(), ConfigError> {
    values.iter().try_for_each(|(key, value)| names.check(value, &place.field(key)))
}

fn secrets(values: IndexMap<String, String>) -> IndexMap<String, Secret> {
    values.into_iter().map(|(key, value)| (key, Secret::new(value))).collect()
}
