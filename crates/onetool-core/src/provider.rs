//! Providers of tool lists.

use std::sync::Arc;

use crate::{BoxError, BoxFuture, ProviderError, Tool};

/// Provides a list of tools that may change at any time.
///
/// The list is requested for every HTTP request and never cached. A provider can be a fixed list, or a closure that
/// returns a list, sync or async:
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
/// `Kind` exists so that the implementations for sync and async closures do not overlap. Omit it when you implement the
/// trait, and make a function that accepts any provider generic over it.
pub trait ToolsProvider<Kind = ()>: Send + Sync + 'static {
    /// Returns the tools.
    fn tools(&self) -> BoxFuture<'_, Result<Vec<Arc<dyn Tool>>, ProviderError>>;
}

/// The kind of providers that are async closures.
#[derive(Debug, Clone, Copy)]
pub struct AsyncClosure;

/// A list of tools returned by a provider: a `Vec` or an array of tools, or a `Result` of these with any error.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a list of tools",
    note = "return a `Vec` or an array of tools, or a `Result` of these"
)]
pub trait ToolList {
    /// Returns the tools.
    ///
    /// # Errors
    /// If the provider failed.
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

impl<F, Fut, L> ToolsProvider<AsyncClosure> for F
where
    F: Fn() -> Fut + Send + Sync + 'static,
    Fut: Future<Output = L> + Send + 'static,
    L: ToolList,
{
    fn tools(&self) -> BoxFuture<'_, Result<Vec<Arc<dyn Tool>>, ProviderError>> {
        Box::pin(async move { self().await.into_tools() })
    }
}
