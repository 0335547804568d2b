//! Where an API is, and how callers prove who they are, as the description says it.

use indexmap::IndexMap;
use serde_json::Value;
use serde_json::value::RawValue;
use url::Url;

use super::model::{Place, Scheme};
use crate::document::{Document, Location};
use crate::schema::Dialect;

/// Returns where the API is, for operations that do not say otherwise.
pub(super) fn base_url(document: &Document<'_>, dialect: Dialect) -> Result<Url, String> {
    if dialect == Dialect::Swagger2 {
        return swagger_base(document);
    }
    match first(document.top("servers").as_ref()) {
        Some(server) => server.and_then(|url| resolve(&url, document.location)),
        // Without servers the API is where its description is.
        None => resolve("/", document.location).map_err(|_| "it names no server".to_owned()),
    }
}

/// Returns the server of a path or an operation; `None` if it has none of its own. It stays relative where the
/// description itself is at no URL: only the configuration knows then where the API is.
pub(super) fn own_server(servers: Option<&Value>, location: &Location) -> Option<Result<String, String>> {
    let url = match first(servers)? {
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
fn first(servers: Option<&Value>) -> Option<Result<String, String>> {
    let server = servers?.as_array()?.first()?;
    let Some(template) = server.get("url").and_then(Value::as_str) else {
        return Some(Err("its first server has no url".into()));
    };
    Some(filled(template, server.get("variables")))
}

/// Fills in the defaults of a server's variables.
fn filled(template: &str, variables: Option<&Value>) -> Result<String, String> {
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
            base.join(url).map_err(|error| format!("server '{url}': {error}"))?
        }
        (Err(url::ParseError::RelativeUrlWithoutBase), _) => {
            return Err(format!("server '{url}' is relative, and the description has no URL"));
        }
        (Err(error), _) => return Err(format!("server '{url}': {error}")),
    };
    if matches!(parsed.scheme(), "http" | "https") && parsed.has_host() {
        return Ok(parsed);
    }
    Err(format!("server '{url}' is not one of http or https"))
}

fn swagger_base(document: &Document<'_>) -> Result<Url, String> {
    let text = |key| document.top(key).and_then(|it| it.as_str().map(str::to_owned));
    let own = match document.location {
        Location::Url(url) => Some(url),
        _ => None,
    };
    let schemes = document.top("schemes");
    let schemes: Vec<&str> =
        schemes.iter().filter_map(Value::as_array).flatten().filter_map(Value::as_str).collect();
    let scheme = match (schemes.contains(&"https"), schemes.contains(&"http"), own) {
        (true, ..) => "https",
        (_, true, _) => "http",
        (.., Some(url)) => url.scheme(),
        _ => "https",
    };
    let host = text("host").filter(|it| !it.is_empty());
    let Some(host) =
        host.or_else(|| own.map(|url| url[url::Position::BeforeHost..url::Position::AfterPort].into()))
    else {
        return Err("it names no host".into());
    };
    let path = text("basePath").unwrap_or_default();
    let slash = if path.starts_with('/') { "" } else { "/" };
    resolve(&format!("{scheme}://{host}{slash}{path}"), document.location)
}

/// Returns the security schemes by name.
pub(super) fn schemes(document: &Document<'_>, dialect: Dialect) -> IndexMap<String, Scheme> {
    let found: Vec<_> = match dialect {
        Dialect::Swagger2 => document.section("securityDefinitions").collect(),
        _ => document.subsection("components", "securitySchemes").collect(),
    };
    let read = |raw: &RawValue| crate::document::parse(raw.get()).ok();
    let scheme =
        |(name, raw): (&str, &RawValue)| Some((name.to_owned(), scheme(&read(raw)?, document.location)));
    found.into_iter().filter_map(scheme).collect()
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
