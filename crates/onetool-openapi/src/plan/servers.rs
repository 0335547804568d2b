//! The servers and security schemes of a description.

use indexmap::IndexMap;
use serde_json::Value;
use serde_json::value::RawValue;
use url::Url;

use super::model::{Place, Scheme};
use crate::dialect::Dialect;
use crate::document::{Document, parse};
use crate::location::Location;

/// Returns the URL of the API, for operations without their own server.
pub(super) fn base_url(document: &Document<'_>, dialect: Dialect) -> Result<Url, String> {
    if dialect == Dialect::Swagger2 {
        return swagger_base_url(document);
    }
    match first_server(document.top_level("servers").as_ref()) {
        Some(server) => server.and_then(|url| resolve(&url, document.location)),
        // Without servers, the API is on the host of its description.
        None => resolve("/", document.location).map_err(|_| "the description lists no servers".to_owned()),
    }
}

/// Returns the server that a path or an operation lists, if any.
///
/// If the description has no URL, a relative server stays relative: only the configuration knows where the API is.
pub(super) fn own_server(servers: Option<&Value>, location: &Location) -> Option<Result<String, String>> {
    let url = match first_server(servers)? {
        Ok(url) => url,
        Err(reason) => return Some(Err(reason)),
    };
    let is_relative = Url::parse(&url) == Err(url::ParseError::RelativeUrlWithoutBase);
    if is_relative && !matches!(location, Location::Url(_)) {
        return Some(Ok(url));
    }
    Some(resolve(&url, location).map(String::from))
}

/// Returns the first server of a list, with the defaults of its variables; `None` if there is no list.
fn first_server(servers: Option<&Value>) -> Option<Result<String, String>> {
    let server = servers?.as_array()?.first()?;
    let Some(template) = server.get("url").and_then(Value::as_str) else {
        return Some(Err("the first server has no url".into()));
    };
    Some(fill_variables(template, server.get("variables")))
}

/// Replaces a server's variables with their defaults.
fn fill_variables(template: &str, variables: Option<&Value>) -> Result<String, String> {
    let mut url = String::with_capacity(template.len());
    let mut rest = template;
    while let Some((before, after)) = rest.split_once('{') {
        let Some((name, after)) = after.split_once('}') else { break };
        let variable = variables.and_then(|it| it.get(name));
        let value = variable.and_then(|it| it.get("default").or_else(|| it.get("enum")?.get(0)));
        url.push_str(before);
        match value {
            Some(Value::String(value)) => url.push_str(value),
            Some(value @ (Value::Number(_) | Value::Bool(_))) => url.push_str(&value.to_string()),
            _ => return Err(format!("variable '{name}' of server '{template}' has no default")),
        }
        rest = after;
    }
    url.push_str(rest);
    Ok(url)
}

fn resolve(url: &str, location: &Location) -> Result<Url, String> {
    let parsed = match (Url::parse(url), location) {
        (Ok(url), _) => url,
        (Err(url::ParseError::RelativeUrlWithoutBase), Location::Url(base)) => {
            base.join(url).map_err(|error| format!("invalid server URL '{url}': {error}"))?
        }
        (Err(url::ParseError::RelativeUrlWithoutBase), _) => {
            return Err(format!("server URL '{url}' is relative, but the description has no URL"));
        }
        (Err(error), _) => return Err(format!("invalid server URL '{url}': {error}")),
    };
    if matches!(parsed.scheme(), "http" | "https") && parsed.has_host() {
        return Ok(parsed);
    }
    Err(format!("server URL '{url}' is not an http or https URL"))
}

fn swagger_base_url(document: &Document<'_>) -> Result<Url, String> {
    let text = |key| document.top_level(key).and_then(|it| it.as_str().map(str::to_owned));
    let own_url = match document.location {
        Location::Url(url) => Some(url),
        _ => None,
    };
    let schemes = document.top_level("schemes");
    let schemes: Vec<&str> =
        schemes.iter().filter_map(Value::as_array).flatten().filter_map(Value::as_str).collect();
    let scheme = match (schemes.contains(&"https"), schemes.contains(&"http"), own_url) {
        (true, ..) => "https",
        (_, true, _) => "http",
        (.., Some(url)) => url.scheme(),
        _ => "https",
    };
    let host = text("host").filter(|it| !it.is_empty());
    let Some(host) =
        host.or_else(|| own_url.map(|url| url[url::Position::BeforeHost..url::Position::AfterPort].into()))
    else {
        return Err("the description has no host".into());
    };
    let path = text("basePath").unwrap_or_default();
    let slash = if path.starts_with('/') { "" } else { "/" };
    resolve(&format!("{scheme}://{host}{slash}{path}"), document.location)
}

/// Returns the security schemes by name.
pub(super) fn schemes(document: &Document<'_>, dialect: Dialect) -> IndexMap<String, Scheme> {
    let entries: Vec<_> = match dialect {
        Dialect::Swagger2 => document.section("securityDefinitions").collect(),
        _ => document.subsection("components", "securitySchemes").collect(),
    };
    let scheme = |(name, raw): (&str, &RawValue)| {
        let value = parse(raw.get()).ok()?;
        Some((name.to_owned(), scheme(&value, document.location)))
    };
    entries.into_iter().filter_map(scheme).collect()
}

fn scheme(value: &Value, location: &Location) -> Scheme {
    let text = |key: &str| value.get(key).and_then(Value::as_str).unwrap_or_default();
    match text("type") {
        "basic" => Scheme::Basic,
        "http" if text("scheme").eq_ignore_ascii_case("basic") => Scheme::Basic,
        "http" if text("scheme").eq_ignore_ascii_case("bearer") => Scheme::Bearer,
        "apiKey" => {
            let place = match text("in") {
                "query" => Place::Query,
                "cookie" => Place::Cookie,
                _ => Place::Header,
            };
            Scheme::ApiKey { name: text("name").to_owned(), place }
        }
        "oauth2" => {
            let flow = value.pointer("/flows/clientCredentials");
            let token_url = flow.or(Some(value)).and_then(|it| it.get("tokenUrl")).and_then(Value::as_str);
            let token_url = token_url.and_then(|url| resolve(url, location).ok()).map(String::from);
            Scheme::OAuth2 { token_url }
        }
        "openIdConnect" => Scheme::OAuth2 { token_url: None },
        _ => Scheme::Other,
    }
}
