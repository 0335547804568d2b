//! A tool made from an HTTP request template.

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use onetool_config::{Redactor, Secret};
use onetool_core::{
    BoxFuture, CallContext, ContentBlock, JsonObject, ResourceContents, Tool, ToolError, ToolOutput,
    ToolSpec, error_chain, parse_bounded_json,
};
use reqwest::header::{CONTENT_TYPE, HeaderName, HeaderValue};
use reqwest::{Method, Response, Url};
use serde_json::Value;

use super::template::{Argument, Place, Template, TemplateError};
use crate::options::RequestOptions;

const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
const MAX_REDIRECTS: usize = 5;
const MAX_RESPONSE: usize = 10 * 1024 * 1024;
const MAX_ERROR_BODY: usize = 2000;

/// The HTTP client that these tools share. It is created for the first call, because reading certificates is slow.
#[derive(Clone, Default)]
pub(super) struct LazyClient(Arc<OnceLock<Result<reqwest::Client, String>>>);

impl LazyClient {
    fn get(&self) -> Result<&reqwest::Client, ToolError> {
        let client = self.0.get_or_init(|| {
            let client = reqwest::Client::builder()
                .user_agent(concat!("onetool/", env!("CARGO_PKG_VERSION")))
                .connect_timeout(CONNECT_TIMEOUT)
                .tcp_nodelay(true)
                .redirect(same_origin_redirects());
            client.build().map_err(|error| error.to_string())
        });
        client.as_ref().map_err(|reason| ToolError::failed(format!("cannot create an HTTP client: {reason}")))
    }
}

/// Follows redirects only within the origin that the operator configured, because headers may contain credentials.
fn same_origin_redirects() -> reqwest::redirect::Policy {
    reqwest::redirect::Policy::custom(|attempt| {
        let origin = |url: &Url| (url.scheme().to_owned(), url.host_str().map(str::to_owned), url.port());
        let first = attempt.previous().first().map(origin);
        if attempt.previous().len() > MAX_REDIRECTS || first.is_some_and(|it| it != origin(attempt.url())) {
            attempt.stop()
        } else {
            attempt.follow()
        }
    })
}

pub(super) struct HttpTool {
    spec: ToolSpec,
    method: Method,
    url: Template,
    query: Vec<(String, Template)>,
    headers: Vec<(HeaderName, Template)>,
    body: Body,
    timeout: Option<Duration>,
    client: LazyClient,
    redactor: Redactor,
}

enum Body {
    Empty,
    Text(Box<Template>),
    Json(JsonTemplate),
}

/// A JSON value whose strings are templates. One that is only `{{ name }}` keeps the argument's type.
enum JsonTemplate {
    Fixed(Value),
    Text(Box<Template>),
    Array(Vec<Self>),
    Object(Vec<(String, Self)>),
}

impl HttpTool {
    pub(super) fn new(
        spec: ToolSpec,
        config: &RequestOptions,
        timeout: Option<Duration>,
        client: LazyClient,
        redactor: Redactor,
    ) -> Result<Self, TemplateError> {
        let plain = |source: &str| Template::new(source, Place::Plain);
        let header = |(name, value): (&String, &Secret)| {
            let name = HeaderName::try_from(name.as_str())
                .map_err(|_| TemplateError::Invalid { reason: format!("invalid header name '{name}'") })?;
            Ok((name, plain(value.expose())?))
        };
        let method = Method::from_bytes(config.method.as_bytes()).map_err(|_| TemplateError::Invalid {
            reason: format!("invalid HTTP method '{}'", config.method),
        })?;
        let body = match (&config.json, &config.body) {
            (Some(json), _) => Body::Json(JsonTemplate::new(json)?),
            (None, Some(text)) => Body::Text(Box::new(plain(text)?)),
            (None, None) => Body::Empty,
        };
        let query = config.query.iter().map(|(name, value)| Ok((name.clone(), plain(value)?)));
        Ok(Self {
            method,
            url: Template::new(&config.url, Place::Url)?,
            query: query.collect::<Result<_, TemplateError>>()?,
            headers: config.headers.iter().map(header).collect::<Result<_, TemplateError>>()?,
            body,
            spec,
            timeout,
            client,
            redactor,
        })
    }

    fn request(&self, args: &JsonObject) -> Result<reqwest::RequestBuilder, ToolError> {
        let failed = |error: TemplateError| ToolError::failed(error.to_string());
        let url = self.url.render(args).map_err(failed)?;
        if has_dot_segments(&url) {
            return Err(ToolError::failed(
                "an argument is '.' or '..', which would change the path of the URL",
            ));
        }
        let mut url = Url::parse(&url).map_err(|error| ToolError::failed(format!("invalid URL: {error}")))?;
        for (name, template) in &self.query {
            if let Some(value) = template.render_if_given(args).map_err(failed)? {
                url.query_pairs_mut().append_pair(name, &value);
            }
        }
        let mut request = self.client.get()?.request(self.method.clone(), url);
        for (name, template) in &self.headers {
            if let Some(value) = template.render_if_given(args).map_err(failed)? {
                let value = HeaderValue::from_str(&value).map_err(|_| {
                    ToolError::failed(format!(
                        "the value of header '{name}' contains characters that are not allowed in a header"
                    ))
                })?;
                request = request.header(name, value);
            }
        }
        Ok(match &self.body {
            Body::Empty => request,
            Body::Text(template) => request.body(template.render(args).map_err(failed)?),
            Body::Json(template) => request.json(&template.render(args).map_err(failed)?),
        })
    }

