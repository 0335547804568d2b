//! The gateway over HTTP: routes that follow the configuration while they are served.

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

/// Where the HTTP options of a gateway come from.
pub enum HttpSource {
    /// The program, once and for all.
    Fixed(HttpOptions),
    /// The configuration in force; asked again after every reload.
    Following(Box<dyn Fn(&Config) -> HttpOptions + Send + Sync>),
}

impl HttpSource {
    /// Makes options out of the configuration, again after every reload.
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

/// The routes behind one router, replaced as a whole by a reload; sessions and requests in flight go on.
pub(super) struct HttpSurface {
    source: HttpSource,
    mcp: McpHttp,
    /// How many connections there may be, and how long each may keep the server waiting.
    connections: Current<ConnectionLimits>,
    /// Not kept from here: routes hold the gateway, and the gateway holds this.
    routes: WeakCurrent<Router>,
}

impl HttpSurface {
    /// Makes the routes, and a router that hands every request to those in force.
    pub(super) fn new(inner: &Arc<Inner>, source: HttpSource) -> (Self, Router) {
        let routes = Current::default();
        let mcp = McpHttp::new(&inner.server, 0);
        let surface = Self { source, mcp, connections: Current::default(), routes: routes.downgrade() };
        surface.renew(inner);
        #[cfg(feature = "web")]
        inner.history.set_on(inner.config().http.history);
        let router = Router::new().fallback(move |request: Request| {
            let routes = Router::clone(&routes.get());
            async move {
                let answered: Result<_, Infallible> = routes.oneshot(request).await;
                answered.unwrap_or_else(|never| match never {})
            }
        });
        (surface, router)
    }

    /// Returns the limits of connections in force.
    pub(super) fn connections(&self) -> &Current<ConnectionLimits> {
        &self.connections
    }

    /// Makes the routes again, out of the configuration in force; tells whether anybody still serves them.
    pub(super) fn renew(&self, inner: &Arc<Inner>) -> bool {
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
