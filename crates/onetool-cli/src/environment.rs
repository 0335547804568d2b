//! The process environment: variables, home and working directory. Nothing else in onetool reads them.

#![expect(clippy::disallowed_methods, reason = "this is the only file that reads the environment")]

use std::path::{Path, PathBuf};

use onetool::config::{self, Config, Outline};
use onetool::{ChildEnvironment, GatewayOptions, Guard, OpenStore};

use crate::error::CliError;
use crate::trust::{Project, TrustStore};

const STATE_DIRECTORY: &str = ".onetool";
const CONFIG_FILE: &str = "onetool.yaml";

/// The variable with the configuration paths of all gateways above this process, in the format of `PATH`.
const GATEWAYS_VARIABLE: &str = "ONETOOL_GATEWAYS";

/// The process environment.
#[derive(Clone)]
pub(crate) struct Environment {
    pub(crate) directory: PathBuf,
    home: Option<PathBuf>,
    pub(crate) config_file: Option<PathBuf>,
    pub(crate) log_filter: Option<String>,
    pub(crate) log_format: Option<String>,
}

impl Environment {
    pub(crate) fn from_process() -> Self {
        let variable = |name| std::env::var_os(name).filter(|value| !value.is_empty());
        Self {
            directory: std::env::current_dir().unwrap_or_default(),
            home: variable("HOME").map(PathBuf::from),
            config_file: variable("ONETOOL_CONFIG").map(PathBuf::from),
            log_filter: variable("ONETOOL_LOG").and_then(|value| value.into_string().ok()),
            log_format: variable("ONETOOL_LOG_FORMAT").and_then(|value| value.into_string().ok()),
        }
    }

    /// Returns the project in the working directory, if it has its own configuration.
    pub(crate) fn project(&self) -> Option<Project> {
        self.project_in(&self.directory)
    }

    /// Returns the project in a directory, if it has a configuration other than the one in the home directory.
    pub(crate) fn project_in(&self, directory: &Path) -> Option<Project> {
        let state = directory.join(STATE_DIRECTORY);
        let config = state.join(CONFIG_FILE);
        let is_home_config = || {
            let home_config = self.home_config().and_then(|it| it.canonicalize().ok());
            home_config.is_some() && home_config == config.canonicalize().ok()
        };
        (config.is_file() && !is_home_config()).then(|| Project {
            directory: directory.to_owned(),
            state,
            config,
        })
    }

    /// Returns the configuration file that commands edit: the named one, the project's, or the home directory's.
    pub(crate) fn find_config(&self, named: Option<&Path>) -> Option<PathBuf> {
        let named = named.map(Path::to_owned).or_else(|| self.config_file.clone());
        let project = || Some(self.new_config_path());
        named.or_else(|| [project(), self.home_config()].into_iter().flatten().find(|it| it.is_file()))
    }

    /// Returns the path of the configuration in the home directory, whether or not it exists.
    pub(crate) fn home_config(&self) -> Option<PathBuf> {
        self.home_state().map(|it| it.join(CONFIG_FILE))
    }

    /// Reads a configuration.
    pub(crate) fn read_config(path: &Path) -> Result<Config, CliError> {
        Ok(config::load(path, &|name| std::env::var(name).ok())?)
    }

    /// Reads what a configuration would run or connect to.
    pub(crate) fn read_outline(path: &Path) -> Result<Outline, CliError> {
        Ok(config::outline(path, &|name| std::env::var(name).ok())?)
    }

    /// Returns the directory for onetool's own files: the `.onetool` that contains the configuration or is next to it,
    /// or the one in the home directory if there is no configuration file. Never the one in the working directory,
    /// because anyone may have put files there.
    pub(crate) fn state_directory(&self, config: &Config) -> Option<PathBuf> {
        let Some(parent) = config.path.as_deref().and_then(Path::parent) else { return self.home_state() };
        let is_state = parent.file_name().is_some_and(|name| name == STATE_DIRECTORY);
        Some(if is_state { parent.to_owned() } else { parent.join(STATE_DIRECTORY) })
    }

    /// Returns the gateway options that come from the process environment.
    pub(crate) fn gateway_options(&self, config: &Config) -> GatewayOptions {
        let state = self.state_directory(config);
        // The gateways above the children are those above this process, and this one. The variable is not set if a path
        // contains a colon, because the format has no escapes.
        let gateways = std::env::join_paths(gateways_above().into_iter().chain(identity(config)));
        let gateways = gateways.ok().map(|list| (GATEWAYS_VARIABLE.into(), list));
        let mut options = GatewayOptions::default();
        options.children = std::env::vars_os().chain(gateways).collect();
        options.directory.clone_from(&self.directory);
        options.state = self.home_state().into_iter().chain(state.clone()).collect();
        options.store = state.as_ref().map(|it| OpenStore::sqlite(it.join("onetool.db"))).unwrap_or_default();
        options.worker = worker();
        options.guard = guard();
        options.cache = state.map(|it| it.join("cache").join("openapi"));
        options
    }

    /// Fails if a gateway above this process serves the same configuration, because it would start itself endlessly.
    pub(crate) fn check_not_recursive(config: &Config) -> Result<(), CliError> {
        let Some(own) = identity(config).filter(|own| gateways_above().contains(own)) else { return Ok(()) };
        let error =
            format!("this gateway would start itself: a parent process already serves {}", own.display());
        let hint = "remove the server that runs onetool from `servers`, or give it a different configuration";
        Err(CliError::failed(error).hinted(hint))
    }

    /// Returns the store of trusted projects.
    pub(crate) fn trust_store(&self) -> TrustStore {
        TrustStore::new(self.home_state().as_deref())
    }

    /// Returns the home directory, if `HOME` is set.
    pub(crate) fn home(&self) -> Option<&Path> {
        self.home.as_deref()
    }

    fn home_state(&self) -> Option<PathBuf> {
        self.home.as_ref().map(|home| home.join(STATE_DIRECTORY))
    }

    /// Returns the path that `init` writes to.
    pub(crate) fn new_config_path(&self) -> PathBuf {
        self.directory.join(STATE_DIRECTORY).join(CONFIG_FILE)
    }

    /// Returns the variables that child processes inherit: `PATH`, `HOME` and the locale, but no secrets.
    pub(crate) fn for_children() -> ChildEnvironment {
        std::env::vars_os().collect()
    }
}

/// Returns the path that identifies a gateway: its configuration file.
fn identity(config: &Config) -> Option<PathBuf> {
    config.path.as_deref()?.canonicalize().ok()
}

/// Returns the gateways that started this process, directly or indirectly.
fn gateways_above() -> Vec<PathBuf> {
    let inherited = std::env::var_os(GATEWAYS_VARIABLE).unwrap_or_default();
    std::env::split_paths(&inherited).filter(|path| !path.as_os_str().is_empty()).collect()
}

/// Returns the command for guard processes, which is this program.
pub(crate) fn guard() -> Option<Guard> {
    let program = std::env::current_exe().ok()?;
    Some(Guard { program, args: vec!["__guard".into()] })
}

/// Returns the command for worker processes, which is this program.
fn worker() -> Option<onetool::WorkerCommand> {
    let program = std::env::current_exe().ok()?;
    Some(onetool::WorkerCommand { program, args: vec!["__worker".into()] })
}
