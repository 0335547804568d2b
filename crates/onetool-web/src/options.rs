//! How a router is set up: its words, its limits, and who may do what.

use std::sync::Arc;

use http::request::Parts;
use onetool_core::{BoxFuture, Caller, JsonObject, ToolError, ToolName, ToolOutput};

/// Largest request body that is taken, unless the options say otherwise.
const DEFAULT_MAX_BODY: usize = 4 * 1024 * 1024;

/// A call that came over HTTP, with arguments that satisfy the tool's schema.
#[derive(Debug, Clone)]
pub struct ToolCall {
    /// The tool's canonical name.
    pub name: ToolName,
    /// The arguments.
    pub args: JsonObject,
    /// Who calls.
    pub caller: Caller,
}

pub(crate) type CallHandler =
    Arc<dyn Fn(ToolCall) -> BoxFuture<'static, Result<ToolOutput, ToolError>> + Send + Sync>;
pub(crate) type NameHook = Arc<dyn Fn(&str) -> Result<ToolName, String> + Send + Sync>;
pub(crate) type AccessHook = Arc<dyn Fn(&Parts) -> Option<Caller> + Send + Sync>;
pub(crate) type OriginHook = Arc<dyn Fn(&Parts) -> Result<(), String> + Send + Sync>;

/// How a router is set up. Cheap to clone.
///
/// Without further words, everybody on the same origin may look and nobody may run a tool.
#[derive(Clone)]
pub struct WebOptions {
    pub(crate) title: String,
    pub(crate) allow_execute: bool,
    pub(crate) execute_hint: String,
    pub(crate) max_body: usize,
    pub(crate) call: Option<CallHandler>,
    pub(crate) name: Option<NameHook>,
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
            name: None,
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

    /// Says whether tools may be called. Without it a call is refused with 403 and the page has no Run button.
    #[must_use]
    pub fn allow_execute(mut self, allow: bool) -> Self {
        self.allow_execute = allow;
        self
    }

    /// Sets the sentence that stands in the place of the Run button while calls are not allowed.
    #[must_use]
    pub fn execute_hint(mut self, hint: impl Into<String>) -> Self {
        self.execute_hint = hint.into();
        self
    }

    /// Sets the largest request body in bytes, 4 MiB by default.
    #[must_use]
    pub fn max_body(mut self, bytes: usize) -> Self {
        self.max_body = bytes;
        self
    }

    /// Sets who carries calls out; without it the tool itself is called.
    ///
    /// Its future is dropped when the client closes the request.
    #[must_use]
    pub fn on_call<F, Fut>(mut self, handler: F) -> Self
    where
        F: Fn(ToolCall) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<ToolOutput, ToolError>> + Send + 'static,
    {
        self.call = Some(Arc::new(move |call| Box::pin(handler(call))));
        self
    }

    /// Sets how a name in a URL becomes the canonical name of a tool. `Err` answers 404; it holds what may have been
    /// meant, beginning with a separator, or nothing.
    ///
    /// Without it a name is canonical or flat, and a 404 suggests names that look alike.
    #[must_use]
    pub fn on_name<F>(mut self, hook: F) -> Self
    where
        F: Fn(&str) -> Result<ToolName, String> + Send + Sync + 'static,
    {
        self.name = Some(Arc::new(hook));
        self
    }

    /// Sets who is let in: `None` answers 401. Asked for every route that tells or does something.
    ///
    /// ```
    /// use onetool_core::Caller;
    /// use onetool_web::WebOptions;
    ///
    /// // A middleware of the application has put the caller there.
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

    /// Sets which hosts and origins are known, for every route, the page included; `Err` answers 403 with that reason.
    ///
    /// Without it a request may have no `Origin`, or one that names the `Host` it is sent to. An application that
    /// listens on loopback should also check the `Host`, against pages that rebind their name to this machine.
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
