//! The text files of the workspace that the checks read.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use xtask::cargo::root;

/// A text file with its path from the root, separated by `/`.
pub(crate) struct File {
    pub(crate) path: String,
    pub(crate) text: String,
}

impl File {
    pub(crate) fn has_extension(&self, extension: &str) -> bool {
        has_extension(&self.path, extension)
    }
}

/// Reads every source, manifest and page of the workspace.
pub(crate) fn read_all() -> Result<Vec<File>> {
    let mut files = Vec::new();
    collect(root(), "", &mut files)?;
    files.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(files)
}

fn collect(directory: &Path, prefix: &str, files: &mut Vec<File>) -> Result<()> {
    let entries = fs::read_dir(directory).with_context(|| format!("cannot list {}", directory.display()))?;
    for entry in entries {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        let path = format!("{prefix}{name}");
        let kind = entry.file_type()?;
        if kind.is_dir() {
            if is_read_directory(&path, &name) {
                collect(&entry.path(), &format!("{path}/"), files)?;
            }
        } else if kind.is_file() && is_read(&path) {
            let text = fs::read_to_string(entry.path()).with_context(|| format!("cannot read {path}"))?;
            files.push(File { path, text });
        }
    }
    Ok(())
}

fn is_read_directory(path: &str, name: &str) -> bool {
    path == ".config" || !name.starts_with('.') && !["target", "node_modules", "corpus"].contains(&name)
}

fn is_read(path: &str) -> bool {
    ["rs", "md", "js", "css", "svg"].iter().any(|extension| has_extension(path, extension))
        || path.ends_with("Cargo.toml")
        || path == ".config/nextest.toml"
        || path == "docs/requirements-pending.txt"
}

fn has_extension(path: &str, extension: &str) -> bool {
    Path::new(path).extension().is_some_and(|found| found == extension)
}
