//! A resource or resource template of an upstream, under an address that names its pack.

use std::sync::Arc;

use onetool_core::{
    BoxFuture, CallContext, ReadRequest, Resource, ResourceContents, ResourceError, ResourceSpec,
};
use rmcp::model::{ClientRequest, ReadResourceRequest, ReadResourceRequestParams, Reference};
use serde_json::Value;

use crate::answer::resource_contents;
use crate::call::Round;
use crate::link::Access;

/// Returns the address under which a pack's resource is served: `onetool://server/{pack}/{uri}`.
///
/// The upstream's own URI follows as it is, so nothing is lost, two upstreams never collide, and a template stays
/// one. [`upstream_uri`] takes it off again.
///
/// ```
/// use onetool_proxy::{upstream_uri, wrapped_uri};
///
/// let wrapped = wrapped_uri("files", "file:///tmp/a?b#c");
/// assert_eq!(wrapped, "onetool://server/files/file:///tmp/a?b#c");
/// assert_eq!(upstream_uri("files", &wrapped), Some("file:///tmp/a?b#c"));
/// assert_eq!(upstream_uri("other", &wrapped), None);
/// ```
pub fn wrapped_uri(pack: &str, uri: &str) -> String {
    format!("onetool://server/{pack}/{uri}")
}

/// Returns an upstream's own URI from the one that [`wrapped_uri`] made for the pack.
pub fn upstream_uri<'a>(pack: &str, uri: &'a str) -> Option<&'a str> {
    uri.strip_prefix("onetool://server/")?.strip_prefix(pack)?.strip_prefix('/')
}

/// A resource of an upstream, read over whichever connection is in force.
struct UpstreamResource {
    spec: ResourceSpec,
    own_uri: String,
    access: Arc<Access>,
}

/// Makes the resources and templates of two lists. One that cannot be used is left out and logged.
pub(crate) fn resources(
    listed: Vec<Value>,
    templates: Vec<Value>,
    access: &Arc<Access>,
) -> Vec<Arc<dyn Resource>> {
    let mut taken = std::collections::HashSet::new();
    let listed = listed.into_iter().map(|it| (it, "uri"));
    let templates = templates.into_iter().map(|it| (it, "uriTemplate"));
    let mut resources: Vec<Arc<dyn Resource>> = Vec::new();
    for (definition, key) in listed.chain(templates) {
        let reason = match definition[key].as_str().filter(|uri| !uri.is_empty()) {
            None => format!("it has no {key}"),
            Some(uri) if !taken.insert(uri.to_owned()) => format!("'{uri}' is taken by an earlier one"),
            Some(uri) => {
                resources.push(Arc::new(UpstreamResource::new(uri, &definition, access)));
                continue;
            }
        };
        tracing::warn!(server = %access.name, "a resource is left out: {reason}");
    }
    resources
}

impl UpstreamResource {
    fn new(uri: &str, definition: &Value, access: &Arc<Access>) -> Self {
        let text = |key: &str| definition[key].as_str().map(str::to_owned);
        let name = text("name").unwrap_or_else(|| uri.to_owned());
        let mut spec = ResourceSpec::new(wrapped_uri(&access.name, uri), name);
        spec.title = text("title");
        spec.description = text("description");
        spec.mime_type = text("mimeType");
        Self { spec, own_uri: uri.to_owned(), access: access.clone() }
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
            let pack = &*self.access.name;
            let Some(uri) = upstream_uri(pack, &request.uri) else {
                return Err(ResourceError::NotFound { uri: request.uri, hint: String::new() });
            };
            let make = |round: &Round| {
                let mut params = ReadResourceRequestParams::new(uri);
                params.input_responses.clone_from(&round.answers);
                params.request_state.clone_from(&round.state);
                ClientRequest::ReadResourceRequest(ReadResourceRequest::new(params))
            };
            let result =
                self.access.call(&make, cx, true).await.map_err(|error| error.of_read(&request.uri))?;
            resource_contents(pack, result)
                .map_err(|reason| ResourceError::Failed { message: format!("server '{pack}': {reason}") })
        })
    }

    fn complete<'a>(&'a self, hole: &'a str, typed: &'a str) -> BoxFuture<'a, Vec<String>> {
        Box::pin(async move {
            self.access.complete(Reference::for_resource(self.own_uri.clone()), hole, typed).await
        })
    }
}
