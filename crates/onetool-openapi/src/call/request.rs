//! From arguments to a request, by the plan of the operation.

use onetool_core::{JsonObject, ToolError};
use reqwest::Method;
use reqwest::header::{ACCEPT, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use serde_json::Value;
use url::Url;

use super::body;
use super::style::{self, Escape};
use crate::plan::model::{CallPlan, Place};

/// A request that can be sent more than once.
#[derive(Debug, Clone)]
pub(super) struct Request {
    pub(super) method: Method,
    pub(super) url: Url,
    pub(super) headers: HeaderMap,
    pub(super) cookies: Vec<(String, String)>,
    pub(super) body: Option<Vec<u8>>,
}

impl Request {
    /// Fills the arguments into the plan.
    pub(super) fn new(
        plan: &CallPlan,
        base: &Url,
        fixed: &HeaderMap,
        mut args: JsonObject,
    ) -> Result<Self, ToolError> {
        let method = Method::from_bytes(plan.method.as_bytes())
            .map_err(|_| ToolError::failed(format!("'{}' is no HTTP method", plan.method)))?;
        let mut headers = HeaderMap::new();
        headers.insert(ACCEPT, header_value("Accept", &plan.accept)?);
        let mut path = plan.path.clone();
        let (mut query, mut cookies) = (Vec::new(), Vec::new());
        for argument in &plan.arguments {
            let (name, encoding) = (argument.wire.as_str(), argument.encoding);
            let value = args.shift_remove(&argument.name).filter(|it| !it.is_null());
            let Some(value) = value else {
                if argument.place == Place::Path {
                    return Err(ToolError::Arguments { reason: format!("'{}' is missing", argument.name) });
                }
                continue;
            };
            match argument.place {
                Place::Path => {
                    let text = style::single(name, &value, encoding, Escape::Url(encoding.reserved));
                    if text.is_empty() {
                        let reason = format!("'{}' is empty, which would make another path", argument.name);
                        return Err(ToolError::Arguments { reason });
                    }
                    // Values have no braces left, so that none is taken for another variable.
                    path = path.replace(&format!("{{{name}}}"), &text);
                }
                Place::Query => {
                    style::named(&mut query, name, &value, encoding, Escape::Url(encoding.reserved));
                }
                Place::Header => {
                    let text = style::single(name, &value, encoding, Escape::Nothing);
                    let name = HeaderName::try_from(name)
                        .map_err(|_| ToolError::failed(format!("'{name}' is no header name")))?;
                    headers.insert(name, header_value(&argument.name, &text)?);
                }
                Place::Cookie => style::named(&mut cookies, name, &value, encoding, Escape::Url(false)),
            }
        }
        for (name, value) in fixed {
            headers.insert(name, value.clone());
        }
        let mut sent = None;
        if let Some(body) = &plan.body
            && let Some((content_type, bytes)) = body::encoded(body, args)?
        {
            headers.insert(CONTENT_TYPE, header_value("Content-Type", &content_type)?);
            sent = Some(bytes);
        }
        Ok(Self { method, url: url(base, &path, &query)?, headers, cookies, body: sent })
    }

    /// Adds a pair to the query.
    pub(super) fn add_query(&mut self, name: &str, value: &str) {
        let escape = Escape::Url(false);
        let pair = format!("{}={}", escape.text(name), escape.text(value));
        let query =
            self.url.query().filter(|it| !it.is_empty()).map_or(pair.clone(), |it| format!("{it}&{pair}"));
        self.url.set_query(Some(&query));
    }

    /// Makes the SDK's request.
    pub(super) fn to_http(&self) -> Result<reqwest::Request, ToolError> {
        let mut request = reqwest::Request::new(self.method.clone(), self.url.clone());
        *request.headers_mut() = self.headers.clone();
        if !self.cookies.is_empty() {
            let cookies: Vec<String> =
                self.cookies.iter().map(|(name, value)| format!("{name}={value}")).collect();
            let mut cookies = header_value("Cookie", &cookies.join("; "))?;
            cookies.set_sensitive(true);
            request.headers_mut().insert(reqwest::header::COOKIE, cookies);
        }
        *request.body_mut() = self.body.clone().map(Into::into);
        Ok(request)
    }
}

fn url(base: &Url, path: &str, query: &[(String, String)]) -> Result<Url, ToolError> {
    if climbs(path) {
        let reason = "a path argument is '.' or '..', which would make another path".to_owned();
        return Err(ToolError::Arguments { reason });
    }
    let mut url = base.clone();
    // Some descriptions tell operations apart by a query or a fragment in the path.
    let (path, fragmentless_query) = match path.split_once(['?', '#']) {
        Some((before, after)) if path[before.len()..].starts_with('?') => (before, Some(after)),
        Some((before, _)) => (before, None),
        None => (path, None),
    };
    let joined = format!("{}{path}", base.path().trim_end_matches('/'));
    url.set_path(&joined);
    let pairs = query.iter().map(|(name, value)| format!("{name}={value}"));
    let own =
        base.query().into_iter().chain(fragmentless_query).filter(|it| !it.is_empty()).map(str::to_owned);
    let query: Vec<String> = own.chain(pairs).collect();
    url.set_query(if query.is_empty() { None } else { Some(query.join("&")) }.as_deref());
    Ok(url)
}

/// Tells whether a path segment stands for the same or the upper folder, which a URL parser would carry out.
fn climbs(path: &str) -> bool {
    let path = path.split(['?', '#']).next().unwrap_or(path);
    let mut segments = path.split(['/', '\\']).map(|it| it.to_ascii_lowercase().replace("%2e", "."));
    segments.any(|it| it == "." || it == "..")
}

/// Refuses what would end the header and begin another one. The value is not shown: it may be a secret.
fn header_value(name: &str, value: &str) -> Result<HeaderValue, ToolError> {
    HeaderValue::from_bytes(value.as_bytes()).map_err(|_| ToolError::Arguments {
        reason: format!("'{name}' has line breaks or control characters, which no header may have"),
    })
}

/// Tells whether a value is there and not null.
pub(super) fn is_given(value: Option<&Value>) -> bool {
    value.is_some_and(|it| !it.is_null())
}
