//! Selects the configuration: the named file, the project's if it is trusted, or the one in the home directory.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use onetool::config::Config;

use crate::environment::Environment;
use crate::error::CliError;
use crate::trust::{TrustStatus, TrustStore, UntrustedProject};

/// Reads the configuration at startup and for every reload. Cheap to clone.
#[derive(Clone)]
pub(crate) struct ConfigReader {
    environment: Environment,
    /// The file from `--config` or `ONETOOL_CONFIG`.
    named: Option<PathBuf>,
    /// Whether to use the project's configuration without checking for trust (`--trust`).
    trust_project: bool,
    /// Whether the current configuration is the project's, after a check for trust.
    uses_project: Arc<AtomicBool>,
}

/// A configuration, and the project whose configuration was skipped, if any.
pub(crate) struct Loaded {
    pub(crate) config: Config,
    pub(crate) untrusted: Option<UntrustedProject>,
}

impl ConfigReader {
    pub(crate) fn new(environment: &Environment, named: Option<&Path>, trust_project: bool) -> Self {
        let named = named.map(Path::to_owned).or_else(|| environment.config_file.clone());
        Self { environment: environment.clone(), named, trust_project, uses_project: Arc::default() }
    }

    /// Reads the configuration. An untrusted project's is skipped and returned as `untrusted`.
    pub(crate) fn load(&self) -> Result<Loaded, CliError> {
        if let Some(path) = &self.named {
            return Ok(Loaded { config: Environment::read_config(path)?, untrusted: None });
        }
        let untrusted = match self.environment.project() {
            None => None,
            Some(project) if self.trust_project => {
                return Ok(Loaded { config: Environment::read_config(&project.config)?, untrusted: None });
            }
            Some(project) => match Environment::read_outline(&project.config) {
                Err(error) => Some(UntrustedProject::new(project, TrustStatus::NotTrusted, Err(error))),
                Ok(outline) => match self.trust_store().status(&project, &outline) {
                    TrustStatus::Trusted => {
                        let config = Environment::read_config(&project.config)?;
                        // A file may have changed since the outline was read and checked.
                        if config.files == outline.files {
                            self.uses_project.store(true, Ordering::Relaxed);
                            return Ok(Loaded { config, untrusted: None });
                        }
                        Some(UntrustedProject::new(project, TrustStatus::NotTrusted, Ok(outline)))
                    }
                    status => Some(UntrustedProject::new(project, status, Ok(outline))),
                },
            },
        };
        let home_config = self.environment.home_config().filter(|it| it.is_file());
        let mut config =
            home_config.map_or_else(|| Ok(Config::default()), |it| Environment::read_config(&it))?;
        config.notice = untrusted.as_ref().map(UntrustedProject::notice);
        Ok(Loaded { config, untrusted })
    }

    /// Reads the configuration; fails if the project's is not trusted.
    pub(crate) fn load_trusted(&self) -> Result<Config, CliError> {
        let Loaded { config, untrusted } = self.load()?;
        untrusted.map_or(Ok(config), |untrusted| Err(untrusted.into_error()))
    }

    /// Reads the configuration again. Fails if the project's is active and has changes that are not trusted, so that it
    /// stays active.
    pub(crate) fn reload(&self) -> Result<Config, CliError> {
        if self.uses_project.load(Ordering::Relaxed) { self.load_trusted() } else { Ok(self.load()?.config) }
    }

    pub(crate) fn trust_store(&self) -> TrustStore {
        self.environment.trust_store()
    }

    pub(crate) fn environment(&self) -> &Environment {
        &self.environment
    }
}
