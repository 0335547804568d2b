//! The key `storage`.

use std::path::{Path, PathBuf};

use onetool_config::{ConfigError, Section};
use onetool_store::StoreLocation;
use schemars::JsonSchema;
use serde::Deserialize;

/// Where results and statistics are stored.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[non_exhaustive]
pub struct StorageConfig {
    /// `sqlite:` and a path, relative to the configuration file. Default: `sqlite:onetool.db` in the directory
    /// `.onetool`.
    url: Option<String>,
    #[serde(skip)]
    file: Option<PathBuf>,
}

impl StorageConfig {
    /// Stores everything in a SQLite file.
    pub fn sqlite(file: impl Into<PathBuf>) -> Self {
        Self { url: None, file: Some(file.into()) }
    }

    /// Returns the SQLite file, if the configuration names one.
    pub fn file(&self) -> Option<&Path> {
        self.file.as_deref()
    }

    /// Returns where the store is, if the configuration says it.
    pub fn location(&self) -> Option<StoreLocation> {
        self.file.clone().map(StoreLocation::Sqlite)
    }

    pub(super) fn read(section: &Section<'_>) -> Result<Self, ConfigError> {
        let storage: Self = section.read()?;
        let Some(url) = &storage.url else { return Ok(storage) };
        let section = section.field("url");
        match url.strip_prefix("sqlite:").filter(|it| !it.is_empty()) {
            Some(path) => Ok(Self { file: Some(section.absolute_path(path)), ..storage }),
            None => Err(section.invalid("must be 'sqlite:' and a file, for example sqlite:onetool.db")),
        }
    }
}
