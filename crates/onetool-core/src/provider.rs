//! Where a list of tools comes from.

use std::sync::Arc;

use crate::{BoxError, BoxFuture, ProviderError, Tool};

/// Something that knows which tools there are right now.
///
/// It is asked on every request and nothing is cached, so a provider may change its mind at any time. A fixed list is
/// one, and so is a closure that returns a list, with or without waiting for it:
///
/// ```
/// use onetool_core::{CallContext, ToolsProvider, tool_fn};
///
/// fn serve<Kind>(_provider: impl ToolsProvider<Kind>) {}
///
/// let now = || [tool_fn("a.b", "", |(): (), _: CallContext| async { "now" })];
/// serve(now);
/// serve(move || async move { now() });
/// ```
///
/// `Kind` tells closures that wait from everything else, because Rust could not tell them apart without. Leave it out
/// to implement the trait, and let a function that takes any provider be generic in it.
pub trait ToolsProvider<Kind = ()>: Send + Sync + 'static {
    /// Returns the tools.
    fn tools(&self) -> BoxFuture<'_, Result<Vec<Arc<dyn Tool>>, ProviderError>>;
}

/// The kind of a closure that waits for its list.
#[derive(Debug, Clone, Copy)]
pub struct Waits;

/// A list of tools that a provider returns: a `Vec` or an array of tools, or a `Result` of these with any error.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a list of tools",
    note = "return a `Vec` or an array of tools, or a `Result` of these"
)]
pub trait ToolList {
    /// Returns the tools.
    ///
    /// # Errors
    /// When there is an error instead of a list.
    fn into_tools(self) -> Result<Vec<Arc<dyn Tool>>, ProviderError>;
}

impl<T: Tool> ToolList for Vec<T> {
    fn into_tools(self) -> Result<Vec<Arc<dyn Tool>>, ProviderError> {
        Ok(self.into_iter().map(|tool| Arc::new(tool) as Arc<dyn Tool>).collect())
    }
}

impl<T: Tool, const N: usize> ToolList for [T; N] {
    fn into_tools(self) -> Result<Vec<Arc<dyn Tool>>, ProviderError> {
        Vec::from(self).into_tools()
    }
}

impl<L: ToolList, E: Into<BoxError>> ToolList for Result<L, E> {
    fn into_tools(self) -> Result<Vec<Arc<dyn Tool>>, ProviderError> {
        let provider_error = |error: E| match error.into().downcast::<ProviderError>() {
            Ok(error) => *error,
            Err(error) => ProviderError { reason: error.to_string() },
        };
        self.map_err(provider_error)?.into_tools()
    }
}

impl ToolsProvider for Vec<Arc<dyn Tool>> {
    fn tools(&self) -> BoxFuture<'_, Result<Vec<Arc<dyn Tool>>, ProviderError>> {
        Box::pin(std::future::ready(Ok(self.clone())))
    }
}

impl<F, L> ToolsProvider for F
where
    F: Fn() -> L + Send + Sync + 'static,
    L: ToolList,
{
    fn tools(&self) -> BoxFuture<'_, Result<Vec<Arc<dyn Tool>>, ProviderError>> {
        Box::pin(async move { self().into_tools() })
    }
}

impl<F, Fut, L> ToolsProvider<Waits> for F
where
    F: Fn() -> Fut + Send + Sync + 'static,
    Fut: Future<Output = L> + Send + 'static,
    L: ToolList,
{
    fn tools(&self) -> BoxFuture<'_, Result<Vec<Arc<dyn Tool>>, ProviderError>> {
        Box::pin(async move { self().await.into_tools() })
    }
}
