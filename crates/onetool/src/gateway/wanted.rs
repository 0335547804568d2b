//! Which external sources are wanted: what the configuration names, and what someone switched on or off.

use std::sync::Arc;

use indexmap::IndexMap;
use onetool_proxy::Transport;

use crate::config::{ApiConfig, Config, UpstreamConfig};
use onetool_server::catalog::Source;
use onetool_store::store::SourceSwitches;

/// A source from outside, as configured.
#[derive(Clone, PartialEq)]
pub(super) enum Wanted {
    Server(Box<UpstreamConfig>),
    Api(Box<ApiConfig>),
}

impl Wanted {
    pub(super) fn is_enabled(&self) -> bool {
        match self {
            Self::Server(config) => config.connection.enabled,
            Self::Api(config) => config.is_enabled,
        }
    }

    pub(super) fn set_enabled(&mut self, is_enabled: bool) {
        match self {
            Self::Server(config) => config.connection.enabled = is_enabled,
            Self::Api(config) => config.is_enabled = is_enabled,
        }
    }

    pub(super) fn transport(&self) -> &'static str {
        match self {
            Self::Api(_) => "openapi",
            Self::Server(config) => match config.connection.transport {
                Transport::Http { .. } => "http",
                Transport::Stdio { .. } => "stdio",
            },
        }
    }

    pub(super) fn source(&self, name: &Arc<str>) -> Source {
        match self {
            Self::Server(_) => Source::Proxy(name.clone()),
            Self::Api(_) => Source::OpenApi(name.clone()),
        }
    }
}

/// Returns the sources that a configuration names, switched on or off by `switches`.
pub(super) fn wanted(config: &Config, switches: Option<&SourceSwitches>) -> IndexMap<Arc<str>, Wanted> {
    let servers =
        config.servers.iter().map(|(name, it)| (name.as_str().into(), Wanted::Server(Box::new(it.clone()))));
    let apis = config.apis.iter().map(|(name, it)| (name.as_str().into(), Wanted::Api(Box::new(it.clone()))));
    let mut wanted: IndexMap<Arc<str>, Wanted> = servers.chain(apis).collect();
    for (name, is_enabled) in switches.into_iter().flatten() {
        if let Some(wanted) = wanted.get_mut(name) {
            wanted.set_enabled(*is_enabled);
        }
    }
    wanted
}
