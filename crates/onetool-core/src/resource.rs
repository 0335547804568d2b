//! Resources, which clients read by URI.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::{BoxError, BoxFuture, CallContext, ResourceContents, ResourceError, UriTemplate};

/// Data that a client can read by its URI, or a family of such data under a URI template.
///
/// Most resources are closures, see [`resource_fn`].
///
/// ```
/// use onetool_core::{BoxFuture, CallContext, ReadRequest, Resource, ResourceContents, ResourceError, ResourceSpec};
///
/// struct Motd(ResourceSpec);
///
/// impl Resource for Motd {
///     fn spec(&self) -> &ResourceSpec {
///         &self.0
///     }
///
///     fn read<'a>(
///         &'a self,
///         _: ReadRequest,
///         _: &'a CallContext,
///     ) -> BoxFuture<'a, Result<Vec<ResourceContents>, ResourceError>> {
///         Box::pin(async { Ok(vec![ResourceContents::text("Hello.", "text/plain")]) })
///     }
/// }
///
/// let resource = Motd(ResourceSpec::new("docs://motd", "motd"));
/// ```
pub trait Resource: Send + Sync + 'static {
    /// Returns the resource's description for clients.
    fn spec(&self) -> &ResourceSpec;

    /// Reads the resource.
    fn read<'a>(
        &'a self,
        request: ReadRequest,
        cx: &'a CallContext,
    ) -> BoxFuture<'a, Result<Vec<ResourceContents>, ResourceError>>;

    /// Suggests values for a variable of the template that start with `typed`.
    fn complete<'a>(&'a self, variable: &'a str, typed: &'a str) -> BoxFuture<'a, Vec<String>> {
        let _ = (variable, typed);
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

    fn complete<'a>(&'a self, variable: &'a str, typed: &'a str) -> BoxFuture<'a, Vec<String>> {
        (**self).complete(variable, typed)
    }
}

/// The description of a resource for clients.
///
/// ```
/// use onetool_core::ResourceSpec;
///
/// let mut spec = ResourceSpec::new("users://{id}", "user");
/// spec.mime_type = Some("application/json".into());
/// assert!(spec.uri.has_variables());
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct ResourceSpec {
    /// The URI; with variables, this is a resource template.
    pub uri: UriTemplate,
    /// A short name.
    pub name: String,
    /// The display name.
    pub title: Option<String>,
    /// What the resource contains.
    pub description: Option<String>,
    /// The MIME type of its contents.
    pub mime_type: Option<String>,
}

impl ResourceSpec {
    /// Creates the description of a resource.
    pub fn new(uri: impl Into<String>, name: impl Into<String>) -> Self {
        let uri = UriTemplate::new(uri);
        Self { uri, name: name.into(), title: None, description: None, mime_type: None }
    }
}

/// A client's request to read a resource.
///
/// ```
/// use onetool_core::{CallContext, ReadRequest, ResourceContents, resource_fn};
///
/// let user = resource_fn("users://{id}", "user", |request: ReadRequest, _: CallContext| async move {
///     ResourceContents::text(format!("user {}", request.values["id"]), "text/plain")
/// });
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReadRequest {
    /// The requested URI.
    pub uri: String,
    /// The values of the template's variables.
    pub values: BTreeMap<String, String>,
}

/// A return type of resource handlers: contents, several contents, or a `Result` of these.
///
/// ```
/// use onetool_core::{IntoResourceContents, ResourceContents};
///
/// let contents = ResourceContents::text("# Read me", "text/markdown").into_resource_contents()?;
/// assert_eq!(contents.len(), 1);
/// # Ok::<(), onetool_core::ResourceError>(())
/// ```
pub trait IntoResourceContents {
    /// Converts the value to contents.
    ///
    /// # Errors
    /// If the handler failed.
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

/// A resource made from a closure; see [`resource_fn`]. All closures have this one type, so an array can hold several.
///
/// ```
/// use onetool_core::{CallContext, ReadRequest, ResourceContents, ResourceFn, resource_fn};
///
/// fn readme() -> ResourceFn {
///     let read = |_: ReadRequest, _: CallContext| async { ResourceContents::text("# Read me", "text/markdown") };
///     resource_fn("docs://readme", "readme", read).description("How to start.").mime_type("text/markdown")
/// }
/// # readme();
/// ```
pub struct ResourceFn {
    spec: ResourceSpec,
    handler: Handler,
    completer: Option<Completer>,
}

/// Creates a resource that `handler` reads on every request.
///
/// A URI with variables (`users://{id}`) is a template for many resources; [`ReadRequest::values`] has the values of the
/// variables.
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
    /// Sets the description of the contents.
    #[must_use]
    pub fn description(mut self, description: impl Into<String>) -> Self {
        self.spec.description = Some(description.into());
        self
    }

    /// Sets the MIME type shown in the resource list.
    #[must_use]
    pub fn mime_type(mut self, mime_type: impl Into<String>) -> Self {
        self.spec.mime_type = Some(mime_type.into());
        self
    }

    /// Sets a function that suggests values for variables: `complete(variable, typed)`.
    #[must_use]
    pub fn completions(
        mut self,
        complete: impl Fn(&str, &str) -> Vec<String> + Send + Sync + 'static,
    ) -> Self {
        self.completer = Some(Box::new(complete));
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

    fn complete<'a>(&'a self, variable: &'a str, typed: &'a str) -> BoxFuture<'a, Vec<String>> {
        Box::pin(async move {
            self.completer.as_ref().map_or_else(Vec::new, |complete| complete(variable, typed))
        })
    }
}
