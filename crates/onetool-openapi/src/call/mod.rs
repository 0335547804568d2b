//! Tools that call the operations of an API.

mod auth;
mod body;
mod output;
mod request;
mod response_body;
mod style;

use std::sync::Arc;

use indexmap::IndexMap;
use onetool_core::{BoxFuture, CallContext, JsonObject, Tool, ToolError, ToolOutput, ToolSpec};
use reqwest::header::{ACCEPT, CONTENT_TYPE, HeaderMap, LOCATION};
use reqwest::{Method, Response, StatusCode};
use serde_json::Value;
use tracing::Instrument as _;
use url::Url;

use crate::options::Auth;
use crate::plan::model::{CallPlan, Scheme, SecurityRequirement};
use crate::store::{Span, Store};
use crate::transport::{LazyClient, MAX_REDIRECTS, request_error};
use auth::Authenticator;
pub(crate) use auth::TokenUrl;
use output::ApiResponse;
use request::Request;
use response_body::ResponseBody;

/// State shared by the tools of an API.
pub(crate) struct ApiContext {
    pub(crate) store: Store,
    pub(crate) base: BaseUrl,
    headers: HeaderMap,
    client: LazyClient,
    max_response_bytes: usize,
    authenticator: Authenticator,
}

/// The URL for operations without their own server, and the origin that credentials are sent to.
pub(crate) struct BaseUrl {
    pub(crate) url: Option<Url>,
    /// The path of the description's first server, if the operator replaced every server with `url`.
    pub(crate) replaced_path: Option<String>,
    /// The only origin that credentials are sent to.
    pub(crate) trusted: Option<url::Origin>,
}

impl BaseUrl {
    /// Returns the server of an operation, given its own server if it has one.
    pub(crate) fn server(&self, own: Option<&str>) -> Option<Url> {
        let (base, own) = match (&self.url, own) {
            (Some(base), Some(own)) => (base, own),
            (base, None) => return base.clone(),
            (None, Some(own)) => return Url::parse(own).ok(),
        };
        let resolved = base.join(own).ok()?;
        let Some(replaced_path) = &self.replaced_path else { return Some(resolved) };
        // Keep the part of the path that extends the path of the first server.
        let path = resolved.path();
        let extension = path.strip_prefix(replaced_path.trim_end_matches('/')).unwrap_or(path);
        let extension = if extension.is_empty() || extension.starts_with('/') { extension } else { path };
        let mut url = base.clone();
        url.set_path(&format!("{}{extension}", base.path().trim_end_matches('/')));
        Some(url)
    }

    /// Returns whether credentials and configured headers may be sent to a server.
    pub(crate) fn trusts(&self, server: &Url) -> bool {
        self.trusted.as_ref() == Some(&server.origin())
    }
}

impl ApiContext {
    pub(crate) fn new(
        store: Store,
        base: BaseUrl,
        headers: HeaderMap,
        client: LazyClient,
        max_response_bytes: usize,
        auth: Auth,
        schemes: IndexMap<String, Scheme>,
    ) -> Self {
        let secrets: Vec<String> =
            headers.values().filter_map(|it| it.to_str().ok()).map(str::to_owned).collect();
        let authenticator = Authenticator::new(auth, schemes, &secrets);
        Self { store, base, headers, client, max_response_bytes, authenticator }
    }

    pub(crate) fn token_urls(&self) -> Vec<TokenUrl> {
        self.authenticator.token_urls()
    }
}

/// A tool that calls one operation.
pub(crate) struct OperationTool {
    pub(crate) spec: ToolSpec,
    /// The [`CallPlan`] in the store.
    pub(crate) call: Span,
    pub(crate) context: Arc<ApiContext>,
}

impl Tool for OperationTool {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn call<'a>(
        &'a self,
        args: JsonObject,
        cx: &'a CallContext,
    ) -> BoxFuture<'a, Result<ToolOutput, ToolError>> {
        let span =
            tracing::debug_span!("openapi.request", tool = %self.spec.name, status = tracing::field::Empty);
        Box::pin(
            async move { self.send(args, cx).await.map_err(|error| self.redact(error)) }.instrument(span),
        )
    }
}

