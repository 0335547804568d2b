//! The gateway over HTTP, with routes that are rebuilt when the configuration is reloaded.

use std::convert::Infallible;
use std::sync::Arc;

use axum::Router;
use axum::extract::Request;
use tower::ServiceExt as _;

use super::Inner;
use crate::config::Config;
use onetool_core::current::{Current, WeakCurrent};
use onetool_server::http::{self, ConnectionLimits, HttpOptions};
use onetool_server::mcp::McpHttp;

/// The source of a gateway's HTTP options.
pub enum HttpSource {
    /// Options that never change.
    Fixed(HttpOptions),
    /// Derives the options from the current configuration, again after every reload.
    Following(Box<dyn Fn(&Config) -> HttpOptions + Send + Sync>),
}

impl HttpSource {
    /// Derives the options from the configuration, again after every reload.
    pub fn following(options: impl Fn(&Config) -> HttpOptions + Send + Sync + 'static) -> Self {
        Self::Following(Box::new(options))
    }

    fn options(&self, config: &Config) -> HttpOptions {
        match self {
            Self::Fixed(options) => options.clone(),
            Self::Following(options) => options(config),
        }
    }
}

impl From<HttpOptions> for HttpSource {
    fn from(options: HttpOptions) -> Self {
        Self::Fixed(options)
    }
}

/// The routes behind one router. A reload replaces all of them; sessions and in-flight requests continue.
pub(super) struct HttpSurface {
    source: HttpSource,
    mcp: McpHttp,
    /// Limits on the number of connections, and their timeouts.
    connections: Current<ConnectionLimits>,
    /// Weak, because the routes own the gateway and the gateway owns this.
    routes: WeakCurrent<Router>,
}

impl HttpSurface {
    /// Builds the routes, and a router that forwards every request to the current ones.
    pub(super) fn new(inner: &Arc<Inner>, source: HttpSource) -> (Self, Router) {
        let routes = Current::default();
        let mcp = McpHttp::new(&inner.server, 0);
        let surface = Self { source, mcp, connections: Current::default(), routes: routes.downgrade() };
        surface.rebuild(inner);
        #[cfg(feature = "web")]
        inner.history.set_on(inner.config().http.history);
        let router = Router::new().fallback(move |request: Request| {
            let routes = Router::clone(&routes.get());
            async move {
                let response: Result<_, Infallible> = routes.oneshot(request).await;
                response.unwrap_or_else(|never| match never {})
            }
        });
        (surface, router)
    }

    /// Returns the current connection limits.
    pub(super) fn connections(&self) -> &Current<ConnectionLimits> {
        &self.connections
    }

    /// Rebuilds the routes from the current configuration. Returns whether any router still serves them.
    pub(super) fn rebuild(&self, inner: &Arc<Inner>) -> bool {
        let Some(routes) = self.routes.upgrade() else { return false };
        let options = self.source.options(&inner.config());
        #[cfg(feature = "web")]
        let mut extra = super::api::routes(inner, &options);
        #[cfg(not(feature = "web"))]
        let mut extra = http::ExtraRoutes::default();
        extra.protected = extra.protected.merge(super::metrics::router(inner));
        let mcp = self.mcp.clone().with_max_body(options.max_body);
        self.connections.set(options.connections);
        routes.set(http::routes(&inner.server, options, mcp, extra));
        true
    }
}
