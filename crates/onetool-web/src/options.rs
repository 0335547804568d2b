//! Options of the router: labels, limits and access.

use std::sync::Arc;

use http::request::Parts;
use onetool_core::{BoxFuture, Caller, JsonObject, ToolError, ToolName, ToolOutput};

use crate::request::DEFAULT_MAX_BODY;

/// A call over HTTP, with arguments that match the tool's schema.
#[derive(Debug, Clone)]
pub struct ToolCall {
    /// The tool's canonical name.
    pub name: ToolName,
    /// The arguments.
    pub args: JsonObject,
    /// The caller.
    pub caller: Caller,
}

pub(crate) type CallHandler =
    Arc<dyn Fn(ToolCall) -> BoxFuture<'static, Result<ToolOutput, ToolError>> + Send + Sync>;
pub(crate) type AccessHook = Arc<dyn Fn(&Parts) -> Option<Caller> + Send + Sync>;
pub(crate) type OriginHook = Arc<dyn Fn(&Parts) -> Result<(), String> + Send + Sync>;

/// Options of the router. Cheap to clone.
///
/// By default, every page of the same origin may read and no caller may call a tool.
#[derive(Clone)]
pub struct WebOptions {
    pub(crate) title: String,
    pub(crate) allow_execute: bool,
    pub(crate) execute_hint: String,
    pub(crate) max_body: usize,
    pub(crate) call: Option<CallHandler>,
    pub(crate) access: Option<AccessHook>,
    pub(crate) origin: Option<OriginHook>,
}

impl Default for WebOptions {
    fn default() -> Self {
        Self {
            title: "onetool".into(),
            allow_execute: false,
            execute_hint: "Execution is off. The program that serves this page turns it on with \
                           WebOptions::allow_execute(true)."
                .into(),
            max_body: DEFAULT_MAX_BODY,
            call: None,
            access: None,
            origin: None,
        }
    }
}

impl WebOptions {
    /// Sets the title of the page.
    #[must_use]
    pub fn title(mut self, title: impl Into<String>) -> Self {
        self.title = title.into();
        self
    }

    /// Sets whether tools may be called. Otherwise calls are rejected with 403 and the page has no Run button.
    #[must_use]
    pub fn allow_execute(mut self, allow: bool) -> Self {
        self.allow_execute = allow;
        self
    }

    /// Sets the text that replaces the Run button while calls are not allowed.
    #[must_use]
    pub fn execute_hint(mut self, hint: impl Into<String>) -> Self {
        self.execute_hint = hint.into();
        self
    }

    /// Sets the maximum size of a request body in bytes. Default: 4 MiB.
    #[must_use]
    pub fn max_body(mut self, bytes: usize) -> Self {
        self.max_body = bytes;
        self
    }

    /// Sets a handler that makes the calls. By default the tool is called directly.
    ///
    /// The handler's future is dropped when the client closes the request.
    #[must_use]
    pub fn on_call<F, Fut>(mut self, handler: F) -> Self
    where
        F: Fn(ToolCall) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<ToolOutput, ToolError>> + Send + 'static,
    {
        self.call = Some(Arc::new(move |call| Box::pin(handler(call))));
        self
    }

    /// Sets who has access: `None` responds with 401. The hook runs for every route with data.
    ///
    /// ```
    /// use onetool_core::Caller;
    /// use onetool_web::WebOptions;
    ///
    /// // The application's own middleware has set the caller.
    /// let options = WebOptions::default().access(|request| request.extensions.get::<Caller>().cloned());
    /// ```
    #[must_use]
    pub fn access<F>(mut self, hook: F) -> Self
    where
        F: Fn(&Parts) -> Option<Caller> + Send + Sync + 'static,
    {
        self.access = Some(Arc::new(hook));
        self
    }

    /// Sets which hosts and origins are allowed, for every route including the page. `Err` responds with 403 and the
    /// reason.
    ///
    /// By default a request may have no `Origin`, or one that names the `Host` it is sent to. An application that
    /// listens on loopback should also check the `Host`, to stop pages that rebind their name to this machine.
    #[must_use]
    pub fn origin<F>(mut self, hook: F) -> Self
    where
        F: Fn(&Parts) -> Result<(), String> + Send + Sync + 'static,
    {
        self.origin = Some(Arc::new(hook));
        self
    }
}

impl std::fmt::Debug for WebOptions {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("WebOptions")
            .field("title", &self.title)
            .field("allow_execute", &self.allow_execute)
            .field("max_body", &self.max_body)
            .finish_non_exhaustive()
    }
}
