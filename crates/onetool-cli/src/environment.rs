//! What the process was given: its environment, home and working directory. Nothing else in onetool reads them.

#![expect(clippy::disallowed_methods, reason = "this is the one place that reads the environment")]

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use onetool::config::{self, Config, Outline};
use onetool::{ChildEnvironment, GatewayOptions, Guard};

use crate::error::CliError;
use crate::trust::{Project, TrustStore};

const FOLDER: &str = ".onetool";
const FILE: &str = "onetool.yaml";

/// Variables that child processes inherit, beside those of the locale.
const INHERITED: [&str; 3] = ["PATH", "HOME", "LANG"];

/// The configurations of the gateways that this process was started by, directly or not, as a list of paths.
const GATEWAYS: &str = "ONETOOL_GATEWAYS";

/// What the process was given.
#[derive(Clone)]
pub(crate) struct Environment {
    pub(crate) directory: PathBuf,
    home: Option<PathBuf>,
    pub(crate) config_file: Option<PathBuf>,
    pub(crate) log_filter: Option<String>,
    pub(crate) log_format: Option<String>,
}

impl Environment {
    pub(crate) fn of_process() -> Self {
        let variable = |name| std::env::var_os(name).filter(|value| !value.is_empty());
        Self {
            directory: std::env::current_dir().unwrap_or_default(),
            home: variable("HOME").map(PathBuf::from),
            config_file: variable("ONETOOL_CONFIG").map(PathBuf::from),
            log_filter: variable("ONETOOL_LOG").and_then(|value| value.into_string().ok()),
            log_format: variable("ONETOOL_LOG_FORMAT").and_then(|value| value.into_string().ok()),
        }
    }

    /// Returns the project in the working directory, if it has a configuration of its own.
    pub(crate) fn project(&self) -> Option<Project> {
        self.project_in(&self.directory)
    }

    /// Returns the project in a directory, if it has a configuration that is not the one of the home directory.
    pub(crate) fn project_in(&self, directory: &Path) -> Option<Project> {
        let state = directory.join(FOLDER);
        let config = state.join(FILE);
        let is_own = || {
            let own = self.home_config().and_then(|it| it.canonicalize().ok());
            own.is_some() && own == config.canonicalize().ok()
        };
        (config.is_file() && !is_own()).then(|| Project { directory: directory.to_owned(), state, config })
    }

    /// Returns the configuration file that commands edit: the named one, the project's or the one of the home.
    pub(crate) fn find_config(&self, named: Option<&Path>) -> Option<PathBuf> {
        let named = named.map(Path::to_owned).or_else(|| self.config_file.clone());
        let project = || Some(self.new_config_path());
        named.or_else(|| [project(), self.home_config()].into_iter().flatten().find(|it| it.is_file()))
    }

    /// Returns where the user's own configuration is, whether or not it exists.
    pub(crate) fn home_config(&self) -> Option<PathBuf> {
        self.home_state().map(|it| it.join(FILE))
    }

    /// Reads a configuration.
    pub(crate) fn read_config(path: &Path) -> Result<Config, CliError> {
        Ok(config::load(path, &|name| std::env::var(name).ok())?)
    }

    /// Reads what a configuration would start, without starting it.
    pub(crate) fn outline(path: &Path) -> Result<Outline, CliError> {
        Ok(config::outline(path, &|name| std::env::var(name).ok())?)
    }

    /// Returns the folder for what onetool itself keeps: the `.onetool` beside (or around) the configuration, and without
    /// one that of the home directory. A working directory is not asked: anybody may have put something there.
    pub(crate) fn state_folder(&self, config: &Config) -> Option<PathBuf> {
        let Some(beside) = config.path.as_deref().and_then(Path::parent) else { return self.home_state() };
        let is_state = beside.file_name().is_some_and(|name| name == FOLDER);
        Some(if is_state { beside.to_owned() } else { beside.join(FOLDER) })
    }

    /// Returns what the gateway gets from the process around it.
    pub(crate) fn gateway_options(&self, config: &Config) -> GatewayOptions {
        let state = self.state_folder(config);
        // Those above its children: those above this process, and this one. A path with a colon is not told.
        let gateways = std::env::join_paths(gateways_above().into_iter().chain(identity(config)));
        let gateways = gateways.ok().map(|list| (GATEWAYS.into(), list));
        GatewayOptions {
            children: Self::for_children().into_iter().chain(gateways).collect(),
            directory: self.directory.clone(),
            state: self.home_state().into_iter().chain(state.clone()).collect(),
            storage: state.as_ref().map(|it| it.join("onetool.db")),
            worker: worker(),
            guard: guard(),
            cache: state.map(|it| it.join("cache").join("openapi")),
            load: None,
            operator_reload: None,
        }
    }

    /// Refuses to serve a configuration that a gateway above this process serves: it would start itself without end.
    pub(crate) fn refuse_to_start_itself(config: &Config) -> Result<(), CliError> {
        let Some(own) = identity(config).filter(|own| gateways_above().contains(own)) else { return Ok(()) };
        let error =
            format!("this gateway would start itself: a parent process already serves {}", own.display());
        let hint = "remove the server that runs onetool from `servers`, or give it a different configuration";
        Err(CliError::failed(error).hinted(hint))
    }

    /// Returns the projects that the user trusts.
    pub(crate) fn trust(&self) -> TrustStore {
        TrustStore::new(self.home_state().as_deref())
    }

    /// Returns the home directory, if there is one.
    pub(crate) fn home(&self) -> Option<&Path> {
        self.home.as_deref()
    }

    fn home_state(&self) -> Option<PathBuf> {
        self.home.as_ref().map(|home| home.join(FOLDER))
    }

    /// Returns where `init` writes.
    pub(crate) fn new_config_path(&self) -> PathBuf {
        self.directory.join(FOLDER).join(FILE)
    }

    /// Returns the variables that child processes inherit: `PATH`, `HOME` and the locale, and no secret.
    pub(crate) fn for_children() -> ChildEnvironment {
        let is_inherited = |name: &OsString| {
            name.to_str().is_some_and(|name| INHERITED.contains(&name) || name.starts_with("LC_"))
        };
        std::env::vars_os().filter(|(name, _)| is_inherited(name)).collect()
    }
}

/// Returns what tells one gateway from another: where its configuration is.
fn identity(config: &Config) -> Option<PathBuf> {
    config.path.as_deref()?.canonicalize().ok()
}

/// Returns the gateways that started this process, directly or not.
fn gateways_above() -> Vec<PathBuf> {
    let inherited = std::env::var_os(GATEWAYS).unwrap_or_default();
    std::env::split_paths(&inherited).filter(|path| !path.as_os_str().is_empty()).collect()
}

/// Children of other servers are watched by another process of this program.
pub(crate) fn guard() -> Option<Guard> {
    let program = std::env::current_exe().ok()?;
    Some(Guard { program, args: vec!["__guard".into()] })
}

/// Code runs and documents are read in other processes of this program.
fn worker() -> Option<onetool::WorkerCommand> {
    let program = std::env::current_exe().ok()?;
    Some(onetool::WorkerCommand { program, args: vec!["__worker".into()] })
}
