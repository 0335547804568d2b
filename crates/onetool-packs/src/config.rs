//! The key `packs:`: the enabled built-in packs and their options.

use std::fs::File;
use std::path::PathBuf;
use std::sync::Arc;

use onetool_config::{ConfigError, Location, PendingChanges, Secret, Section};
use onetool_core::{JsonObject, Pack, PackError};
use schemars::SchemaGenerator;

use crate::kinds::KINDS;
use crate::options::{AnyOptions, PackContext, ReadError};
use crate::own_files::OwnFiles;

/// The built-in packs that a configuration enables.
#[derive(Debug, Clone, PartialEq)]
pub struct PacksConfig {
    packs: Vec<ConfiguredPack>,
}

#[derive(Debug, Clone)]
struct ConfiguredPack {
    name: &'static str,
    options: Options,
    /// Where the configuration names the pack. A pack that it does not name yields to another pack with that name.
    at: Option<Location>,
}

#[derive(Debug, Clone)]
enum Options {
    Known(Arc<dyn AnyOptions>),
    /// The configuration names a pack that this program was built without.
    NotBuilt {
        feature: &'static str,
    },
}

impl PartialEq for ConfiguredPack {
    fn eq(&self, other: &Self) -> bool {
        let same_options = match (&self.options, &other.options) {
            (Options::Known(options), Options::Known(other)) => options.equals(&**other),
            (Options::NotBuilt { .. }, Options::NotBuilt { .. }) => true,
            _ => false,
        };
        same_options && self.name == other.name && self.at == other.at
    }
}

/// What else uses the name of a built-in pack.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NameUse {
    /// Nothing.
    Free,
    /// One of the operator's own packs, which wins.
    LocalPack,
    /// A server or an API, which wins unless the configuration names the built-in pack.
    Source,
}

impl Default for PacksConfig {
    /// Returns the packs that need no configuration: those that do not access the operator's files or databases.
    fn default() -> Self {
        let empty = onetool_config::parse_text("", "/".as_ref(), &|_| None);
        let read = empty.and_then(|document| Self::read(&document.root()));
        read.unwrap_or(Self { packs: Vec::new() })
    }
}

