//! The interface between a pack and the rest of onetool.

use std::any::Any;
use std::fmt::Debug;
use std::path::PathBuf;
use std::sync::Arc;

use onetool_cage::Jobs;
use onetool_config::{ConfigError, PendingChanges, Redactor, Secret, Section};
use onetool_core::Pack;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::de::DeserializeOwned;

use crate::own_files::OwnFiles;

/// What the gateway provides to packs.
#[derive(Clone)]
pub struct PackContext {
    /// onetool's own files, which no tool opens.
    pub own_files: OwnFiles,
    /// Runs jobs in worker processes. Without it, the pack `web` cannot read pages, and SQLite runs in this process.
    pub jobs: Option<Arc<Jobs>>,
    /// Removes the values of variables from messages.
    pub redactor: Redactor,
}

/// The options of one pack: the map under `packs.NAME`.
pub(crate) trait PackOptions:
    DeserializeOwned + JsonSchema + Default + Clone + PartialEq + Debug + Send + Sync + 'static
{
    /// The name of the pack and its key.
    const NAME: &'static str;

    /// Returns whether these options enable the pack.
    fn is_enabled(&self) -> bool;

    /// Checks rules that involve several keys. `section` is `packs.NAME`, and `packs` is the map that contains it.
    fn check(&mut self, section: &Section<'_>, packs: &Section<'_>) -> Result<(), ConfigError> {
        let _ = (section, packs);
        Ok(())
    }

    /// Builds the pack.
    fn build(&self, context: &PackContext) -> Pack;

    /// Returns the values that must never be shown.
    fn secrets(&self) -> Vec<&Secret> {
        Vec::new()
    }

    /// Returns the directories that the tools can reach.
    fn roots(&self) -> Vec<PathBuf> {
        Vec::new()
    }

    /// Returns files that the pack opens, and that other tools may read but not change.
    fn used_files(&self) -> Vec<PathBuf> {
        Vec::new()
    }

    /// Returns the part of the change to `new` that an agent may make: nothing that gives agents more rights.
    fn restrict(&self, new: Self, pending: &mut PendingChanges) -> Self {
        pending.keep(&format!("packs.{}", Self::NAME), self, new)
    }
}

/// [`PackOptions`] as a trait object.
pub(crate) trait AnyOptions: Any + Debug + Send + Sync {
    fn is_enabled(&self) -> bool;
    fn build(&self, context: &PackContext) -> Pack;
    fn secrets(&self) -> Vec<&Secret>;
    fn roots(&self) -> Vec<PathBuf>;
    fn used_files(&self) -> Vec<PathBuf>;
    fn restrict(&self, new: &dyn AnyOptions, pending: &mut PendingChanges) -> Arc<dyn AnyOptions>;
    fn equals(&self, other: &dyn AnyOptions) -> bool;
}

impl<T: PackOptions> AnyOptions for T {
    fn is_enabled(&self) -> bool {
        PackOptions::is_enabled(self)
    }

    fn build(&self, context: &PackContext) -> Pack {
        PackOptions::build(self, context)
    }

    fn secrets(&self) -> Vec<&Secret> {
        PackOptions::secrets(self)
    }

    fn roots(&self) -> Vec<PathBuf> {
        PackOptions::roots(self)
    }

    fn used_files(&self) -> Vec<PathBuf> {
        PackOptions::used_files(self)
    }

    fn restrict(&self, new: &dyn AnyOptions, pending: &mut PendingChanges) -> Arc<dyn AnyOptions> {
        match (new as &dyn Any).downcast_ref::<T>() {
            Some(new) => Arc::new(PackOptions::restrict(self, new.clone(), pending)),
            None => Arc::new(self.clone()),
        }
    }

    fn equals(&self, other: &dyn AnyOptions) -> bool {
        (other as &dyn Any).downcast_ref::<T>() == Some(self)
    }
}

/// How to read the options of one kind of pack.
pub(crate) struct Kind {
    pub(crate) name: &'static str,
    pub(crate) schema: fn(&mut SchemaGenerator) -> Schema,
    /// Reads the options from `packs.NAME` and the map that contains it.
    pub(crate) read: ReadOptions,
}

pub(crate) type ReadOptions = fn(&Section<'_>, &Section<'_>) -> Result<Arc<dyn AnyOptions>, ReadError>;

/// Why options cannot be read.
pub(crate) enum ReadError {
    /// The options are invalid.
    Invalid(ConfigError),
    /// This program was built without the pack.
    #[cfg_attr(
        all(
            feature = "brave",
            feature = "db",
            feature = "file",
            feature = "llm",
            feature = "package",
            feature = "ripgrep",
            feature = "web"
        ),
        expect(dead_code, reason = "this program has every pack")
    )]
    NotBuilt { feature: &'static str },
}

impl Kind {
    /// Creates the entry for a type of options.
    pub(crate) const fn new<T: PackOptions>() -> Self {
        Self { name: T::NAME, schema: T::json_schema, read: read::<T> }
    }
}

fn read<T: PackOptions>(
    section: &Section<'_>,
    packs: &Section<'_>,
) -> Result<Arc<dyn AnyOptions>, ReadError> {
    let mut options: T = section.read().map_err(ReadError::Invalid)?;
    options.check(section, packs).map_err(ReadError::Invalid)?;
    Ok(Arc::new(options))
}