    async fn send(&self, args: &JsonObject) -> Result<ToolOutput, ToolError> {
        let mut request = self.request(args)?;
        if let Some(timeout) = self.timeout {
            request = request.timeout(timeout);
        }
        let unreachable = |error: reqwest::Error| ToolError::failed(error_chain(&error.without_url()));
        let response = request.send().await.map_err(unreachable)?;
        let status = response.status();
        let mime_type = mime_type(&response);
        let bytes = read_limited(response).await?;
        if status.is_success() {
            return Ok(output(&bytes, &mime_type));
        }
        let body: String = String::from_utf8_lossy(&bytes).chars().take(MAX_ERROR_BODY).collect();
        Ok(ToolOutput::error(format!("HTTP {status}: {}", body.trim())))
    }

    fn scrubbed(&self, error: ToolError) -> ToolError {
        match error {
            ToolError::Failed { message, .. } => ToolError::failed(self.redactor.scrub(&message)),
            other => other,
        }
    }
}

/// Returns whether the path has a `.` or `..` segment, which a URL parser would resolve.
fn has_dot_segments(url: &str) -> bool {
    let path = url.split(['?', '#']).next().unwrap_or(url);
    let mut segments = path.split(['/', '\\']).map(|it| it.to_ascii_lowercase().replace("%2e", "."));
    segments.any(|it| it == "." || it == "..")
}

fn mime_type(response: &Response) -> String {
    let header = response.headers().get(CONTENT_TYPE).and_then(|it| it.to_str().ok()).unwrap_or("");
    header.split(';').next().unwrap_or("").trim().to_ascii_lowercase()
}

async fn read_limited(mut response: Response) -> Result<Vec<u8>, ToolError> {
    let mut bytes = Vec::new();
    while let Some(piece) =
        response.chunk().await.map_err(|error| ToolError::failed(error_chain(&error.without_url())))?
    {
        if bytes.len() + piece.len() > MAX_RESPONSE {
            return Err(ToolError::failed(format!("the response is larger than {MAX_RESPONSE} bytes")));
        }
        bytes.extend_from_slice(&piece);
    }
    Ok(bytes)
}

fn output(bytes: &[u8], mime_type: &str) -> ToolOutput {
    let is_json = mime_type == "application/json" || mime_type.ends_with("+json");
    if is_json && let Some(value) = parse_bounded_json(bytes) {
        return ToolOutput::structured(value);
    }
    match (std::str::from_utf8(bytes), mime_type) {
        (Ok(text), _) if !mime_type.starts_with("image/") || mime_type == "image/svg+xml" => {
            ToolOutput::text(text)
        }
        (_, mime_type) if mime_type.starts_with("image/") => ContentBlock::image(bytes, mime_type).into(),
        (_, mime_type) if mime_type.starts_with("audio/") => ContentBlock::audio(bytes, mime_type).into(),
        (_, mime_type) => {
            let mime_type = if mime_type.is_empty() { "application/octet-stream" } else { mime_type };
            ContentBlock::resource(ResourceContents::blob(bytes, mime_type).with_uri("onetool://answer"))
                .into()
        }
    }
}

impl JsonTemplate {
    fn new(value: &Value) -> Result<Self, TemplateError> {
        Ok(match value {
            Value::String(source) => Self::Text(Box::new(Template::new(source, Place::Plain)?)),
            Value::Array(items) => Self::Array(items.iter().map(Self::new).collect::<Result<_, _>>()?),
            Value::Object(entries) => {
                let entry = |(key, value): (&String, &Value)| Ok((key.clone(), Self::new(value)?));
                Self::Object(entries.iter().map(entry).collect::<Result<_, TemplateError>>()?)
            }
            other => Self::Fixed(other.clone()),
        })
    }

    fn render(&self, args: &JsonObject) -> Result<Value, TemplateError> {
        Ok(match self {
            Self::Fixed(value) => value.clone(),
            Self::Text(template) => match template.bare_value(args) {
                Some(Argument::Given(value)) => value.clone(),
                Some(Argument::Missing) => Value::Null,
                None => template.render(args)?.into(),
            },
            Self::Array(items) => items.iter().map(|it| it.render(args)).collect::<Result<_, _>>()?,
            Self::Object(entries) => {
                let given = entries.iter().filter(|(_, value)| !value.is_omitted(args));
                let entry = |(key, value): &(String, Self)| Ok((key.clone(), value.render(args)?));
                Value::Object(given.map(entry).collect::<Result<_, TemplateError>>()?)
            }
        })
    }

    fn is_omitted(&self, args: &JsonObject) -> bool {
        matches!(self, Self::Text(template) if template.bare_value(args) == Some(Argument::Missing))
    }
}

impl Tool for HttpTool {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn call<'a>(
        &'a self,
        args: JsonObject,
        _: &'a CallContext,
    ) -> BoxFuture<'a, Result<ToolOutput, ToolError>> {
        Box::pin(async move {
            let mut output = self.send(&args).await.map_err(|error| self.scrubbed(error))?;
            if output.is_error {
                for block in &mut output.content {
                    if let ContentBlock::Text { text, .. } = block {
                        *text = self.redactor.scrub(text).into_owned();
                    }
                }
            }
            Ok(output)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::has_dot_segments;

    #[test]
    fn segments_that_a_url_parser_would_resolve_are_found() {
        for url in [
            "http://h/a/..",
            "http://h/a/../b",
            "http://h/%2E%2e/b",
            "http://h/.%2e",
            "http://h/./b",
            "http://h\\..\\b",
        ] {
            assert!(has_dot_segments(url), "{url}");
        }
        for url in
            ["http://h/a...b", "http://h/..a/b", "http://h/?x=../..", "http://h/a%2F..%2Fb", "http://h/"]
        {
            assert!(!has_dot_segments(url), "{url}");
        }
    }
}
