//! Resources: something a client can read by its URI.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::{BoxError, BoxFuture, CallContext, ResourceContents, ResourceError, UriTemplate};

/// Something a client can read by its URI, or a family of such things under a URI template.
pub trait Resource: Send + Sync + 'static {
    /// Returns all that a client may know without reading it.
    fn spec(&self) -> &ResourceSpec;

    /// Reads it.
    fn read<'a>(
        &'a self,
        request: ReadRequest,
        cx: &'a CallContext,
    ) -> BoxFuture<'a, Result<Vec<ResourceContents>, ResourceError>>;

    /// Proposes values for a hole of the template that begin with what was typed so far.
    fn complete<'a>(&'a self, hole: &'a str, typed: &'a str) -> BoxFuture<'a, Vec<String>> {
        let _ = (hole, typed);
        Box::pin(std::future::ready(Vec::new()))
    }
}

impl<T: Resource + ?Sized> Resource for Arc<T> {
    fn spec(&self) -> &ResourceSpec {
        (**self).spec()
    }

    fn read<'a>(
        &'a self,
        request: ReadRequest,
        cx: &'a CallContext,
    ) -> BoxFuture<'a, Result<Vec<ResourceContents>, ResourceError>> {
        (**self).read(request, cx)
    }

    fn complete<'a>(&'a self, hole: &'a str, typed: &'a str) -> BoxFuture<'a, Vec<String>> {
        (**self).complete(hole, typed)
    }
}

/// All that a client may know of a resource without reading it.
#[derive(Debug, Clone, PartialEq)]
pub struct ResourceSpec {
    /// Its URI; one with holes makes this a resource template.
    pub uri: UriTemplate,
    /// A short name.
    pub name: String,
    /// A name for people.
    pub title: Option<String>,
    /// What it holds, in words.
    pub description: Option<String>,
    /// The MIME type of its contents.
    pub mime_type: Option<String>,
}

impl ResourceSpec {
    /// Makes the spec of a resource.
    pub fn new(uri: impl Into<String>, name: impl Into<String>) -> Self {
        let uri = UriTemplate::new(uri);
        Self { uri, name: name.into(), title: None, description: None, mime_type: None }
    }
}

/// What a client wants to read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReadRequest {
    /// The URI that was asked for.
    pub uri: String,
    /// What stands in the holes of the template.
    pub values: BTreeMap<String, String>,
}

/// What a resource handler may return.
pub trait IntoResourceContents {
    /// Makes the contents.
    ///
    /// # Errors
    /// When the handler failed.
    fn into_resource_contents(self) -> Result<Vec<ResourceContents>, ResourceError>;
}

impl IntoResourceContents for ResourceContents {
    fn into_resource_contents(self) -> Result<Vec<ResourceContents>, ResourceError> {
        Ok(vec![self])
    }
}

impl IntoResourceContents for Vec<ResourceContents> {
    fn into_resource_contents(self) -> Result<Vec<ResourceContents>, ResourceError> {
        Ok(self)
    }
}

impl<T: IntoResourceContents, E: Into<BoxError>> IntoResourceContents for Result<T, E> {
    fn into_resource_contents(self) -> Result<Vec<ResourceContents>, ResourceError> {
        self.map_err(ResourceError::from_any)?.into_resource_contents()
    }
}

type Completer = Box<dyn Fn(&str, &str) -> Vec<String> + Send + Sync>;

type Handler = Box<
    dyn Fn(ReadRequest, CallContext) -> BoxFuture<'static, Result<Vec<ResourceContents>, ResourceError>>
        + Send
        + Sync,
>;

/// A resource made from a closure; see [`resource_fn`]. All of them are of one type, so that an array can hold several.
pub struct ResourceFn {
    spec: ResourceSpec,
    handler: Handler,
    completer: Option<Completer>,
}

/// Makes a resource that `handler` reads anew every time.
///
/// A URI with holes (`users://{id}`) makes a family of resources; [`ReadRequest::values`] says what stands in them.
///
/// ```
/// use onetool_core::{CallContext, ReadRequest, ResourceContents, resource_fn};
///
/// let resource = resource_fn("docs://readme", "readme", |_: ReadRequest, _: CallContext| async move {
///     ResourceContents::text("# Read me", "text/markdown")
/// });
/// ```
///
/// A handler that returns something else does not compile (CUS-6.2):
///
/// ```compile_fail,E0277
/// # use onetool_core::{CallContext, ReadRequest, resource_fn};
/// fn cus_6_2_a_resource_handler_returns_contents() {
///     resource_fn("docs://readme", "readme", |_: ReadRequest, _: CallContext| async move { 42 });
/// }
/// ```
pub fn resource_fn<F, Fut>(uri: impl Into<String>, name: impl Into<String>, handler: F) -> ResourceFn
where
    F: Fn(ReadRequest, CallContext) -> Fut + Send + Sync + 'static,
    Fut: Future + Send + 'static,
    Fut::Output: IntoResourceContents,
{
    let handler = Arc::new(handler);
    let handler: Handler = Box::new(move |request, cx| {
        let handler = handler.clone();
        Box::pin(async move { handler(request, cx).await.into_resource_contents() })
    });
    ResourceFn { spec: ResourceSpec::new(uri, name), handler, completer: None }
}

impl ResourceFn {
    /// Sets what it holds, in words.
    #[must_use]
    pub fn description(mut self, description: impl Into<String>) -> Self {
        self.spec.description = Some(description.into());
        self
    }

    /// Sets the MIME type under which it is listed.
    #[must_use]
    pub fn mime_type(mut self, mime_type: impl Into<String>) -> Self {
        self.spec.mime_type = Some(mime_type.into());
        self
    }

    /// Proposes values for the holes: `propose(hole, typed)`.
    #[must_use]
    pub fn completions(
        mut self,
        propose: impl Fn(&str, &str) -> Vec<String> + Send + Sync + 'static,
    ) -> Self {
        self.completer = Some(Box::new(propose));
        self
    }
}

impl Resource for ResourceFn {
    fn spec(&self) -> &ResourceSpec {
        &self.spec
    }

    fn read<'a>(
        &'a self,
        request: ReadRequest,
        cx: &'a CallContext,
    ) -> BoxFuture<'a, Result<Vec<ResourceContents>, ResourceError>> {
        (self.handler)(request, cx.clone())
    }

    fn complete<'a>(&'a self, hole: &'a str, typed: &'a str) -> BoxFuture<'a, Vec<String>> {
        Box::pin(async move { self.completer.as_ref().map_or_else(Vec::new, |propose| propose(hole, typed)) })
    }
}
