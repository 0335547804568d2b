//! A configuration that was read from its files, and the functions that read one.

use std::path::{Path, absolute};
use std::sync::Arc;

use indexmap::IndexMap;
use onetool_core::Redactor;

use crate::error::ConfigError;
use crate::expand::Variables;
use crate::include::read_tree;
use crate::loaded::LoadedFile;
use crate::parse::{Budget, parse};
use crate::secrets_file::read_secrets;
use crate::section::Section;
use crate::tree::Node;

/// The name of the file next to the main one that contains the values of variables.
pub const SECRETS_FILE: &str = "secrets.yaml";

/// A configuration that was read from its files. Its keys have no meaning yet.
#[derive(Debug)]
pub struct Document {
    /// Every file: the main one, its includes and the secrets.
    pub files: Vec<LoadedFile>,
    /// Removes the values of variables from messages.
    pub redactor: Redactor,
    /// Problems that do not prevent loading.
    pub warnings: Vec<String>,
    tree: Node,
}

impl Document {
    /// Returns the section of all top-level keys.
    pub fn root(&self) -> Section<'_> {
        Section::root(&self.tree)
    }
}

/// Reads the configuration at `path` with its includes and expands its variables.
///
/// Variables come from `secrets.yaml` next to the file, then from `env`. A relative path is relative to the working
/// directory.
///
/// # Errors
/// At the first problem, with its file and line.
pub fn read(path: &Path, env: &dyn Fn(&str) -> Option<String>) -> Result<Document, ConfigError> {
    let (mut document, secrets) = read_files(path)?;
    let mut variables = Variables::new(secrets, env);
    variables.expand(&mut document.tree, "")?;
    document.redactor = Redactor::new(variables.into_values());
    Ok(document)
}

/// Reads the configuration at `path` and returns it in two forms: as written, and with variables expanded.
///
/// Use this to show what a configuration would do before the operator trusts it. An unset variable without a default
/// stays `${NAME}`.
///
/// # Errors
/// When a file cannot be read or is not YAML.
pub fn read_as_written(
    path: &Path,
    env: &dyn Fn(&str) -> Option<String>,
) -> Result<(Document, Document), ConfigError> {
    let (written, secrets) = read_files(path)?;
    let mut expanded = Document::new(written.tree.clone());
    Variables::new(secrets, env).keep_unset().expand(&mut expanded.tree, "")?;
    Ok((written, expanded))
}

/// Parses `text` as if it were a configuration file at `path`. It cannot include other files, and there is no
/// `secrets.yaml`.
///
/// # Errors
/// At the first problem, with its line.
///
/// ```
/// # fn main() -> Result<(), onetool_config::ConfigError> {
/// let env = |name: &str| (name == "NAME").then(|| "Ada".to_owned());
/// let document = onetool_config::parse_text("greeting: Hello ${NAME}", "/onetool.yaml".as_ref(), &env)?;
/// let greeting: String = document.root().field("greeting").read()?;
/// assert_eq!(greeting, "Hello Ada");
/// # Ok(())
/// # }
/// ```
pub fn parse_text(
    text: &str,
    path: &Path,
    env: &dyn Fn(&str) -> Option<String>,
) -> Result<Document, ConfigError> {
    let mut document = Document::new(parse(text, &Arc::from(path), &mut Budget::default())?);
    Variables::new(IndexMap::new(), env).expand(&mut document.tree, "")?;
    Ok(document)
}

impl Document {
    fn new(tree: Node) -> Self {
        Self { files: Vec::new(), redactor: Redactor::default(), warnings: Vec::new(), tree }
    }
}

fn read_files(path: &Path) -> Result<(Document, IndexMap<String, String>), ConfigError> {
    let path =
        absolute(path).map_err(|source| ConfigError::Read { path: path.to_owned(), at: None, source })?;
    let (tree, files) = read_tree(&path)?;
    let mut document = Document { files, ..Document::new(tree) };
    let secrets_file = path.with_file_name(SECRETS_FILE);
    let secrets = read_secrets(&secrets_file, &mut document.warnings, &mut document.files)?;
    Ok((document, secrets))
}
