//! Packs of tools that need no server of their own: Python files, and those that come with onetool.

#[cfg(any(feature = "pack-db", feature = "pack-file", feature = "pack-ripgrep"))]
mod blocking;
#[cfg(feature = "pack-brave")]
mod brave;
mod bundle;
#[cfg(feature = "pack-db")]
mod db;
#[cfg(feature = "pack-file")]
mod file;
#[cfg(feature = "pack-llm")]
mod llm;
#[cfg(feature = "_pack")]
mod make;
#[cfg(feature = "pack-package")]
mod package;
#[cfg(feature = "_run")]
pub(crate) mod python;
#[cfg(feature = "pack-ripgrep")]
mod ripgrep;
#[cfg(any(feature = "pack-file", feature = "pack-ripgrep"))]
mod roots;
#[cfg(any(feature = "pack-brave", feature = "pack-llm", feature = "pack-package"))]
mod service;
#[cfg(feature = "pack-web")]
mod web;

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use onetool_core::Tool;

use crate::catalog::ToolDocs;
use crate::config::PackFilesConfig;

pub(crate) use bundle::bundles;
#[cfg(feature = "pack-db")]
pub(crate) use db::{SQLITE_JOB, answer_sqlite, sqlite_directories};
#[cfg(feature = "pack-web")]
pub(crate) use web::{PAGE_JOB, read_page};

/// A pack that was read from a file.
pub(crate) struct Pack {
    pub(crate) name: String,
    pub(crate) path: PathBuf,
    /// What the file says of itself.
    pub(crate) description: Option<String>,
    pub(crate) tools: Vec<Arc<dyn Tool>>,
    /// What is known of the tools beyond what they say themselves, by name.
    pub(crate) docs: Vec<(String, ToolDocs)>,
}

/// A file that is no pack.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub struct PackError {
    /// The pack, as far as it is known.
    pub name: String,
    /// The file, or the pattern that should lead to one.
    pub path: PathBuf,
    /// The line, counted from 1, where it is about one.
    pub line: Option<u32>,
    /// What is wrong.
    pub reason: String,
}

impl PackError {
    pub(crate) fn new(path: PathBuf, line: Option<u32>, reason: String) -> Self {
        Self { name: stem(&path), path, line, reason }
    }
}

impl fmt::Display for PackError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.path.display())?;
        if let Some(line) = self.line {
            write!(f, ":{line}")?;
        }
        write!(f, ": {}", self.reason)
    }
}

/// Returns the files that the configuration names, in the order of its patterns and then of their names, each once.
/// A pattern without `*` has to lead to one.
pub(crate) fn files(patterns: &[PackFilesConfig]) -> Vec<Result<PathBuf, PackError>> {
    let mut files: Vec<Result<PathBuf, PackError>> = Vec::new();
    for file in patterns.iter().flat_map(|it| matching(&it.pattern)) {
        if !files.contains(&file) {
            files.push(file);
        }
    }
    files
}

fn matching(pattern: &Path) -> Vec<Result<PathBuf, PackError>> {
    let failed = |reason: String| vec![Err(PackError::new(pattern.to_owned(), None, reason))];
    let Some(text) = pattern.to_str() else { return failed("the path is no text".into()) };
    if !text.contains(['*', '?', '[']) {
        return if pattern.is_file() {
            vec![Ok(pattern.to_owned())]
        } else {
            failed("there is no such file".into())
        };
    }
    match glob::glob(text) {
        Ok(found) => {
            let mut paths: Vec<PathBuf> = found.filter_map(Result::ok).filter(|it| it.is_file()).collect();
            paths.sort();
            paths.into_iter().map(Ok).collect()
        }
        Err(error) => failed(format!("the pattern is wrong: {error}")),
    }
}

/// Returns the name of a file without its ending.
pub(crate) fn stem(path: &Path) -> String {
    path.file_stem().map_or_else(String::new, |stem| stem.to_string_lossy().into_owned())
}
