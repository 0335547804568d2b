//! Configuration files: YAML with line numbers, includes, variables and secrets, read into typed sections.
//!
//! This crate knows the format, not the keys. [`read`] turns a path into a [`Document`]; [`Section`] walks its keys
//! and deserializes the values, and every error has a file, a line and the path of the key. Each component of onetool
//! declares its own options with serde and schemars, using the types in this crate for values with rules:
//! [`Seconds`], [`AtLeast`], [`FilePath`], [`HttpUrl`], [`NonEmpty`] and [`Secret`].
//!
//! Text → tree with lines (`parse`, `tree`) → merged includes (`include`) → expanded `${…}` (`expand`, `secrets_file`)
//! → typed values (`section`, `de`, `value`).

mod de;
mod document;
mod error;
mod expand;
mod include;
mod loaded;
mod parse;
mod pattern;
mod pending;
mod secrets_file;
mod section;
mod template;
mod tree;
mod value;

pub use document::{Document, SECRETS_FILE, parse_text, read, read_as_written};
pub use error::ConfigError;
pub use loaded::{FileDigest, LoadedFile};
pub use onetool_core::{Redactor, Secret};
pub use pattern::matching_files;
pub use pending::PendingChanges;
pub use section::Section;
pub use template::{TemplateNames, is_template};
pub use tree::Location;
pub use value::{AtLeast, FilePath, HttpUrl, NonEmpty, Seconds};

#[cfg(test)]
mod tests;
