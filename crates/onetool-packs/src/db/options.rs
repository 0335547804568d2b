//! The options of the pack `db`.

use std::path::PathBuf;

use indexmap::IndexMap;
use onetool_config::{ConfigError, PendingChanges, Seconds, Secret, Section};
use onetool_core::Pack;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::options::{PackContext, PackOptions};

/// Queries the databases in `urls`.
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[non_exhaustive]
pub(crate) struct DbOptions {
    /// Databases by name: `sqlite:` and a path relative to the configuration file, or `postgres://…`. Without
    /// databases, there is no pack.
    pub(crate) urls: IndexMap<String, Secret>,
    /// Names of databases that may be changed; all others are read-only.
    pub(crate) writable: Vec<String>,
    /// Names of PostgreSQL databases that may use a superuser, or a role that can access the server's files or run
    /// programs there. For other databases, such a role is refused.
    pub(crate) privileged: Vec<String>,
    /// Time limit of a query in seconds.
    pub(crate) timeout: Seconds,
    /// Whether the pack is enabled.
    pub(crate) enabled: bool,
    /// The databases, from the first three keys, which are empty after [`PackOptions::check`].
    #[serde(skip)]
    pub(crate) databases: IndexMap<String, Database>,
}

/// A database.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Database {
    /// The URL as written, which callers may use instead of the name.
    pub(crate) written: Secret,
    pub(crate) address: DatabaseAddress,
    pub(crate) is_writable: bool,
    pub(crate) is_privileged: bool,
}

/// Where a database is.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum DatabaseAddress {
    Sqlite(PathBuf),
    /// A URL that may contain a password.
    Postgres(Secret),
}

impl Default for DbOptions {
    fn default() -> Self {
        Self {
            urls: IndexMap::new(),
            writable: Vec::new(),
            privileged: Vec::new(),
            timeout: Seconds::new(30),
            enabled: true,
            databases: IndexMap::new(),
        }
    }
}

impl PackOptions for DbOptions {
    const NAME: &'static str = "db";

    fn is_enabled(&self) -> bool {
        self.enabled && !self.databases.is_empty()
    }

    fn check(&mut self, section: &Section<'_>, _: &Section<'_>) -> Result<(), ConfigError> {
        let urls = std::mem::take(&mut self.urls);
        let (writable, privileged) =
            (std::mem::take(&mut self.writable), std::mem::take(&mut self.privileged));
        for (key, names) in [("writable", &writable), ("privileged", &privileged)] {
            if let Some(index) = names.iter().position(|name| !urls.contains_key(name)) {
                let message = format!("no database under 'urls' is named '{}'", names[index]);
                return Err(section.field(key).item(index).invalid(message));
            }
        }
        let database = |(name, url): (&String, &Secret)| {
            let section = section.field("urls").field(name);
            if name.trim().is_empty() {
                return Err(section.invalid("the name must not be empty"));
            }
            let database = Database {
                written: url.clone(),
                address: address(url, &section)?,
                is_writable: writable.contains(name),
                is_privileged: privileged.contains(name),
            };
            Ok((name.clone(), database))
        };
        self.databases = urls.iter().map(database).collect::<Result<_, _>>()?;
        Ok(())
    }

    fn build(&self, context: &PackContext) -> Pack {
        let PackContext { own_files, jobs, .. } = context.clone();
        super::build(self.databases.clone(), *self.timeout, own_files, jobs)
    }

    fn secrets(&self) -> Vec<&Secret> {
        let password = |database: &'_ Database| matches!(database.address, DatabaseAddress::Postgres(_));
        self.databases.values().filter(|it| password(it)).map(|it| &it.written).collect()
    }

    fn used_files(&self) -> Vec<PathBuf> {
        let file = |database: &Database| match &database.address {
            DatabaseAddress::Sqlite(path) => Some(path.clone()),
            DatabaseAddress::Postgres(_) => None,
        };
        self.databases.values().filter_map(file).collect()
    }

    fn restrict(&self, new: Self, pending: &mut PendingChanges) -> Self {
        let allowed = |old: &Database, new: &Database| Database {
            is_writable: old.is_writable && new.is_writable,
            is_privileged: old.is_privileged && new.is_privileged,
            ..old.clone()
        };
        let databases = pending.entries("packs.db.urls", &self.databases, new.databases, allowed);
        Self { databases, ..new }
    }
}

fn address(url: &Secret, section: &Section<'_>) -> Result<DatabaseAddress, ConfigError> {
    let text = url.expose();
    if text.starts_with("postgres://") || text.starts_with("postgresql://") {
        return Ok(DatabaseAddress::Postgres(url.clone()));
    }
    match text.strip_prefix("sqlite:").filter(|it| !it.is_empty()) {
        Some(path) => Ok(DatabaseAddress::Sqlite(section.absolute_path(path))),
        None => Err(section.invalid("must be 'sqlite:' and a file, or begin with postgres://")),
    }
}

#[cfg(test)]
mod tests;
