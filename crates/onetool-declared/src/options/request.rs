//! An HTTP request with templates in it.

use std::fmt;

use http::HeaderName;
use indexmap::IndexMap;
use onetool_config::{ConfigError, Secret, Section, TemplateNames, is_template};
use onetool_core::similar_names;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

const METHODS: [&str; 7] = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"];

/// An HTTP request. Its values may contain `{{ parameter }}`.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct RequestFile {
    /// GET, HEAD, POST, PUT, PATCH, DELETE or OPTIONS; required with a body. Default: `GET`.
    method: Option<String>,
    /// `http://` or `https://` URL; may contain `{{ parameter }}` after the host.
    url: String,
    /// Query parameters to add; values may contain `{{ parameter }}`.
    #[serde(default)]
    query: IndexMap<String, String>,
    /// Headers to send; values may contain `{{ parameter }}`.
    #[serde(default)]
    headers: IndexMap<String, Secret>,
    /// JSON body; strings in it may contain `{{ parameter }}`.
    json: Option<Value>,
    /// Text body, instead of `json`; may contain `{{ parameter }}`.
    body: Option<String>,
}

/// An HTTP request with templates in it.
#[derive(Clone, PartialEq)]
#[non_exhaustive]
pub struct RequestOptions {
    /// The method, in upper case.
    pub method: String,
    /// The URL, a template after its host.
    pub url: String,
    /// Query parameters; the values are templates.
    pub query: IndexMap<String, String>,
    /// Headers; the values are templates.
    pub headers: IndexMap<String, Secret>,
    /// A JSON body; its strings are templates.
    pub json: Option<Value>,
    /// A text body, a template.
    pub body: Option<String>,
}

/// Shows only the method, because every other part may contain a secret.
impl fmt::Debug for RequestOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RequestOptions").field("method", &self.method).finish_non_exhaustive()
    }
}

impl RequestOptions {
    pub(super) fn read(
        file: RequestFile,
        names: &TemplateNames,
        section: &Section<'_>,
    ) -> Result<Self, ConfigError> {
        check_url(&file.url, &section.field("url"))?;
        names.check(&file.url, &section.field("url"))?;
        if file.json.is_some() && file.body.is_some() {
            return Err(section.invalid("use either 'json' or 'body', not both"));
        }
        if file.method.is_none() && (file.json.is_some() || file.body.is_some()) {
            return Err(section.invalid("a request with a body requires a 'method', for example POST"));
        }
        let method = method(file.method, &section.field("method"))?;
        for (key, value) in &file.query {
            names.check(value, &section.field("query").field(key))?;
        }
        for (key, value) in &file.headers {
            let section = section.field("headers").field(key);
            names.check(value.expose(), &section)?;
            if HeaderName::from_bytes(key.as_bytes()).is_err() {
                return Err(section.invalid("invalid header name"));
            }
        }
        if let Some(json) = &file.json {
            names.check_json(json, &section.field("json"))?;
        }
        if let Some(body) = &file.body {
            names.check(body, &section.field("body"))?;
        }
        let RequestFile { url, query, headers, json, body, .. } = file;
        Ok(Self { method, url, query, headers, json, body })
    }
}

fn method(method: Option<String>, section: &Section<'_>) -> Result<String, ConfigError> {
    let method = method.map_or_else(|| "GET".to_owned(), |it| it.to_ascii_uppercase());
    if METHODS.contains(&method.as_str()) {
        return Ok(method);
    }
    let similar = similar_names(&method, METHODS);
    let suggestion = similar.first().map_or_else(String::new, |it| format!(", did you mean {it}?"));
    Err(section.invalid(format!("unknown method{suggestion}")))
}

/// Rejects a URL whose scheme or host a caller could choose, because the request could go anywhere.
fn check_url(url: &str, section: &Section<'_>) -> Result<(), ConfigError> {
    let rest = url.strip_prefix("https://").or_else(|| url.strip_prefix("http://"));
    let Some(rest) = rest else {
        return Err(section.invalid("must begin with http:// or https://"));
    };
    let end = rest.find(['/', '?', '#', '\\']).unwrap_or(rest.len());
    if is_template(&rest[..end]) {
        return Err(section.invalid("the host must not contain {{ }}"));
    }
    // A template is not a valid URL, so only the part before the path is checked.
    match url::Url::parse(&url[..url.len() - rest.len() + end]) {
        Ok(_) => Ok(()),
        Err(error) => Err(section.invalid(format!("invalid URL: {error}"))),
    }
}
