//! What the process was given: its environment, home and working directory. Nothing else in onetool reads them.

#![expect(clippy::disallowed_methods, reason = "this is the one place that reads the environment")]

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use onetool::config::{self, Config};
use onetool::{ChildEnvironment, GatewayOptions, Guard};

use crate::error::CliError;

const FOLDER: &str = ".onetool";
const FILE: &str = "onetool.yaml";

/// Variables that child processes inherit, beside those of the locale.
const INHERITED: [&str; 3] = ["PATH", "HOME", "LANG"];

/// What the process was given.
#[derive(Clone)]
pub(crate) struct Environment {
    pub(crate) directory: PathBuf,
    home: Option<PathBuf>,
    pub(crate) config_file: Option<PathBuf>,
    pub(crate) log_filter: Option<String>,
}

impl Environment {
    pub(crate) fn of_process() -> Self {
        let variable = |name| std::env::var_os(name).filter(|value| !value.is_empty());
        Self {
            directory: std::env::current_dir().unwrap_or_default(),
            home: variable("HOME").map(PathBuf::from),
            config_file: variable("ONETOOL_CONFIG").map(PathBuf::from),
            log_filter: variable("ONETOOL_LOG").and_then(|value| value.into_string().ok()),
        }
    }

    /// Returns the configuration file in force: the one asked for, else the first that exists.
    pub(crate) fn find_config(&self, asked_for: Option<&Path>) -> Option<PathBuf> {
        let named = asked_for.map(Path::to_owned).or_else(|| self.config_file.clone());
        let folders = [Some(&self.directory), self.home.as_ref()];
        named.or_else(|| {
            folders.into_iter().flatten().map(|it| it.join(FOLDER).join(FILE)).find(|it| it.is_file())
        })
    }

    /// Reads the configuration in force, or the built-in defaults where there is no file.
    pub(crate) fn load_config(&self, asked_for: Option<&Path>) -> Result<Config, CliError> {
        match self.find_config(asked_for) {
            Some(path) => Ok(config::load(&path, &|name| std::env::var(name).ok())?),
            None => Ok(Config::default()),
        }
    }

    /// Returns the folder for what onetool itself keeps: the `.onetool` beside (or around) the configuration.
    pub(crate) fn state_folder(&self, config: &Config) -> PathBuf {
        let beside = config.path.as_deref().and_then(Path::parent).unwrap_or(&self.directory);
        if beside.file_name().is_some_and(|name| name == FOLDER) {
            beside.to_owned()
        } else {
            beside.join(FOLDER)
        }
    }

    /// Returns what the gateway gets from the process around it.
    pub(crate) fn gateway_options(&self, config: &Config, asked_for: Option<&Path>) -> GatewayOptions {
        let (environment, asked_for) = (self.clone(), asked_for.map(Path::to_owned));
        let load =
            move || environment.load_config(asked_for.as_deref()).map_err(|error| error.message().to_owned());
        GatewayOptions {
            children: Self::for_children(),
            directory: self.directory.clone(),
            state: self
                .home
                .iter()
                .map(|home| home.join(FOLDER))
                .chain([self.state_folder(config)])
                .collect(),
            storage: Some(self.state_folder(config).join("onetool.db")),
            worker: worker(),
            guard: guard(),
            cache: Some(self.state_folder(config).join("cache").join("openapi")),
            load: Some(Arc::new(load)),
            operator_reload: None,
        }
    }

    /// Returns the home directory, if there is one.
    pub(crate) fn home(&self) -> Option<&Path> {
        self.home.as_deref()
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