impl OperationTool {
    async fn send(&self, args: JsonObject, cx: &CallContext) -> Result<ToolOutput, ToolError> {
        let context = &self.context;
        let plan: CallPlan = serde_json::from_str(context.store.get(self.call))
            .map_err(|error| ToolError::failed(format!("the plan of this operation is corrupt: {error}")))?;
        let Some(server) = &context.base.server(plan.server.as_deref()) else {
            let pack = self.spec.name.pack().unwrap_or_default();
            let text = format!("the description has no usable server URL; set openapi.{pack}.base_url");
            return Err(ToolError::failed(text));
        };
        let is_trusted = context.base.trusts(server);
        let no_headers = HeaderMap::new();
        let headers = if is_trusted { &context.headers } else { &no_headers };
        let request = Request::new(&plan, server, headers, args)?;
        let response = if is_trusted {
            self.send_with_credentials(request, plan.security.as_deref()).await?
        } else {
            self.send_request(request).await?
        };
        let status = response.status();
        tracing::Span::current().record("status", status.as_u16());
        let content_type = response.headers().get(CONTENT_TYPE).and_then(|it| it.to_str().ok());
        let content_type = content_type.unwrap_or_default().to_owned();
        let redact = |text: &str| context.authenticator.redact(text);
        let headers = cx.wants_full_response().then(|| output::headers(response.headers(), redact));
        let body = response_body::read(response, &content_type, context.max_response_bytes, cx).await?;
        Ok(match (body, headers) {
            (ResponseBody::Stored(summary), None) => self.stored_output(summary, cx),
            (ResponseBody::Stored(summary), Some(headers)) => output::full(status, headers, summary),
            (ResponseBody::InMemory(bytes), headers) => {
                let response = ApiResponse { status, content_type, bytes };
                match headers {
                    None => response.into_output(redact),
                    Some(headers) => response.into_full_output(headers, redact),
                }
            }
        })
    }

    /// Sends a request with credentials; retries once if they are rejected and can be renewed.
    async fn send_with_credentials(
        &self,
        request: Request,
        security: Option<&[SecurityRequirement]>,
    ) -> Result<Response, ToolError> {
        let ApiContext { authenticator, client, .. } = &*self.context;
        let mut first = request.clone();
        let is_renewable = authenticator.apply(&mut first, security, client).await?;
        let response = self.send_request(first).await?;
        if response.status() != StatusCode::UNAUTHORIZED || !is_renewable {
            return Ok(response);
        }
        authenticator.forget_tokens().await;
        let mut second = request;
        authenticator.apply(&mut second, security, client).await?;
        self.send_request(second).await
    }

    /// Returns the output for a response that went to the result store.
    fn stored_output(&self, summary: Value, cx: &CallContext) -> ToolOutput {
        // A client would reject the summary, which does not match the output schema. Code in `run` accepts it.
        if self.spec.output_schema.is_some() && cx.run().is_none() {
            return ToolOutput::error(format!("the response is too large to show and was stored: {summary}"));
        }
        ToolOutput::structured(summary)
    }

    /// Sends a request and follows redirects. Credentials and configured headers never leave the first origin.
    async fn send_request(&self, mut request: Request) -> Result<Response, ToolError> {
        let client = self.context.client.get().map_err(ToolError::failed)?;
        let first_origin = request.url.origin();
        for _ in 0..=MAX_REDIRECTS {
            let checked = self.context.client.guard().check(&request.url).await;
            checked.map_err(|error| ToolError::failed(error.to_string()))?;
            let response = client.execute(request.to_http()?).await;
            let response = response.map_err(|error| ToolError::failed(request_error(&error)))?;
            let Some(target) = redirect_target(&response, &request.url)? else { return Ok(response) };
            if target.origin() != first_origin {
                let kept = [ACCEPT, CONTENT_TYPE].into_iter();
                let kept = kept.filter_map(|name| Some((name.clone(), request.headers.get(name)?.clone())));
                request.headers = kept.collect();
                request.cookies.clear();
            }
            let status = response.status();
            let becomes_get = status == StatusCode::SEE_OTHER
                || (matches!(status.as_u16(), 301 | 302) && request.method == Method::POST);
            if becomes_get && request.method != Method::HEAD {
                request.method = Method::GET;
                request.body = None;
                request.headers.remove(CONTENT_TYPE);
            }
            request.url = target;
        }
        Err(ToolError::failed(format!("too many redirects (limit {MAX_REDIRECTS})")))
    }

    fn redact(&self, error: ToolError) -> ToolError {
        match error {
            ToolError::Failed { message, .. } => {
                ToolError::failed(self.context.authenticator.redact(&message))
            }
            other => other,
        }
    }
}

/// Returns the target of a redirect; `None` if the response is not a redirect.
fn redirect_target(response: &Response, from: &Url) -> Result<Option<Url>, ToolError> {
    if !matches!(response.status().as_u16(), 301 | 302 | 303 | 307 | 308) {
        return Ok(None);
    }
    let Some(location) = response.headers().get(LOCATION).and_then(|it| it.to_str().ok()) else {
        return Ok(None);
    };
    let target =
        from.join(location).map_err(|_| ToolError::failed("the API redirected to an invalid URL"))?;
    if from.scheme() == "https" && target.scheme() != "https" {
        return Err(ToolError::failed("the API redirected from https to an insecure URL"));
    }
    Ok(Some(target))
}
