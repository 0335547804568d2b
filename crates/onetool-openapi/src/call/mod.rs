//! A tool that calls one operation.

mod answer;
mod auth;
mod body;
mod large;
mod request;
mod style;

use std::sync::Arc;

use indexmap::IndexMap;
use onetool_core::{BoxFuture, CallContext, JsonObject, Tool, ToolError, ToolOutput, ToolSpec};
use reqwest::header::{ACCEPT, CONTENT_TYPE, HeaderMap, LOCATION};
use reqwest::{Method, Response, StatusCode};
use serde_json::Value;
use tracing::Instrument as _;
use url::Url;

use crate::Auth;
use crate::plan::model::{Alternative, CallPlan, Scheme};
use crate::store::{Span, Store};
use crate::transport::{LazyClient, MAX_REDIRECTS, causes};
use answer::Answer;
use auth::Authenticator;
pub(crate) use auth::TokenUrl;
use large::Body;
use request::Request;

/// What all operations of an API share.
pub(crate) struct Shared {
    pub(crate) store: Store,
    pub(crate) base: Base,
    pub(crate) headers: HeaderMap,
    pub(crate) client: LazyClient,
    pub(crate) answer_bytes: usize,
    authenticator: Authenticator,
}

/// Where operations are that do not say otherwise, and where credentials may go.
pub(crate) struct Base {
    pub(crate) url: Option<Url>,
    /// The path of the server that the description names, if the operator put `url` in the place of every server.
    pub(crate) replaces: Option<String>,
    /// The one origin that the operator pointed credentials to.
    pub(crate) trusted: Option<url::Origin>,
}

impl Base {
    /// Returns where an operation is, given the server of its own.
    pub(crate) fn server(&self, own: Option<&str>) -> Option<Url> {
        let (base, own) = match (&self.url, own) {
            (Some(base), Some(own)) => (base, own),
            (base, None) => return base.clone(),
            (None, Some(own)) => return Url::parse(own).ok(),
        };
        let resolved = base.join(own).ok()?;
        let Some(replaced) = &self.replaces else { return Some(resolved) };
        // What its path adds to that of the server that all operations have is its own, the rest is not.
        let path = resolved.path();
        let added = path.strip_prefix(replaced.trim_end_matches('/')).unwrap_or(path);
        let added = if added.is_empty() || added.starts_with('/') { added } else { path };
        let mut url = base.clone();
        url.set_path(&format!("{}{added}", base.path().trim_end_matches('/')));
        Some(url)
    }

    /// Returns whether credentials and configured headers may go to a server.
    pub(crate) fn trusts(&self, server: &Url) -> bool {
        self.trusted.as_ref() == Some(&server.origin())
    }
}

impl Shared {
    pub(crate) fn new(
        store: Store,
        base: Base,
        headers: HeaderMap,
        client: LazyClient,
        answer_bytes: usize,
        auth: Auth,
        schemes: IndexMap<String, Scheme>,
    ) -> Self {
        let secrets: Vec<String> =
            headers.values().filter_map(|it| it.to_str().ok()).map(str::to_owned).collect();
        let authenticator = Authenticator::new(auth, schemes, &secrets);
        Self { store, base, headers, client, answer_bytes, authenticator }
    }

    pub(crate) fn token_urls(&self) -> Vec<TokenUrl> {
        self.authenticator.token_urls()
    }
}

/// One operation as a tool.
pub(crate) struct OperationTool {
    pub(crate) spec: ToolSpec,
    pub(crate) call: Span,
    pub(crate) shared: Arc<Shared>,
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
            async move { self.send(args, cx).await.map_err(|error| self.scrubbed(error)) }.instrument(span),
        )
    }
}

