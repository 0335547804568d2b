//! Builds requests from arguments and the plan of an operation.

use onetool_core::{JsonObject, ToolError};
use reqwest::Method;
use reqwest::header::{ACCEPT, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use url::Url;

use super::body;
use super::style::{Escape, encode_pairs, encode_value};
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
    /// Builds the request of an operation at a server, with the operator's headers.
    pub(super) fn new(
        plan: &CallPlan,
        server: &Url,
        configured_headers: &HeaderMap,
        mut args: JsonObject,
    ) -> Result<Self, ToolError> {
        let method = Method::from_bytes(plan.method.as_bytes())
            .map_err(|_| ToolError::failed(format!("invalid HTTP method '{}'", plan.method)))?;
        let mut headers = HeaderMap::new();
        headers.insert(ACCEPT, header_value("Accept", &plan.accept)?);
        let mut path = plan.path.clone();
        let (mut query, mut cookies) = (Vec::new(), Vec::new());
        for argument in &plan.arguments {
            let (name, encoding) = (argument.wire_name.as_str(), argument.encoding);
            let value = args.shift_remove(&argument.name).filter(|it| !it.is_null());
            let Some(value) = value else {
                if argument.place == Place::Path {
                    let reason = format!("missing required argument '{}'", argument.name);
                    return Err(ToolError::Arguments { reason });
                }
                continue;
            };
            match argument.place {
                Place::Path => {
                    let escape = Escape::Url { allow_reserved: encoding.reserved };
                    let text = encode_value(name, &value, encoding, escape);
                    if text.is_empty() {
                        let reason = format!("'{}' must not be empty: it is part of the path", argument.name);
                        return Err(ToolError::Arguments { reason });
                    }
                    // Escaping removes braces, so a value cannot contain another variable.
                    path = path.replace(&format!("{{{name}}}"), &text);
                }
                Place::Query => {
                    let escape = Escape::Url { allow_reserved: encoding.reserved };
                    encode_pairs(&mut query, name, &value, encoding, escape);
                }
                Place::Header => {
                    let text = encode_value(name, &value, encoding, Escape::None);
                    let name = HeaderName::try_from(name)
                        .map_err(|_| ToolError::failed(format!("invalid header name '{name}'")))?;
                    headers.insert(name, header_value(&argument.name, &text)?);
                }
                Place::Cookie => encode_pairs(&mut cookies, name, &value, encoding, Escape::URL),
            }
        }
        for (name, value) in configured_headers {
            headers.insert(name, value.clone());
        }
        let mut body = None;
        if let Some(plan) = &plan.body
            && let Some((content_type, bytes)) = body::encode(plan, args)?
        {
            headers.insert(CONTENT_TYPE, header_value("Content-Type", &content_type)?);
            body = Some(bytes);
        }
        Ok(Self { method, url: url(server, &path, &query)?, headers, cookies, body })
    }

    /// Appends a pair to the query.
    pub(super) fn add_query(&mut self, name: &str, value: &str) {
        let pair = format!("{}={}", Escape::URL.text(name), Escape::URL.text(value));
        let query =
            self.url.query().filter(|it| !it.is_empty()).map_or(pair.clone(), |it| format!("{it}&{pair}"));
        self.url.set_query(Some(&query));
    }

    /// Converts the request for the HTTP client.
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

fn url(server: &Url, path: &str, query: &[(String, String)]) -> Result<Url, ToolError> {
    if has_dot_segments(path) {
        let reason = "a path argument must not be '.' or '..'".to_owned();
        return Err(ToolError::Arguments { reason });
    }
    let mut url = server.clone();
    // Some descriptions distinguish operations by a query or a fragment in the path.
    let (path, path_query) = match path.split_once(['?', '#']) {
        Some((before, after)) if path[before.len()..].starts_with('?') => (before, Some(after)),
        Some((before, _)) => (before, None),
        None => (path, None),
    };
    url.set_path(&format!("{}{path}", server.path().trim_end_matches('/')));
    let fixed = server.query().into_iter().chain(path_query).filter(|it| !it.is_empty()).map(str::to_owned);
    let pairs = query.iter().map(|(name, value)| format!("{name}={value}"));
    let query: Vec<String> = fixed.chain(pairs).collect();
    url.set_query(if query.is_empty() { None } else { Some(query.join("&")) }.as_deref());
    Ok(url)
}

/// Returns whether a path has a `.` or `..` segment, which a URL parser would resolve to another path.
fn has_dot_segments(path: &str) -> bool {
    let path = path.split(['?', '#']).next().unwrap_or(path);
    let mut segments = path.split(['/', '\\']).map(|it| it.to_ascii_lowercase().replace("%2e", "."));
    segments.any(|it| it == "." || it == "..")
}

/// Rejects values that would end the header and start another one. The error omits the value: it may be a secret.
fn header_value(name: &str, value: &str) -> Result<HeaderValue, ToolError> {
    HeaderValue::from_bytes(value.as_bytes()).map_err(|_| ToolError::Arguments {
        reason: format!("'{name}' contains line breaks or control characters, which headers cannot contain"),
    })
}
