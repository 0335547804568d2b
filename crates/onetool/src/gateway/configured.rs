//! The configured external sources, each enabled or disabled by the configuration or by a switch.

use std::sync::Arc;

use indexmap::IndexMap;
use onetool_proxy::Transport;

use crate::config::{ApiConfig, Config, UpstreamConfig};
use onetool_server::catalog::Source;
use onetool_store::store::SourceSwitches;

/// An external source, as configured.
#[derive(Clone, PartialEq)]
pub(super) enum ConfiguredSource {
    Server(Box<UpstreamConfig>),
    Api(Box<ApiConfig>),
}

impl ConfiguredSource {
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
pub(super) fn configured_sources(
    config: &Config,
    switches: Option<&SourceSwitches>,
) -> IndexMap<Arc<str>, ConfiguredSource> {
    let server = |it: &UpstreamConfig| ConfiguredSource::Server(Box::new(it.clone()));
    let api = |it: &ApiConfig| ConfiguredSource::Api(Box::new(it.clone()));
    let servers = config.servers.iter().map(|(name, it)| (name.as_str().into(), server(it)));
    let apis = config.apis.iter().map(|(name, it)| (name.as_str().into(), api(it)));
    let mut configured: IndexMap<Arc<str>, ConfiguredSource> = servers.chain(apis).collect();
    for (name, is_enabled) in switches.into_iter().flatten() {
        if let Some(source) = configured.get_mut(name) {
            source.set_enabled(*is_enabled);
        }
    }
    configured
}
