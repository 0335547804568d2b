//! `secrets.yaml`: values of variables that are kept out of the main file.

use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::sync::Arc;

use indexmap::IndexMap;

use crate::error::ConfigError;
use crate::include::read_text;
use crate::loaded::LoadedFile;
use crate::parse::{Budget, parse};
use crate::section::Section;
use crate::tree::{Entry, Kind};

/// Reads a flat map of names to values; empty if there is no file. Warns if other users can read the file.
pub(crate) fn read_secrets(
    path: &Path,
    warnings: &mut Vec<String>,
    files: &mut Vec<LoadedFile>,
) -> Result<IndexMap<String, String>, ConfigError> {
    if !path.exists() {
        return Ok(IndexMap::new());
    }
    let text = read_text(path, None)?;
    files.push(LoadedFile::new(path, text.as_bytes()));
    if is_open_to_others(path) {
        warnings.push(format!("others can read your secrets: chmod 600 {}", path.display()));
    }
    let tree = parse(&text, &Arc::from(path), &mut Budget::default())?;
    let root = Section::root(&tree);
    let Kind::Map(entries) = &tree.kind else {
        let message = "secrets.yaml must be a map of names to values".into();
        return Err(ConfigError::Syntax { message, hint: None, at: tree.at.clone() });
    };
    let secret = |(name, entry): (&String, &Entry)| match &entry.value.kind {
        Kind::Scalar(_) if entry.value.is_null() => Ok((name.clone(), String::new())),
        Kind::Scalar(scalar) => Ok((name.clone(), scalar.text.clone())),
        _ => Err(root.field(name).invalid("a secret must be a single value, not a list or a map")),
    };
    entries.iter().map(secret).collect()
}

fn is_open_to_others(path: &Path) -> bool {
    path.metadata().is_ok_and(|it| it.permissions().mode() & 0o077 != 0)
}