impl OperationTool {
    async fn send(&self, args: JsonObject, cx: &CallContext) -> Result<ToolOutput, ToolError> {
        let shared = &self.shared;
        let plan: CallPlan = serde_json::from_str(shared.store.get(self.call))
            .map_err(|error| ToolError::failed(format!("the plan of this operation is damaged: {error}")))?;
        let Some(base) = &shared.base.server(plan.server.as_deref()) else {
            let pack = self.spec.name.pack().unwrap_or_default();
            let text = format!("the description has no usable server URL; set openapi.{pack}.base_url");
            return Err(ToolError::failed(text));
        };
        let is_trusted = shared.base.trusts(base);
        let none = HeaderMap::new();
        let draft = Request::new(&plan, base, if is_trusted { &shared.headers } else { &none }, args)?;
        let response = if is_trusted {
            self.authorized(draft, plan.security.as_deref()).await?
        } else {
            self.exchange(draft).await?
        };
        let status = response.status();
        tracing::Span::current().record("status", status.as_u16());
        let content_type = response.headers().get(CONTENT_TYPE).and_then(|it| it.to_str().ok());
        let content_type = content_type.unwrap_or_default().to_owned();
        match large::read(response, &content_type, shared.answer_bytes, cx).await? {
            Body::Stored(in_its_place) => Ok(self.stored(in_its_place, cx)),
            Body::Held(bytes) => {
                Ok(Answer { status, content_type, bytes }.output(|text| shared.authenticator.scrub(text)))
            }
        }
    }

    /// Sends a request with credentials; once more if they were refused and others can be had.
    async fn authorized(
        &self,
        draft: Request,
        security: Option<&[Alternative]>,
    ) -> Result<Response, ToolError> {
        let Shared { authenticator, client, .. } = &*self.shared;
        let mut request = draft.clone();
        let is_renewable = authenticator.apply(&mut request, security, client).await?;
        let response = self.exchange(request).await?;
        if response.status() != StatusCode::UNAUTHORIZED || !is_renewable {
            return Ok(response);
        }
        authenticator.renew().await;
        let mut request = draft;
        authenticator.apply(&mut request, security, client).await?;
        self.exchange(request).await
    }

    /// Makes the output that stands for an answer in the store.
    fn stored(&self, in_its_place: Value, cx: &CallContext) -> ToolOutput {
        // A client checks data against the schema that was promised to it, and would refuse this; code takes it.
        if self.spec.output_schema.is_some() && cx.run().is_none() {
            return ToolOutput::error(format!(
                "the answer is too large to be shown and is stored: {in_its_place}"
            ));
        }
        ToolOutput::structured(in_its_place)
    }

    /// Sends a request and follows redirects; credentials and headers of ours never leave the first origin.
    async fn exchange(&self, mut request: Request) -> Result<Response, ToolError> {
        let client = self.shared.client.get().map_err(ToolError::failed)?;
        let first = request.url.origin();
        for _ in 0..=MAX_REDIRECTS {
            let checked = self.shared.client.guard().check(&request.url).await;
            checked.map_err(|refused| ToolError::failed(refused.to_string()))?;
            let response = client.execute(request.to_http()?).await.map_err(|error| unreachable(&error))?;
            let Some(next) = redirect(&response, &request.url)? else { return Ok(response) };
            if next.origin() != first {
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
            request.url = next;
        }
        Err(ToolError::failed(format!("the API redirects more than {MAX_REDIRECTS} times")))
    }

    fn scrubbed(&self, error: ToolError) -> ToolError {
        match error {
            ToolError::Failed { message, .. } => ToolError::failed(self.shared.authenticator.scrub(&message)),
            other => other,
        }
    }
}

/// Returns where a response sends us, if it does.
fn redirect(response: &Response, from: &Url) -> Result<Option<Url>, ToolError> {
    if !matches!(response.status().as_u16(), 301 | 302 | 303 | 307 | 308) {
        return Ok(None);
    }
    let Some(location) = response.headers().get(LOCATION).and_then(|it| it.to_str().ok()) else {
        return Ok(None);
    };
    let next = from.join(location).map_err(|_| ToolError::failed("the API redirects to what is no URL"))?;
    if from.scheme() == "https" && next.scheme() != "https" {
        return Err(ToolError::failed("the API redirects from https to an unprotected address"));
    }
    Ok(Some(next))
}

/// Describes why there is no response, without the URL: its query may hold a key.
fn unreachable(error: &reqwest::Error) -> ToolError {
    let mut text = causes(error);
    if let Some(url) = error.url() {
        text = text.replace(url.as_str(), &crate::document::shown_url(url));
    }
    ToolError::failed(text)
}
