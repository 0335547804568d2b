//! A resource or resource template of an upstream, served under a URI that names its pack.

use std::sync::Arc;

use onetool_core::{
    BoxFuture, CallContext, ReadRequest, Resource, ResourceContents, ResourceError, ResourceSpec,
};
use rmcp::model::{ClientRequest, ReadResourceRequest, ReadResourceRequestParams, Reference};
use serde_json::Value;

use crate::call::Round;
use crate::convert::resource_contents;
use crate::link::UpstreamHandle;
use crate::names::{upstream_uri, wrapped_uri};

/// A resource of an upstream, read over whichever connection is current.
struct UpstreamResource {
    spec: ResourceSpec,
    /// The URI that the upstream uses.
    own_uri: String,
    upstream: Arc<UpstreamHandle>,
}

/// Converts listed resources and templates. Skips and logs invalid ones.
pub(crate) fn resources(
    listed: Vec<Value>,
    templates: Vec<Value>,
    upstream: &Arc<UpstreamHandle>,
) -> Vec<Arc<dyn Resource>> {
    let mut seen = std::collections::HashSet::new();
    let listed = listed.into_iter().map(|definition| (definition, "uri"));
    let templates = templates.into_iter().map(|definition| (definition, "uriTemplate"));
    let mut resources: Vec<Arc<dyn Resource>> = Vec::new();
    for (definition, key) in listed.chain(templates) {
        let reason = match definition[key].as_str().filter(|uri| !uri.is_empty()) {
            None => format!("it has no {key}"),
            Some(uri) if !seen.insert(uri.to_owned()) => format!("duplicate URI '{uri}'"),
            Some(uri) => {
                resources.push(Arc::new(UpstreamResource::new(uri, &definition, upstream)));
                continue;
            }
        };
        tracing::warn!(server = %upstream.name, "resource skipped: {reason}");
    }
    resources
}

impl UpstreamResource {
    fn new(uri: &str, definition: &Value, upstream: &Arc<UpstreamHandle>) -> Self {
        let text = |key: &str| definition[key].as_str().map(str::to_owned);
        let name = text("name").unwrap_or_else(|| uri.to_owned());
        let mut spec = ResourceSpec::new(wrapped_uri(&upstream.name, uri), name);
        spec.title = text("title");
        spec.description = text("description");
        spec.mime_type = text("mimeType");
        Self { spec, own_uri: uri.to_owned(), upstream: upstream.clone() }
    }
}

impl Resource for UpstreamResource {
    fn spec(&self) -> &ResourceSpec {
        &self.spec
    }

    fn read<'a>(
        &'a self,
        request: ReadRequest,
        cx: &'a CallContext,
    ) -> BoxFuture<'a, Result<Vec<ResourceContents>, ResourceError>> {
        Box::pin(async move {
            let pack = &*self.upstream.name;
            let Some(uri) = upstream_uri(pack, &request.uri) else {
                return Err(ResourceError::NotFound { uri: request.uri, hint: String::new() });
            };
            let build = |round: &Round| {
                let mut params = ReadResourceRequestParams::new(uri);
                params.input_responses.clone_from(&round.responses);
                params.request_state.clone_from(&round.state);
                ClientRequest::ReadResourceRequest(ReadResourceRequest::new(params))
            };
            let result = self
                .upstream
                .call(&build, cx, true)
                .await
                .map_err(|error| error.into_resource_error(&request.uri))?;
            resource_contents(pack, result)
                .map_err(|reason| ResourceError::Failed { message: format!("server '{pack}': {reason}") })
        })
    }

    fn complete<'a>(&'a self, variable: &'a str, typed: &'a str) -> BoxFuture<'a, Vec<String>> {
        Box::pin(async move {
            self.upstream.complete(Reference::for_resource(self.own_uri.clone()), variable, typed).await
        })
    }
}
