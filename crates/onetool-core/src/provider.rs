//! Where a list of tools comes from.

use std::sync::Arc;

use crate::{BoxFuture, ProviderError, Tool};

/// Something that knows which tools there are right now.
///
/// It is asked on every request and nothing is cached, so a provider may change its mind at any time.
pub trait ToolsProvider: Send + Sync + 'static {
    /// Returns the tools.
    fn tools(&self) -> BoxFuture<'_, Result<Vec<Arc<dyn Tool>>, ProviderError>>;
}

impl ToolsProvider for Vec<Arc<dyn Tool>> {
    fn tools(&self) -> BoxFuture<'_, Result<Vec<Arc<dyn Tool>>, ProviderError>> {
        Box::pin(std::future::ready(Ok(self.clone())))
    }
}

/// Makes a provider of a function that has its tools at hand.
pub fn from_fn<F>(list: F) -> impl ToolsProvider
where
    F: Fn() -> Result<Vec<Arc<dyn Tool>>, ProviderError> + Send + Sync + 'static,
{
    struct FromFn<F>(F);
    impl<F> ToolsProvider for FromFn<F>
    where
        F: Fn() -> Result<Vec<Arc<dyn Tool>>, ProviderError> + Send + Sync + 'static,
    {
        fn tools(&self) -> BoxFuture<'_, Result<Vec<Arc<dyn Tool>>, ProviderError>> {
            Box::pin(async { (self.0)() })
        }
    }
    FromFn(list)
}

/// Makes a provider of a function that has to wait for its tools.
pub fn from_async_fn<F, Fut>(list: F) -> impl ToolsProvider
where
    F: Fn() -> Fut + Send + Sync + 'static,
    Fut: Future<Output = Result<Vec<Arc<dyn Tool>>, ProviderError>> + Send + 'static,
{
    struct FromAsyncFn<F>(F);
    impl<F, Fut> ToolsProvider for FromAsyncFn<F>
    where
        F: Fn() -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<Vec<Arc<dyn Tool>>, ProviderError>> + Send + 'static,
    {
        fn tools(&self) -> BoxFuture<'_, Result<Vec<Arc<dyn Tool>>, ProviderError>> {
            Box::pin((self.0)())
        }
    }
    FromAsyncFn(list)
}