impl PacksConfig {
    /// Returns the keys of all packs, whether or not this program was built with them.
    pub fn keys() -> impl Iterator<Item = &'static str> {
        KINDS.iter().map(|kind| kind.name)
    }

    /// Returns the JSON Schema of every key under `packs:`.
    pub fn schemas(generator: &mut SchemaGenerator) -> JsonObject {
        let schema = |name: &str, schema: schemars::Schema| (name.to_owned(), schema.to_value());
        KINDS.iter().map(|kind| schema(kind.name, (kind.schema)(generator))).collect()
    }

    /// Reads the section `packs:`.
    ///
    /// # Errors
    /// When an option is invalid, even in a disabled pack, so that a mistake does not appear only when it is enabled.
    pub fn read(packs: &Section<'_>) -> Result<Self, ConfigError> {
        let mut configured = Vec::new();
        for kind in &KINDS {
            let section = packs.field(kind.name);
            let at = section.is_present().then(|| section.location().clone());
            let options = match (kind.read)(&section, packs) {
                Ok(options) if options.is_enabled() => Options::Known(options),
                Ok(_) => continue,
                Err(ReadError::Invalid(error)) => return Err(error),
                Err(ReadError::NotBuilt { .. }) if at.is_none() => continue,
                Err(ReadError::NotBuilt { feature }) => Options::NotBuilt { feature },
            };
            configured.push(ConfiguredPack { name: kind.name, options, at });
        }
        Ok(Self { packs: configured })
    }

    /// Returns the values that must never be shown.
    pub fn secrets(&self) -> Vec<&Secret> {
        self.options().flat_map(|it| it.secrets()).collect()
    }

    /// Returns files that packs open, and that other tools may read but not change.
    pub fn used_files(&self) -> Vec<PathBuf> {
        self.options().flat_map(AnyOptions::used_files).collect()
    }

    /// Builds every pack. `name_use` returns what else uses its name.
    ///
    /// Returns the packs, and an error for each pack that the configuration names and that cannot be built.
    pub fn build(
        &self,
        context: &PackContext,
        name_use: impl Fn(&str) -> NameUse,
    ) -> (Vec<Pack>, Vec<PackError>) {
        let (mut packs, mut errors) = (Vec::new(), Vec::new());
        for pack in &self.packs {
            match pack.build(context, &name_use) {
                Ok(built) => packs.extend(built),
                Err(reason) => {
                    let path = pack.at.as_ref().map_or_else(PathBuf::new, |at| at.file.to_path_buf());
                    let line = pack.at.as_ref().and_then(|at| u32::try_from(at.line).ok());
                    errors.push(PackError::new(pack.name, path, line, reason));
                }
            }
        }
        (packs, errors)
    }

    /// Returns the part of the change to `new` that an agent may make, and the names of new packs, which wait.
    #[must_use]
    pub fn restrict(&self, new: &Self, pending: &mut PendingChanges) -> (Self, Vec<&'static str>) {
        let (mut packs, mut waiting) = (Vec::new(), Vec::new());
        for pack in &new.packs {
            let old = self.packs.iter().find(|it| it.name == pack.name);
            let options = match (old.map(|it| &it.options), &pack.options) {
                (Some(Options::Known(old)), Options::Known(new)) => {
                    Options::Known(old.restrict(&**new, pending))
                }
                (_, Options::NotBuilt { .. }) => pack.options.clone(),
                _ => {
                    pending.add(&format!("packs.{}", pack.name), "new");
                    waiting.push(pack.name);
                    continue;
                }
            };
            let is_enabled = match &options {
                Options::Known(options) => options.is_enabled(),
                Options::NotBuilt { .. } => true,
            };
            if is_enabled {
                packs.push(ConfiguredPack { name: pack.name, options, at: pack.at.clone() });
            }
        }
        (Self { packs }, waiting)
    }

    fn options(&self) -> impl Iterator<Item = &dyn AnyOptions> {
        self.packs.iter().filter_map(|pack| match &pack.options {
            Options::Known(options) => Some(&**options),
            Options::NotBuilt { .. } => None,
        })
    }
}

impl ConfiguredPack {
    /// Builds the pack; `None` if the configuration does not name it and something else uses its name.
    fn build(
        &self,
        context: &PackContext,
        name_use: &impl Fn(&str) -> NameUse,
    ) -> Result<Option<Pack>, String> {
        let options = match &self.options {
            Options::Known(options) => options,
            Options::NotBuilt { feature } => {
                return Err(format!("this onetool was built without it; enable the feature {feature}"));
            }
        };
        match name_use(self.name) {
            NameUse::LocalPack if self.at.is_some() => {
                return Err(format!("another pack is also named '{}' and wins; rename it", self.name));
            }
            NameUse::LocalPack => return Ok(None),
            NameUse::Source if self.at.is_none() => return Ok(None),
            NameUse::Source | NameUse::Free => {}
        }
        if let Some(root) = protected_root(&**options, &context.own_files) {
            return Err(format!(
                "the root {} is in onetool's own directory, which no tool can open; use a directory outside it (paths \
                 are relative to the file: '..' is the directory above .onetool)",
                root.display()
            ));
        }
        Ok(Some(options.build(context)))
    }
}

/// Returns a root of the pack that is protected, so that no tool could open anything in it.
fn protected_root(options: &dyn AnyOptions, own_files: &OwnFiles) -> Option<PathBuf> {
    let roots = options.roots();
    if roots.is_empty() {
        return None;
    }
    let protected = own_files.resolve();
    roots.into_iter().find(|root| File::open(root).is_ok_and(|it| protected.check(&it).is_err()))
}

#[cfg(all(test, feature = "_pack"))]
mod tests;
