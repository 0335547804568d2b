//! The gateway: a server with what its configuration declares, and the way to load that anew.

use std::sync::{Arc, PoisonError, RwLock};

use crate::Server;
use crate::catalog::{Catalog, RegisterError, Rules, Source};
use crate::config::{Config, Location};
use crate::declared::{ChildEnvironment, DeclareError, Declared};

/// Names of tools, and packs, that belong to the gateway.
const RESERVED: [&str; 6] = ["run", "tool_find", "tool_describe", "tool_load", "tool_active", "ot"];

/// A configuration that cannot be served.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum GatewayError {
    /// A declaration cannot be carried out.
    #[error(transparent)]
    Declare(#[from] DeclareError),
    /// A declaration cannot be registered.
    #[error("{source}")]
    Register {
        /// Where it stands, if it stands in a file.
        at: Option<Location>,
        /// Why.
        source: RegisterError,
    },
}

impl GatewayError {
    /// Returns the place in the configuration, if there is one.
    pub fn location(&self) -> Option<&Location> {
        match self {
            Self::Declare(error) => Some(&error.at),
            Self::Register { at, .. } => at.as_ref(),
        }
    }
}

/// What a reload changed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ReloadReport {
    /// Tools that were not there before.
    pub added: Vec<String>,
    /// Tools that are gone.
    pub removed: Vec<String>,
    /// Settings that changed and take effect only on the next start.
    pub on_restart: Vec<&'static str>,
}

/// A server that follows its configuration.
pub struct Gateway {
    server: Server,
    environment: ChildEnvironment,
    config: RwLock<Arc<Config>>,
}

impl Gateway {
    /// Builds the gateway. `environment` is what child processes inherit; a program that reads its own environment
    /// passes `PATH`, `HOME` and the locale.
    ///
    /// # Errors
    /// When something that the configuration declares cannot be carried out or registered.
    pub fn new(config: Config, environment: ChildEnvironment) -> Result<Self, GatewayError> {
        let mut builder = Server::builder()
            .name(&config.server.name)
            .call_timeout(config.server.call_timeout)
            .newest_protocol(config.protocol_max.as_str())
            .logging()
            .completions()
            .discovery()
            .reserved(&RESERVED);
        if let Some(instructions) = &config.server.instructions {
            builder = builder.instructions(instructions);
        }
        let unplaced = |source| GatewayError::Register { at: None, source };
        let server = builder.build().map_err(unplaced)?;
        let gateway = Self { server, environment, config: RwLock::default() };
        gateway.apply(config)?;
        Ok(gateway)
    }

    /// Returns the server.
    pub fn server(&self) -> &Server {
        &self.server
    }

    /// Returns the configuration in force.
    pub fn config(&self) -> Arc<Config> {
        self.config.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Puts a new configuration in force, all of it or none. Calls under way end as they began.
    ///
    /// # Errors
    /// When something that it declares cannot be carried out or registered; the old one stays in force.
    pub fn reload(&self, config: Config) -> Result<ReloadReport, GatewayError> {
        let (old_config, old_catalog) = (self.config(), self.server.catalog());
        let on_restart = on_restart(&old_config, &config);
        self.apply(config)?;
        let names = |catalog: &Catalog| catalog.tools().map(|it| it.name().to_string()).collect::<Vec<_>>();
        let (old, new) = (names(&old_catalog), names(&self.server.catalog()));
        let only_in = |these: &[String], those: &[String]| {
            these.iter().filter(|name| !those.contains(name)).cloned().collect::<Vec<_>>()
        };
        let report = ReloadReport { added: only_in(&new, &old), removed: only_in(&old, &new), on_restart };
        tracing::info!(
            added = ?report.added,
            removed = ?report.removed,
            on_restart = ?report.on_restart,
            "configuration reloaded"
        );
        Ok(report)
    }

    fn apply(&self, config: Config) -> Result<(), GatewayError> {
        let declared = Declared::from_config(&config, &self.environment)?;
        self.server.shared_catalog().replace(|catalog| {
            catalog.remove_source(&Source::Config);
            for (at, tool) in declared.tools {
                placed(at, catalog.add_tool(tool, Source::Config))?;
            }
            for (at, resource) in declared.resources {
                placed(at, catalog.add_resource(resource, Source::Config))?;
            }
            for (at, prompt) in declared.prompts {
                placed(at, catalog.add_prompt(prompt, Source::Config))?;
            }
            catalog.set_rules(rules(&config));
            Ok::<_, GatewayError>(())
        })?;
        *self.config.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(config);
        Ok(())
    }
}

fn placed(at: Location, registered: Result<(), RegisterError>) -> Result<(), GatewayError> {
    registered.map_err(|source| GatewayError::Register { at: Some(at), source })
}

fn rules(config: &Config) -> Rules {
    Rules { policy: config.policy.clone(), docs: config.docs.tools.clone(), renames: config.renames.clone() }
}

/// Returns the settings that differ but are fixed when the server starts.
fn on_restart(old: &Config, new: &Config) -> Vec<&'static str> {
    let fixed = [
        ("server", old.server != new.server),
        ("http", old.http != new.http),
        ("protocol", old.protocol_max != new.protocol_max),
    ];
    fixed.into_iter().filter(|(_, differs)| *differs).map(|(name, _)| name).collect()
}
