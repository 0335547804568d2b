//! Which configuration applies: the one that was named, the project's if the user trusts it, or the one in the home.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use onetool::config::Config;

use crate::environment::Environment;
use crate::error::CliError;
use crate::trust::{TrustStore, Untrusted, Verdict};

/// Reads the configuration, at the start and for every reload. Cheap to clone.
#[derive(Clone)]
pub(crate) struct ConfigReader {
    environment: Environment,
    named: Option<PathBuf>,
    /// Whether the project is trusted without being asked about.
    trusts_project: bool,
    /// Whether the configuration in force is the project's.
    uses_project: Arc<AtomicBool>,
}

/// A configuration, and the one that should be in its place.
pub(crate) struct Loaded {
    pub(crate) config: Config,
    /// The project whose configuration was left out.
    pub(crate) untrusted: Option<Untrusted>,
}

impl ConfigReader {
    pub(crate) fn new(environment: &Environment, named: Option<&Path>, trusts_project: bool) -> Self {
        let named = named.map(Path::to_owned).or_else(|| environment.config_file.clone());
        Self { environment: environment.clone(), named, trusts_project, uses_project: Arc::default() }
    }

    /// Reads the configuration; one that is not trusted is left out, and told.
    pub(crate) fn load(&self) -> Result<Loaded, CliError> {
        if let Some(path) = &self.named {
            return Ok(Loaded { config: Environment::read_config(path)?, untrusted: None });
        }
        let untrusted = match self.environment.project() {
            None => None,
            Some(project) if self.trusts_project => {
                return Ok(Loaded { config: Environment::read_config(&project.config)?, untrusted: None });
            }
            Some(project) => match Environment::outline(&project.config) {
                Err(error) => Some(Untrusted::new(project, Verdict::Unknown, Err(error))),
                Ok(outline) => match self.trust().verdict(&project, &outline) {
                    Verdict::Trusted => {
                        let config = Environment::read_config(&project.config)?;
                        if config.files == outline.files {
                            self.uses_project.store(true, Ordering::Relaxed);
                            return Ok(Loaded { config, untrusted: None });
                        }
                        Some(Untrusted::new(project, Verdict::Unknown, Ok(outline)))
                    }
                    verdict => Some(Untrusted::new(project, verdict, Ok(outline))),
                },
            },
        };
        let own = self.environment.home_config().filter(|it| it.is_file());
        let mut config = own.map_or_else(|| Ok(Config::default()), |it| Environment::read_config(&it))?;
        config.notice = untrusted.as_ref().map(Untrusted::notice);
        Ok(Loaded { config, untrusted })
    }

    /// Reads the configuration for a command that needs all of it.
    pub(crate) fn load_trusted(&self) -> Result<Config, CliError> {
        let Loaded { config, untrusted } = self.load()?;
        untrusted.map_or(Ok(config), |untrusted| Err(untrusted.into_error()))
    }

    /// Reads the configuration again. A project's that is in force stays so until what has changed is trusted.
    pub(crate) fn reload(&self) -> Result<Config, CliError> {
        if self.uses_project.load(Ordering::Relaxed) { self.load_trusted() } else { Ok(self.load()?.config) }
    }

    pub(crate) fn trust(&self) -> TrustStore {
        self.environment.trust()
    }

    pub(crate) fn environment(&self) -> &Environment {
        &self.environment
    }
}
